"""A large class on a cluster whose workers and whose command are killed: nothing may be lost.

    python -m tests.benchmarks.big_cluster [--submissions N] [--distinct N] [--seed N]
        [--assignment NAME] [--workers N] [--every SECONDS] [--keep FOLDER]

Grades every different submission once on this machine alone; then the class (big_class.py) on a
Dask scheduler with workers on this machine, of which one is killed every so often, and the command
twice. Ends with 1 where a submission has not exactly one result and one row, a mark is not that of
one machine (but of hostile threads that race there, too), what was done before a kill is done
again, or memory grows with the class.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.big_class import Work, counted, made, options, project_of, write
from tests.benchmarks.oracle import differences, facts
from tests.e2e.clusters import Cluster, cluster, hosts
from tests.grading.processes import stamps

ROOT = Path(__file__).resolve().parents[2]
# The moments at which the command is killed, as shares of the class.
_KILLED_AT = ((0.2, 0.4), (0.55, 0.75))
# What a process may grow by, in MB: once, and for each thousand submissions. The command keeps a
# light result of each until it writes the table.
_ONCE_MB, _CLIENT_MB, _SCHEDULER_MB = 40, 12, 2
_MOST_RUNS = 8
# How often hostile work that came to another mark is graded once more on one machine.
_AGAIN = 60


def rss(pid: int) -> float:
    """Resident memory of a process in MB; 0 where it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in text.splitlines() if "VmRSS" in line) / 1024


