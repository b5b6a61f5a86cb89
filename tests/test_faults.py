"""Processes killed from outside, full disks, damaged results: nothing is lost, a rerun repairs."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder import batch as batches
from autograder import results
from autograder.assignment import load_assignment
from autograder.batch import Batch
from autograder.conversation import WorkerLost
from autograder.entries import Entry
from autograder.errors import UsageError
from autograder.results import SubmissionResult
from tests.conftest import ROOT

RIGHT = (ROOT / "reference" / "transformer_block" / "layer_norm.py").read_text()
WRONG = RIGHT.replace(".square().mean(dim=-1, keepdim=True)", ".abs().mean(dim=-1, keepdim=True)")
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


@pytest.fixture
def command(small_project: Path, write_class, tmp_path: Path) -> Iterator[Callable[..., Command]]:
    """Start the command on the class; whatever is left of it ends with the test."""
    batch = write_class(STUDENTS)
    started: list[Command] = []

    def start(*more: str, out: Path = tmp_path / "out") -> Command:
        started.append(Command(batch, out, small_project, *more))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


def stat_of(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
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
    return [pid for pid in offspring(command.process.pid) if says(pid, "autograder.worker")]


def judges(command: Command) -> list[int]:
    forks = [pid for worker in workers(command) for pid in offspring(worker)]
    return [pid for pid in forks if says(pid, "autograder.worker")]


def zygotes(command: Command) -> list[int]:
    """The zygotes, and around each the processes of bubblewrap where it is used."""
    found = []
    for worker in workers(command):
        inside = [pid for pid in offspring(worker) if says(pid, "autograder.sandbox.zygote")]
        while inside:
            found += inside
            if not says(inside[0], "bwrap"):
                break
            inside = offspring(inside[0])
    return found


def children(command: Command) -> list[int]:
    """The children that hold student code: what the zygotes themselves have forked."""
    inner = [pid for pid in zygotes(command) if not says(pid, "bwrap")]
    return [pid for zygote in inner for pid in offspring(zygote)]


def kill_some(command: Command, victims: Callable[[Command], list[int]], seed: int) -> int:
    """Kill twice, each time after some results and at some moment after them."""
    chance = random.Random(seed)
    killed = 0
    for after in sorted(chance.sample(range(1, 9), 2)):
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
    return json.loads(result.model_dump_json(exclude=skipped | {"submission"}))


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
    assert names == {"results", "results.csv"}
    assert {path.name for path in (out / "results").iterdir()} == {f"{s}.json" for s in STUDENTS}


@pytest.mark.parametrize("victims", [zygotes, workers, judges])
def test_a_kill_costs_nobody_anything(command, victims, tmp_path) -> None:
    """The submission that was under way is graded once more, by a new worker."""
    # Side by side for the workers, where the other goes on; the rest is quicker with one.
    run = command("--jobs", "2" if victims is workers else "1")
    assert kill_some(run, victims, seed=len(victims.__name__)) == 2
    status = run.wait()
    if status != 0:
        # A new worker that is killed during its start refuses, and the rerun goes on from there.
        assert (status, victims) == (2, workers), run.said()
        assert "Traceback" not in run.said()
        done = [s for s, result in read_all(run.out).items() if result.status == "graded"]
        before = stamps(run.out)
        rerun = command("--jobs", "1")
        assert rerun.wait() == 0, rerun.said()
        after = stamps(run.out)
        assert all(after[f"{student}.json"] == before[f"{student}.json"] for student in done)
    check_marks(run.out)
    check_tidy(run.out)


def test_a_killed_child_is_a_crash_of_its_submission_and_no_other(command) -> None:
    """From outside, student code that died and student code that was killed look the same."""
    run = command("--jobs", "1")
    killed = kill_some(run, children, seed=5)
    assert killed == 2
    assert run.wait() == 0, run.said()
    found = read_all(run.out)
    assert set(found) == set(STUDENTS)
    hit = set()
    for student, result in found.items():
        assert result.status == "graded"
        part = result.components["layer_norm"]
        crashed = [c for c in part.criteria if c.outcome == "crashed"]
        if crashed:
            hit.add(student)
            assert all("SIGKILL" in c.message for c in crashed)
            # Every death costs one criterion; the rest are asked of a new child.
            assert part.status in ("graded", "crashed")
        elif not is_wrong(student):
            assert result.score == FULL
    assert len(hit) <= killed
    # To have it graded once more is to remove its result; the others' are kept.
    for student in hit:
        (run.out / "results" / f"{student}.json").unlink()
    before = stamps(run.out)
    again = command("--jobs", "1")
    assert again.wait() == 0, again.said()
    assert {name: stamps(run.out)[name] for name in before} == before
    check_marks(run.out)
    check_tidy(run.out)


def test_a_killed_batch_goes_on_where_it_stopped(command) -> None:
    chance = random.Random(11)
    kept: dict[str, int] = {}
    for enough in (1, 6):
        run = command("--jobs", "2")
        until(lambda run=run, n=enough: run.done() >= n or not run.running, "results")
        for _ in range(chance.randrange(12)):
            time.sleep(0.003)
        left = descendants(run.process.pid)
        run.process.kill()
        run.process.wait()
        # The command alone was killed: what it started must end of itself.
        until(lambda left=left: not any(map(alive, left)), "the end of the workers")
        now = stamps(run.out)
        assert {name: now.get(name) for name in kept} == kept
        assert len(now) >= enough
        check_marks(run.out, {name.removesuffix(".json") for name in now})
        kept = now
    # As if the last kill had come in the middle of a write.
    for folder in (run.out, run.out / "results"):
        (folder / f".{run.process.pid}.0123.tmp").write_text('{"schema": 1, "sub')
    run = command("--jobs", "2")
    assert run.wait() == 0, run.said()
    after = stamps(run.out)
    assert {name: after[name] for name in kept} == kept
    check_marks(run.out)
    check_tidy(run.out)


def alive(pid: int) -> bool:
    fields = stat_of(pid)
    return bool(fields) and fields[0] not in "ZX"


def test_a_worker_killed_before_it_is_ready_is_one_sentence(command) -> None:
    run = command("--jobs", "1")
    until(lambda: bool(workers(run)) or not run.running, "a worker")
    os.kill(workers(run)[0], signal.SIGKILL)
    assert run.wait() == 2
    assert "autograder: the grader cannot start: a worker ended with status -9" in run.said()
    assert "Traceback" not in run.said()
    assert read_all(run.out) == {}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own that holds a few results and no more."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=48k", "none", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"A FULL DISK CANNOT BE TESTED HERE: {error}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_and_damaged_results(command, small_disk) -> None:
    out = small_disk / "out"
    run = command("--jobs", "1", out=out)
    assert run.wait() == 2, run.said()
    assert "cannot be written (No space left on device): make room for it and run" in run.said()
    assert "Traceback" not in run.said()
    done = read_all(out)
    assert 0 < len(done) < len(STUDENTS)
    assert all(path.suffix == ".json" for path in (out / "results").iterdir())
    check_marks(out, set(done))
    kept = stamps(out)
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    student = min(done)
    (out / "results" / f"{student}.json").write_bytes(done[student].model_dump_json().encode()[:99])
    del kept[f"{student}.json"]
    run = command("--jobs", "1", out=out)
    assert run.wait() == 0, run.said()
    assert {name: stamps(out)[name] for name in kept} == kept
    check_marks(out)
    check_tidy(out)


class Stub:
    """Stands in for a worker: it grades everything with full marks, or always fails."""

    alive = 0
    most = 0
    fault = ""

    def __init__(self, *arguments: object) -> None:
        self.usable, self.sandbox, self.open = True, "none", True
        Stub.alive += 1
        Stub.most = max(Stub.most, Stub.alive)

    def wait(self) -> None:
        pass

    def ask(self, job: dict) -> dict:
        if Stub.fault == "lost":
            self.usable = False
            raise WorkerLost("a worker ended with status -9")
        if Stub.fault:
            return {"fault": Stub.fault}
        graded = {"submission_hash": "1", "suite_hash": "2", "seed": 3, "versions": {}}
        if job["known"] == graded:
            return {"unchanged": True}
        result = {"submission": job["id"], "assignment": "norm", "status": "graded"}
        result |= {"score": 14, "max_score": 14, "sandbox": "none", "graded": graded}
        return result

    def close(self) -> None:
        Stub.alive -= self.open
        self.open = False


@pytest.fixture
def grade(small_project: Path, tmp_path: Path, monkeypatch) -> Callable[..., list]:
    """Grade with stubs for workers; return the results, each with whether it was kept."""
    assignment = load_assignment(small_project, "norm")
    out = tmp_path / "out"
    (out / "results").mkdir(parents=True)
    monkeypatch.setattr(batches, "Worker", Stub)
    for name, value in {"alive": 0, "most": 0, "fault": ""}.items():
        monkeypatch.setattr(Stub, name, value)

    def run(*students: str) -> list[tuple[SubmissionResult, bool]]:
        found: list[tuple[SubmissionResult, bool]] = []
        batch = Batch(assignment, out, "none", 2, resume=True)
        try:
            batch.start()
            entries = [Entry(student, tmp_path / student) for student in students]
            batch.run(entries, lambda *result: found.append(result))
        finally:
            batch.close()
        return found

    return run


@pytest.mark.parametrize("fault", ["lost", "the sandbox stopped"])
def test_faults_leave_no_workers_about(grade, fault: str, monkeypatch) -> None:
    monkeypatch.setattr(Stub, "fault", fault)
    found = grade(*(f"s{number}" for number in range(20)))
    assert {(result.status, result.score) for result, _ in found} == {("error", None)}
    assert Stub.most <= 2
    assert Stub.alive == 0


WHOLE = b'{"schema": 1, "submission": "s01", "assignment": "norm", "status": "graded", "score": 9'
DAMAGES = {
    "empty": b"",
    "truncated": WHOLE,
    "zeros": bytes(4096),
    "no-utf-8": b"\xff\xfe\x00\x00",
    "deep": b"[" * 100_000,
    "other-types": WHOLE + b', "max_score": [], "sandbox": 7}',
    "future-schema": WHOLE.replace(b"1", b"2", 1) + b', "max_score": 14, "sandbox": "none"}',
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_result_is_made_anew(grade, tmp_path, damage: bytes) -> None:
    grade("s01", "s02")
    place = tmp_path / "out" / "results" / "s01.json"
    whole = json.loads(place.read_text())
    place.write_bytes(damage)
    assert {r.submission: kept for r, kept in grade("s01", "s02")} == {"s01": False, "s02": True}
    assert json.loads(place.read_text()) == whole


def test_the_result_of_another_is_none(grade, tmp_path) -> None:
    grade("s01", "s02")
    folder = tmp_path / "out" / "results"
    (folder / "s02.json").write_bytes((folder / "s01.json").read_bytes())
    assert {r.submission: kept for r, kept in grade("s01", "s02")} == {"s01": True, "s02": False}
    assert json.loads((folder / "s02.json").read_text())["submission"] == "s02"


def test_a_result_that_cannot_be_read_is_made_anew(grade, tmp_path, monkeypatch) -> None:
    grade("s01")
    whole = Path.read_bytes

    def denied(path: Path) -> bytes:
        if path.name == "s01.json":
            raise PermissionError(13, "Permission denied")
        return whole(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", denied)
        [(result, kept)] = grade("s01")
    assert (result.score, kept) == (FULL, False)
    [(_, kept)] = grade("s01")
    assert kept


def test_a_folder_in_the_place_of_a_result_is_named(grade, tmp_path) -> None:
    place = tmp_path / "out" / "results" / "s02.json"
    place.mkdir()
    (place / "precious").write_text("")
    with pytest.raises(UsageError, match=r"s02\.json cannot be written \(Is a directory\): make"):
        grade("s01", "s02", "s03")
    assert (place / "precious").exists()
    assert not list(place.parent.glob(".*"))
    done = {path.stem for path in place.parent.glob("*.json")} - {"s02"}
    place.rename(tmp_path / "aside")
    kept = {result.submission: kept for result, kept in grade("s01", "s02", "s03")}
    assert {student for student, old in kept.items() if old} == done


def test_a_table_that_cannot_be_written_is_named(tmp_path) -> None:
    (tmp_path / "results.csv").mkdir()
    with pytest.raises(UsageError, match=r"results\.csv cannot be written \(Is a directory\)"):
        results.write_table(tmp_path, [], [])
    assert [path.name for path in tmp_path.iterdir()] == ["results.csv"]


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_a_failing_disk_leaves_the_old_result(grade, tmp_path, monkeypatch, step: str) -> None:
    grade("s01")
    place = tmp_path / "out" / "results" / "s01.json"
    before = place.read_bytes()
    result = results.read(tmp_path / "out", "s01")
    assert result is not None

    def fail(*arguments: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(step, fail)
        with pytest.raises(OSError, match="Input/output error"):
            results.write(tmp_path / "out", result.model_copy(update={"score": 0.0}))
    assert place.read_bytes() == before
    assert [path.name for path in place.parent.iterdir()] == ["s01.json"]


def test_what_another_run_is_writing_is_left_alone(grade, tmp_path) -> None:
    folder = tmp_path / "out" / "results"
    other = subprocess.Popen(["sleep", "60"])
    try:
        theirs = folder / f".{other.pid}.ab.tmp"
        old = [folder / f".{os.getpid()}.ab.tmp", folder.parent / f".{os.getpid()}.tmp"]
        for path in [theirs, *old, folder / ".notes.tmp"]:
            path.write_text("")
        grade("s01")
        assert {path.name for path in folder.iterdir()} == {theirs.name, ".notes.tmp", "s01.json"}
        assert not old[1].exists()
    finally:
        other.kill()
        other.wait()
    grade("s01")
    assert not theirs.exists()


def test_results_where_no_folder_can_be_is_one_sentence(
    autograder, small_project, write_class, tmp_path
) -> None:
    batch = write_class({"s01": {"layer_norm.py": RIGHT}})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results").symlink_to(tmp_path / "nowhere")
    arguments = ("--assignment", "norm", "--root", small_project, "--out", tmp_path / "out")
    done = autograder("grade", batch, *arguments)
    assert done.returncode == 2
    assert "cannot hold results (File exists): give a folder you can write to" in " ".join(
        done.stderr.split()
    )
    assert not (tmp_path / "nowhere").exists()
