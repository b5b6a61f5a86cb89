"""What grading costs: medians and ratios, all measured in this one run.

    python tests/benchmarks/bench.py [--submissions N] [--fresh N] [--pairs N] [--bank N]

Compares a warm worker with one fresh `pytest` process a submission on the same suite, shows where
a right submission's time goes and what a failing one costs (with known mistakes, and with wrong
variants in foreign styles, so many a component), and has the diagnosis name every pair
of misconceptions (the long part; `--pairs 0` leaves it out).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from autograder.assignment import load_assignment
from autograder.authoring.wrong_variants import read_variants
from autograder.grading.messages import Answer, GradeJob, Marked
from autograder.grading.workers import Worker
from autograder.judge import reference as reference_module
from autograder.judge.misconceptions import read, source_of, with_mistakes
from autograder.results import SubmissionResult
from autograder.sandbox import handle, host

ROOT = Path(__file__).resolve().parents[2]
NAME = "transformer_block"
RIGHT = ROOT / "reference" / NAME


def cpu_of(pid: int) -> float:
    """CPU seconds of a process, its threads and the children it has reaped."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += descendants(int(child))
    return found


def tree_cpu(pid: int) -> float:
    return sum(cpu_of(process) for process in descendants(pid))


def private_memory(pid: int) -> int:
    """Private memory of a process tree in kB."""
    total = 0
    for process in descendants(pid):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Private"):
                total += int(line.split()[1])
    return total


def job(path: Path) -> GradeJob:
    return GradeJob(id=path.name, path=os.fsencode(path), suite_hash="bench")


def marked(answer: Answer) -> SubmissionResult:
    assert isinstance(answer, Marked), answer
    assert answer.result.status == "graded", answer
    return answer.result


def handed_in(folder: str) -> Path:
    """Copy the solutions, and nothing else that is beside them, as a submission."""
    target = Path(folder, "right")
    target.mkdir()
    for source in RIGHT.glob("*.py"):
        (target / source.name).write_bytes(source.read_bytes())
    return target


def bench_warm(rounds: int, submission: Path) -> tuple[list[float], list[float], list[int]]:
    """Grade a right submission again and again on one worker: wall, CPU, memory."""
    assignment = load_assignment(ROOT, NAME)
    worker = Worker(assignment, "auto")
    worker.wait()
    print(f"sandbox        {worker.sandbox}")
    pid = worker.pid
    walls, cpus, memory = [], [], []
    for number in range(rounds + 2):
        cpu, wall = tree_cpu(pid), time.perf_counter()
        answer = worker.ask(job(submission))
        spent = time.perf_counter() - wall, tree_cpu(pid) - cpu
        assert marked(answer).score == 100.0
        if number >= 2:
            walls.append(spent[0])
            cpus.append(spent[1])
            memory.append(private_memory(pid))
    worker.close()
    return walls, cpus, memory


def bench_failing(each: int, bank: int) -> dict[str, list[float]]:
    """Grade submissions with mistakes; return their CPU as multiples of a right one's.

    A right one is graded before each: a machine that others share is not equally fast all the time.
    Some with one known mistake and some with a pair of them for every component, some with a
    mistake in every component, some with three in each, and so many of the `bank` of wrong variants
    for every component.
    """
    assignment = load_assignment(ROOT, NAME)
    worker = Worker(assignment, "auto")
    worker.wait()
    rows: dict[str, list[dict[str, bytes]]] = {"one mistake": [], "a pair": []}
    everywhere: dict[str, bytes] = {}
    thrice: dict[str, bytes] = {}
    variants: list[dict[str, bytes]] = []
    solutions = {path.name: path.read_bytes() for path in RIGHT.glob("*.py")}
    draw = random.Random(0)
    for name in assignment.totals:
        source = source_of(assignment, name)
        known = list(read(assignment, name))
        for wrong in draw.sample(known, each):
            mistaken = {f"{name}.py": with_mistakes(source, [wrong])}
            rows["one mistake"].append({**solutions, **mistaken})
            pair = {f"{name}.py": with_mistakes(source, draw.sample(known, 2))}
            rows["a pair"].append({**solutions, **pair})
        everywhere |= mistaken
        three = with_mistakes(source, draw.sample(known, min(3, len(known))))
        thrice |= {f"{name}.py": three}
        foreign = read_variants(assignment, name)
        for variant in draw.sample(foreign, min(bank, len(foreign))):
            variants.append({**solutions, f"{name}.py": variant.source})
    rows["one in every component"] = [everywhere] * 3
    rows["three in every component"] = [thrice] * 3
    rows["a wrong variant in a foreign style"] = variants
    ratios: dict[str, list[float]] = {label: [] for label in rows}
    with tempfile.TemporaryDirectory() as folder:

        def cost(name: str, files: dict[str, bytes]) -> float:
            place = Path(folder, name)
            place.mkdir(exist_ok=True)
            for file, data in files.items():
                (place / file).write_bytes(data)
            before = tree_cpu(worker.pid)
            marked(worker.ask(job(place)))
            return tree_cpu(worker.pid) - before

        # What the first ones cost is the warming up of the worker.
        right = [cost("right", solutions) for _ in range(5)][2:]
        for label, submissions in rows.items():
            for number, files in enumerate(submissions):
                right.append(cost("right", solutions))
                each_right = statistics.median(right[-3:])
                ratios[label].append(cost(f"{label}{number}", files) / each_right)
    worker.close()
    return ratios