class Class:
    """A class that is graded, and what was seen while it was."""

    def __init__(self, chosen: argparse.Namespace, folder: Path) -> None:
        self.assignment, self.students = made(chosen)
        self.chosen = chosen
        self.folder = folder
        self.out = folder / "out"
        self.chance = random.Random(f"kills {chosen.seed}")
        self.faults: list[str] = []
        # Submissions done, the command's and the scheduler's memory, by the number of the run.
        self.seen: dict[int, list[tuple[int, float, float]]] = {}
        self.workers_killed = 0

    def command(self, batch: Path, out: Path, *more: str) -> list[str]:
        """Return the command that grades a folder."""
        words = [sys.executable, "-m", "autograder", "grade", str(batch), "--out", str(out)]
        words += ["--assignment", self.assignment.name]
        return [*words, "--root", str(project_of(self.assignment.name)), *more]

    def done(self) -> int:
        """How many results there are."""
        folder = self.out / "results"
        return sum(n.endswith(".json") for n in os.listdir(folder)) if folder.is_dir() else 0

    def alone(self) -> dict[str, Path]:
        """Grade each different submission once on this machine; return its result by student."""
        first: dict[int, str] = {}
        for student, work in self.students.items():
            first.setdefault(id(work), student)
        different = {name: self.students[name] for name in first.values()}
        write(different, self.folder / "different")
        out = self.folder / "alone"
        start = time.monotonic()
        self._here(self.folder / "different", out)
        spent = time.monotonic() - start
        print(f"one machine: {len(different)} different submissions in {spent:.0f} s")
        return {
            student: out / "results" / f"{first[id(work)]}.json"
            for student, work in self.students.items()
        }

    def _here(self, batch: Path, out: Path) -> None:
        """Grade a folder on this machine alone."""
        # Nobody is killed: ended with 1 only by what the grader is at fault for.
        subprocess.run(self.command(batch, out), stdout=subprocess.DEVNULL, check=True)

    def graded(self, dask: Cluster) -> None:
        """Grade the class, killing; again, as one would, until a run ends with a mark for all.

        One that ends with 1 has errors, of those whose worker was killed twice; one that ends with
        2 has lost its scheduler, which a machine that is too busy can bring about.
        """
        nannies = [dask.worker(nanny=True).pid for _ in range(self.chosen.workers)]
        count = len(self.students)
        deaths = [int(count * self.chance.uniform(*share)) for share in _KILLED_AT]
        for run in range(1, _MOST_RUNS + 1):
            death = deaths.pop(0) if deaths else None
            before = self._kept()
            status = self._run(run, dask, nannies, death)
            self._check_kept(before)
            print(f"run {run}: {'killed' if status < 0 else f'ended with {status}'}", end="; ")
            print(f"{self.done()} results after it")
            if status == 0:
                break
        if status != 0:
            self.faults.append(f"the last run ended with {status}")

    def _run(self, run: int, dask: Cluster, nannies: list[int], death: int | None) -> int:
        """Run the command, to its end or to `death` submissions; return how it ended."""
        words = self.command(self.folder / "batch", self.out, "--cluster", dask.address)
        with (self.folder / f"said-{run}.txt").open("wb") as said:
            process = subprocess.Popen(words, stdout=said, stderr=said)
        begun_with = self.done()
        kill_at = time.monotonic() + self.chosen.every
        tenth = max(1, len(self.students) // 10)
        seen = self.seen.setdefault(run, [])
        while True:
            try:
                return process.wait(timeout=0.5)
            except subprocess.TimeoutExpired:
                pass
            done, memory = self.done(), rss(process.pid)
            # Not before it has graded anything: starting is no growth.
            if done > begun_with and (not seen or done // tenth > seen[-1][0] // tenth):
                seen.append((done, memory, rss(dask.processes[0].pid)))
            if death is not None and done >= death:
                process.kill()
                return process.wait()
            if time.monotonic() >= kill_at:
                kill_at += self.chosen.every
                self._kill(nannies)

    def _kill(self, nannies: list[int]) -> None:
        """Kill the process of one Dask worker; its nanny starts it anew."""
        victims = sorted(host for nanny in nannies for host in hosts(nanny) if host != nanny)
        if victims:
            os.kill(self.chance.choice(victims), signal.SIGKILL)
            self.workers_killed += 1

    def _results(self) -> dict[str, dict[str, Any]]:
        return {p.stem: json.loads(p.read_bytes()) for p in (self.out / "results").glob("*.json")}

    def _kept(self) -> dict[str, int]:
        """When the results were written that no other run may write again.

        What was rejected or lost is looked at again.
        """
        found, written = self._results(), stamps(self.out)
        return {name: written[f"{name}.json"] for name in found if found[name]["graded"]}

    def _check_kept(self, before: Mapping[str, int]) -> None:
        after = self._kept()
        for name in [name for name in before if after.get(name) != before[name]]:
            self.faults.append(f"{name} was graded twice, or is gone")

    def check(self, alone: Mapping[str, Path]) -> None:
        """See that everybody has one result, one row and the mark of one machine."""
        found = self._results()
        names = {path.name for path in (self.out / "results").iterdir()}
        if not (self.out / "results.csv").is_file():
            self.faults.append("there is no table")
            return
        with (self.out / "results.csv").open(newline="") as file:
            rows = Counter(row["submission"] for row in csv.DictReader(file))
        for label, there in (
            ("results", Counter(Path(name).stem for name in names)),
            ("rows", rows),
        ):
            wrong = {n: there[n] for n in there.keys() | self.students if there[n] != 1}
            strange = there.keys() - self.students.keys()
            if wrong or strange:
                self.faults.append(f"{label}: {sorted(wrong)[:5]} {sorted(strange)[:5]}")
        reworded = 0
        other_marks: dict[int, list[tuple[str, str]]] = {}
        right = {path: json.loads(path.read_bytes()) for path in set(alone.values())}
        for student, result in found.items():
            expected = right.get(alone[student]) if student in alone else None
            if expected is None or result["submission"] != student:
                self.faults.append(f"{student} has the result of another")
                continue
            apart = differences(student, expected, result)
            marks = [str(difference) for difference in apart if difference.kind != "word"]
            if marks:
                other_marks.setdefault(id(self.students[student]), []).append((student, marks[0]))
            reworded += bool(apart)
        print(f"marks: {len(found)} compared; in {reworded} a message or a mark is another")
        for found_apart in other_marks.values():
            self._check_race(found_apart)

    def _check_race(self, apart: Sequence[tuple[str, str]]) -> None:
        """See whether one submission's other marks are its own doing; `apart` says whose and what.

        Work that means no harm has one mark wherever it is graded.
        """
        work = self.students[apart[0][0]]
        ways = self._ways(work) if work.kind == "hostile" else 1
        if ways == 1:
            self.faults += [f"{what} ({work.kind})" for _, what in apart]
            return
        print(f"{len(apart)} of one hostile submission came to other marks ({apart[0][1]}, ...):")
        print(f"on one machine it comes to {ways}, too")

    def _ways(self, work: Work) -> int:
        """Grade one submission again and again on this machine; return how many marks it gets.

        What races with itself, as a hostile thread does, has more than one everywhere.
        """
        with tempfile.TemporaryDirectory(prefix="again-") as folder:
            write({f"s{number:02}": work for number in range(_AGAIN)}, Path(folder, "batch"))
            self._here(Path(folder, "batch"), Path(folder, "out"))
            results = [json.loads(p.read_bytes()) for p in Path(folder, "out/results").iterdir()]
        marks = ([fact for fact in facts(result) if fact[0] != "word"] for result in results)
        return len({json.dumps(found) for found in marks})

    def check_memory(self) -> None:
        """Print the memory at each tenth, and see that it does not grow with the class."""
        print("run   done   command MB   scheduler MB")
        for run, seen in self.seen.items():
            for done, command, scheduler in seen:
                print(f"{run:3} {done:6} {command:12.0f} {scheduler:14.0f}")
            if len(seen) > 1:
                self._flat("command", [(d, m) for d, m, _ in seen], _CLIENT_MB)
        whole = [(done, memory) for seen in self.seen.values() for done, _, memory in seen]
        self._flat("scheduler", whole, _SCHEDULER_MB)

    def _flat(self, who: str, seen: list[tuple[int, float]], each: float) -> None:
        if not seen:
            return
        (first, before), (last, _) = seen[0], seen[-1]
        grown = max(memory for _, memory in seen) - before
        if grown > _ONCE_MB + each * (last - first) / 1000:
            self.faults.append(f"the {who} grew by {grown:.0f} MB in {last - first} submissions")


def bytes_each(out: Path) -> float:
    """Bytes of a result, on average."""
    sizes = [path.stat().st_size for path in (out / "results").glob("*.json")]
    return sum(sizes) / len(sizes)


def main() -> int:
    """Grade, kill, check and print."""
    parser = options()
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--every", type=float, default=60.0, help="a worker is killed so often")
    parser.add_argument("--keep", type=Path, help="an empty folder for all of it")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="big-class-") as made_up:
        folder = chosen.keep or Path(made_up)
        folder.mkdir(exist_ok=True)
        found = Class(chosen, folder)
        print(counted(found.students))
        write(found.students, folder / "batch")
        alone = found.alone()
        start = time.monotonic()
        with cluster(folder / "dask") as dask:
            found.graded(dask)
        spent = time.monotonic() - start
        count = len(found.students)
        print(
            f"{chosen.workers} Dask workers: {count} submissions in {spent:.0f} s, "
            f"{count / spent:.2f} a second; {found.workers_killed} workers killed"
        )
        found.check(alone)
        found.check_memory()
        print(f"a result: {bytes_each(found.out):.0f} bytes on average")
    for fault in found.faults[:50]:
        print(f"FAULT: {fault}")
    print(f"{len(found.faults)} faults" if found.faults else "holds")
    return int(bool(found.faults))


if __name__ == "__main__":
    raise SystemExit(main())
