"""The command, running on a class, and what it started: to be killed by tests, and checked."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from autograder.results import SubmissionResult
from tests.sources import RIGHT, WRONG

STUDENTS = {f"s{n:02}": {"layer_norm.py": WRONG if n % 4 == 0 else RIGHT} for n in range(1, 13)}
FULL = 14

# How long anything may take that is waited for; reaching it is a failure, never a measure.
PATIENCE_S = 180.0


def until(found: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not found():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.002)


class Command:
    """`autograder grade`, running."""

    def __init__(self, batch: Path, out: Path, root: Path, *more: str) -> None:
        self.out = out
        self._said = out.parent / "said.txt"
        command = [sys.executable, "-m", "autograder", "grade", str(batch), "--out", str(out)]
        command += ["--assignment", "norm", "--root", str(root), *more]
        with self._said.open("w") as said:
            self.process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def done(self) -> int:
        """How many submissions this run has reported."""
        return sum("/" in line.split(" ")[0] for line in self.said().splitlines())

    def said(self) -> str:
        return self._said.read_text()

    def wait(self) -> int:
        return self.process.wait(timeout=PATIENCE_S)


def stat_of(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def offspring(pid: int) -> list[int]:
    """The process ids of all children that are alive."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        fields = stat_of(int(entry.name))
        if fields and fields[0] != "Z" and int(fields[1]) == pid:
            found.append(int(entry.name))
    return found


def descendants(pid: int) -> list[int]:
    children = offspring(pid)
    return children + [other for child in children for other in descendants(child)]


def says(pid: int, word: str) -> bool:
    try:
        return word in Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return False


def workers(command: Command) -> list[int]:
    return [pid for pid in offspring(command.process.pid) if says(pid, "autograder.judge.worker")]


def judges(command: Command) -> list[int]:
    forks = [pid for worker in workers(command) for pid in offspring(worker)]
    return [pid for pid in forks if says(pid, "autograder.judge.worker")]


def fork_servers(command: Command) -> list[int]:
    """The fork servers, and around each the processes of bubblewrap where it is used."""
    found = []
    for worker in workers(command):
        inside = [pid for pid in offspring(worker) if says(pid, "autograder.sandbox.server")]
        while inside:
            found += inside
            if not says(inside[0], "bwrap"):
                break
            inside = offspring(inside[0])
    return found


def children(command: Command) -> list[int]:
    """The children that hold student code: what the fork servers themselves have forked."""
    inner = [pid for pid in fork_servers(command) if not says(pid, "bwrap")]
    return [pid for server in inner for pid in offspring(server)]


def kill_some(
    command: Command, victims: Callable[[Command], list[int]], seed: int, times: int = 2
) -> int:
    """Kill so often, each time after some results and at some moment after them."""
    chance = random.Random(seed)
    killed = 0
    for after in sorted(chance.sample(range(1, 9), times)):
        until(lambda after=after: command.done() >= after or not command.running, "results")
        for _ in range(chance.randrange(12)):
            time.sleep(0.003)
        while command.running:
            found = victims(command)
            if found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(chance.choice(found), signal.SIGKILL)
                    killed += 1
                    break
    return killed


def read_all(out: Path) -> dict[str, SubmissionResult]:
    """Every result; each must be whole."""
    found = {}
    for path in (out / "results").glob("*.json"):
        result = SubmissionResult.model_validate_json(path.read_bytes())
        assert result.submission == path.stem
        found[path.stem] = result
    return found


def stamps(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (out / "results").glob("*.json")}


def marks(result: SubmissionResult) -> object:
    """What of a result must be the same however often it is made."""
    skipped = {"duration_s", "graded", "path", "sandbox"}
    found = json.loads(result.model_dump_json(exclude=skipped | {"submission"}))
    for component in found["components"].values():
        del component["usage"]
    return found


def check_marks(out: Path, graded: set[str] | None = None) -> None:
    found = read_all(out)
    assert set(found) == (set(STUDENTS) if graded is None else graded)
    wrong = [marks(result) for student, result in found.items() if is_wrong(student)]
    assert all(one == wrong[0] for one in wrong)
    for student, result in found.items():
        assert result.status == "graded", result.message
        if is_wrong(student):
            assert 0 < result.score < FULL
            assert result.components["layer_norm"].status == "graded"
            continue
        assert result.score == FULL
        assert all(c.outcome == "passed" for c in result.components["layer_norm"].criteria)


def is_wrong(student: str) -> bool:
    return STUDENTS[student]["layer_norm.py"] == WRONG


def check_tidy(out: Path) -> None:
    names = {path.name for path in out.iterdir()}
    assert names == {".grading", "report", "results", "results.csv"}
    assert {path.name for path in (out / "results").iterdir()} == {f"{s}.json" for s in STUDENTS}


def alive(pid: int) -> bool:
    fields = stat_of(pid)
    return bool(fields) and fields[0] not in "ZX"