def bench_pairs(pairs: int, jobs: int) -> None:
    """Run the selftest with so many pairs a component (-1: all) and print its figures."""
    command = [sys.executable, "-m", "autograder", "selftest", NAME, "--json"]
    command += ["--pairs", str(pairs), "--mutants", "0", "--jobs", str(jobs)]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    wall = time.perf_counter() - start
    report = json.loads(done.stdout)
    figures = report["figures"]
    print(
        f"selftest       {wall:.0f} s for {len(report['rows'])} submissions on {jobs} workers: "
        f"{'holds' if report['holds'] else report['faults']}"
    )
    print(
        f"diagnosis      {figures['named_alone']} of {figures['misconceptions']} misconceptions "
        f"named alone; of {figures['pairs']} pairs {figures['named_pair']} named as the pair, "
        f"{figures['named_half']} as one of the two; {figures['right_named']} of "
        f"{figures['right']} right submissions given one"
    )


def bench_fresh(rounds: int) -> tuple[list[float], list[float]]:
    """Run the same suites and examples in a fresh pytest process each time: wall, CPU."""
    suites = [str(ROOT / "assignments" / NAME / "tests"), str(RIGHT / "tests")]
    command = [sys.executable, "-m", "pytest", "-p", "tests.benchmarks.fresh", "-q", *suites]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GRADEFORMER_FRESH": f"{ROOT}:{NAME}:"}
    walls, cpus = [], []
    with tempfile.TemporaryDirectory() as folder:
        for source in RIGHT.glob("*.py"):
            Path(folder, source.name).write_bytes(source.read_bytes())
        environment["GRADEFORMER_FRESH"] += folder
        for _ in range(rounds):
            before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True)
            walls.append(time.perf_counter() - wall)
            assert done.returncode == 0, done.stdout.decode()[-2000:]
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return walls, cpus


def bench_batch(count: int, jobs: int) -> tuple[float, float]:
    """Grade a batch of right submissions through the command; return its wall seconds.

    The second figure is without the start of the workers.
    """
    with tempfile.TemporaryDirectory() as folder:
        batch = Path(folder, "batch")
        for number in range(count):
            target = batch / f"s{number:03}"
            target.mkdir(parents=True)
            for source in RIGHT.glob("*.py"):
                # A comment makes every submission a different one.
                (target / source.name).write_text(source.read_text() + f"# {number}\n")
        command = [sys.executable, "-m", "autograder", "grade", str(batch)]
        command += ["--assignment", NAME, "--out", f"{folder}/out", "--jobs", str(jobs)]
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        first = 0.0
        for line in process.stdout:
            if line.startswith("sandbox"):
                first = time.perf_counter()
        process.wait()
        process.stdout.close()
        end = time.perf_counter()
        rows = Path(folder, "out", "results.csv").read_text().splitlines()[1:]
        assert all(",graded,100,100," in row for row in rows), rows[:3]
        return end - start, end - first


