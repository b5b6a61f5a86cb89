"""What grading costs, as ratios of figures that are measured in this one run.

    python -m tests.benchmarks.ratios [--submissions N] [--bank N] [--course N]

The floor is what a right submission's own calls cost in one warm process, without sandbox, judge or
comparison. CPU seconds are the kernel's, of all processes that take part. `before` is what the same
ratio was, on two cores, before kept answers were shared and answers compared byte for byte.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch

from autograder.assignment import load_assignment
from autograder.grading.store import write
from autograder.grading.workers import Worker
from autograder.judge.collection import collect
from autograder.judge.reference import import_apart, workplace
from tests.benchmarks import bench, course

# A share of the machine that others may take before a run does not count as quiet.
QUIET = 0.03


def floor(rounds: int) -> float:
    """CPU seconds of all calls that the suites make to a right submission, in this process."""
    torch.set_num_threads(1)
    assignment = load_assignment(bench.ROOT, bench.NAME)
    suite = collect(assignment)
    spent = []
    with workplace(assignment):
        secret, public = assignment.secret, assignment.public
        asked = [
            (import_apart(secret, name, public), [suite.plans[c.id] for c in criteria])
            for name, criteria in suite.criteria.items()
        ]
        for _ in range(rounds + 1):
            start = time.process_time()
            for executor, plans in asked:
                for plan in plans:
                    for planned in plan:
                        executor.perform(planned.request)
            spent.append(time.process_time() - start)
    return statistics.median(spent[1:])


def start() -> float:
    """CPU seconds until a worker is ready, where what the solutions answer is kept already."""
    assignment = load_assignment(bench.ROOT, bench.NAME)
    spent = []
    for _ in range(4):
        worker = Worker(assignment, "auto")
        worker.wait()
        spent.append(bench.tree_cpu(worker.pid))
        worker.close()
    return statistics.median(spent[1:])


def result_bytes(submission: Path) -> int:
    """Bytes of a right submission's result."""
    worker = Worker(load_assignment(bench.ROOT, bench.NAME), "auto")
    worker.wait()
    result = bench.marked(worker.ask(bench.job(submission)))
    worker.close()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "results").mkdir()
        write(Path(folder), result)
        return sum(path.stat().st_size for path in Path(folder).rglob("*.json"))


class Others:
    """How much of the machine others take, looked at between the measurements: most of all looks.

    Not by taking what is ours from the whole: the kernel's account of processes that have ended
    lacks those whose parents ended first, and fork servers are such.
    """

    def __init__(self) -> None:
        self.most = 0.0

    def look(self) -> None:
        """Do nothing for a while and see who does."""
        # What was just ended may still be ending.
        time.sleep(1)
        busy, whole = self._machine()
        time.sleep(3)
        busy_then, whole_then = self._machine()
        self.most = max(self.most, (busy_then - busy) / (whole_then - whole))

    @staticmethod
    def _machine() -> tuple[int, int]:
        fields = [int(f) for f in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        return sum(fields) - fields[3] - fields[4], sum(fields)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--submissions", type=int, default=60)
    parser.add_argument("--bank", type=int, default=10)
    parser.add_argument("--course", type=int, default=20)
    options = parser.parse_args()
    others = Others()
    others.look()
    rows: list[tuple[str, str, str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        submission = bench.handed_in(folder)
        least = floor(10)
        _, cpus, _ = bench.bench_warm(15, submission)
        right = statistics.median(cpus)
        rows.append(("right / floor", f"{right / least:.2f}", "2.2", "at most 1.5"))
        _, fresh = bench.bench_fresh(3)
        rows.append(
            ("fresh pytest / right", f"{statistics.median(fresh) / right:.1f}", "8.4", "20 or more")
        )
        rows.append(("start / right", f"{start() / right:.1f}", "10", "at most 2"))
        size = result_bytes(submission)
    others.look()
    failing = bench.bench_failing(4, options.bank)
    thrice = failing.pop("three in every component")
    bank = [ratio for ratios in failing.values() for ratio in ratios]
    rows.append(("wrong / right, median", f"{statistics.median(bank):.2f}", "", "at most 2"))
    others.look()
    worst = statistics.median(thrice)
    rows.append(("three mistakes in each / right", f"{worst:.2f}", "8.5", "at most 4"))
    if len(os.sched_getaffinity(0)) > 1:
        one, two = (bench.bench_batch(options.submissions, jobs)[1] for jobs in (1, 2))
        rows.append(("two workers / one, submissions a second", f"{one / two:.2f}", "", "1.85"))
        others.look()
    spent = course.measure(options.course, 2)
    times = spent.workbook * options.course / spent.command
    rows.append(("nbgrader's own / ours, the whole workbook", f"{times:.0f}", "", "60 or more"))
    rows.append(("bytes a result", f"{size}", "89000", "at most 20000"))
    others.look()
    print(f"{'':<44}{'now':>8}{'before':>8}   wanted")
    for label, now, before, wanted in rows:
        print(f"{label:<44}{now:>8}{before or '-':>8}   {wanted}")
    print(f"a right submission: {right:.3f} s of CPU; the floor: {least:.3f} s")
    print(f"between the measurements others took {others.most:.0%} of the machine", end="")
    print(
        "" if others.most <= QUIET else ": THIS RUN WAS NOT QUIET, take it again on a quiet machine"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