def bench_split(rounds: int, submission: Path) -> dict[str, float]:
    """Split the judge's time for a right submission: fork, wire, waiting, reference, the rest."""
    from autograder.judge.collection import collect
    from autograder.judge.component import Judge, all_forbidden, largest_budget
    from autograder.judge.diagnosis import Diagnoser
    from autograder.judge.intake import take_in
    from autograder.judge.submission import grade_submission
    from autograder.sandbox.tiers import open_sandbox

    assignment = load_assignment(ROOT, NAME)
    forbidden = all_forbidden(assignment)
    sandbox, _ = open_sandbox("auto", largest_budget(assignment), forbidden, [])
    files = take_in(submission)
    spent: dict[str, float] = {}

    def timed(owner: Any, name: str, label: str) -> None:
        plain = getattr(owner, name)

        def run(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return plain(*args, **kwargs)
            finally:
                spent[label] = spent.get(label, 0.0) + time.perf_counter() - start

        setattr(owner, name, run)

    results: dict[str, float] = {}
    children: list[float] = []
    ended = handle.Child.close

    def close(child: handle.Child) -> dict[str, Any]:
        end = ended(child)
        children.append(end.get("cpu_s", 0.0))
        return end

    handle.Child.close = close  # type: ignore[method-assign]
    began = time.perf_counter()
    suite = collect(assignment)
    results["drawn"] = time.perf_counter() - began
    judge = Judge(assignment, suite, sandbox, Diagnoser(assignment, suite.public_plans()))
    grade_submission(judge, files)
    children.clear()
    timed(host.Sandbox, "fork", "fork a child, send the submission")
    timed(handle.Child, "close", "end a child")
    timed(handle.Child, "post", "wire: send requests")
    timed(handle.Child, "_receive", "wait for the child (its work included)")
    for reads in ("answer_unless", "listed"):
        timed(handle.Child, reads, "wire: read replies (waiting included)")
    timed(reference_module.ReferenceSession, "perform", "reference (kept answers)")
    start = time.perf_counter()
    for _ in range(rounds):
        grade_submission(judge, files)
    total = time.perf_counter() - start
    waiting = spent["wait for the child (its work included)"]
    reading = spent.pop("wire: read replies (waiting included)")
    spent["wire: read replies"] = reading - waiting
    spent["drawing of tensors, comparing"] = total - sum(spent.values())
    results.update({key: value / rounds for key, value in spent.items()})
    results["in all"] = total / rounds
    results["children"] = sum(children) / rounds
    results["criteria"] = sum(map(len, suite.criteria.values()))
    sandbox.close()
    return results


def main() -> None:
    """Run all and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--submissions", type=int, default=100)
    parser.add_argument("--fresh", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=-1)
    parser.add_argument("--bank", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        _print_all(options, handed_in(folder))


def _print_all(options: argparse.Namespace, submission: Path) -> None:
    cores = len(os.sched_getaffinity(0))
    walls, cpus, memory = bench_warm(15, submission)
    warm_wall, warm_cpu = statistics.median(walls), statistics.median(cpus)
    print(
        f"warm worker    {warm_wall:.3f} s wall, {warm_cpu:.3f} s CPU a right submission (median)"
    )
    print(f"               memory of worker and fork server, private: {memory[0] / 1024:.0f} MB")
    print(f"               after {len(memory)} submissions: {memory[-1] / 1024:.0f} MB")

    fresh_walls, fresh_cpus = bench_fresh(options.fresh)
    fresh_wall, fresh_cpu = statistics.median(fresh_walls), statistics.median(fresh_cpus)
    print(f"fresh pytest   {fresh_wall:.3f} s wall, {fresh_cpu:.3f} s CPU a submission (median)")
    print(f"ratio          {fresh_wall / warm_wall:.1f} in wall, {fresh_cpu / warm_cpu:.1f} in CPU")

    wall, without_start = bench_batch(options.submissions, cores)
    each = wall / options.submissions
    print(
        f"batch of {options.submissions:<5} {wall:.1f} s on {cores} workers, start included "
        f"({without_start:.1f} s without): {each:.3f} s a submission"
    )
    print(f"ratio          {fresh_wall / each:.1f} times faster than fresh processes one by one")
    print(f"               {fresh_wall / cores / each:.1f} times faster than {cores} side by side")

    print("CPU of submissions, in multiples of a right one's (median and most):")
    for label, ratios in bench_failing(4, options.bank).items():
        label = f"{label}, {len(ratios)} of them"
        print(f"    {label:<42} {statistics.median(ratios):7.2f} {max(ratios):7.2f}")

    print("where the judge's wall time for one right submission goes (ms):")
    split = bench_split(10, submission)
    criteria = int(split.pop("criteria"))
    drawn, children = split.pop("drawn"), split.pop("children")
    for label, seconds in sorted(split.items(), key=lambda pair: pair[1]):
        print(f"    {label:<42} {seconds * 1000:7.1f}")
    print(
        f"the children used {children * 1000:.0f} ms of CPU: forks, wire, the student's arithmetic"
    )
    print(
        f"Hypothesis runs once a worker: collecting {criteria} criteria, drawing their examples "
        f"and grading the solutions took {drawn * 1000:.0f} ms"
    )
    if options.pairs:
        bench_pairs(options.pairs, cores)


if __name__ == "__main__":
    main()
