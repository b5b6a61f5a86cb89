"""What grading costs: seconds and ratios, all measured in this one run.

    python -m tests.benchmarks.bench [--batch N] [--bank N]

Starts a worker, grades right work and wrong work in turn, compares with a fresh `pytest` process a
submission, and shows where a right submission's time goes. The floor is what a right submission's
own calls cost in one warm process, without sandbox, judge or comparison. CPU seconds are the
kernel's, of all processes that take part. The last line says how busy the machine was.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import itertools
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from autograder.api.messages import Reply, Request
from autograder.api.operations import OrdinaryAsk
from autograder.api.values import Held
from autograder.assignment import load_assignment
from autograder.authoring.wrong_variants import read_variants
from autograder.grading.messages import Answer, GradeJob, Marked
from autograder.grading.workers import Worker
from autograder.judge import reference as reference_module
from autograder.judge.collection import collect
from autograder.judge.misconceptions import Misconception, read, together
from autograder.judge.ordinary import run_tests
from autograder.judge.ordinary_suite import place_of
from autograder.proxies.examiner import Rights, rights_of
from autograder.results import SubmissionResult
from autograder.sandbox import handle, host

ROOT = Path(__file__).resolve().parents[2]
NAME = "transformer_block"
RIGHT = ROOT / "reference" / NAME
# Of Linux: orphans become children of this process, which their time is counted for.
_PR_SET_CHILD_SUBREAPER = 36
# A share of the machine that others may take before a run does not count as quiet.
QUIET = 0.03


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


def started() -> Worker:
    """Return a worker that is ready."""
    worker = Worker(load_assignment(ROOT, NAME), "auto")
    worker.wait()
    return worker


def bench_start(rounds: int) -> list[float]:
    """Start workers, where what the solutions answer is kept already: CPU."""
    spent = []
    for _ in range(rounds + 1):
        worker = started()
        spent.append(tree_cpu(worker.pid))
        worker.close()
    return spent[1:]


def bench_floor(rounds: int) -> list[float]:
    """Make all calls of the suites to a right submission in this process: CPU."""
    torch.set_num_threads(1)
    assignment = load_assignment(ROOT, NAME)
    suite = collect(assignment)
    spent = []
    with reference_module.workplace(assignment):
        secret, public = assignment.secret, assignment.public
        asked = [
            (
                reference_module.import_apart(secret, name, public),
                [suite.plans[criterion.id] for criterion in criteria],
            )
            for name, criteria in suite.criteria.items()
        ]
        for _ in range(rounds + 1):
            start = time.process_time()
            for executor, plans in asked:
                for planned in itertools.chain.from_iterable(plans):
                    executor.perform(planned.request)
            spent.append(time.process_time() - start)
    return spent[1:]


_LOOP = """\
from loop import f


def test_many():
    for number in range({calls}):
        assert f(number) == number + 1
"""


def bench_questions(folder: Path, calls: int) -> float:
    """Run an ordinary test that calls a function in a loop: wall time of a question, in seconds.

    It is asked live, question by question, of a process beside it.
    """
    for place in ("assignments", "reference"):
        (folder / place / "loop" / "tests").mkdir(parents=True)
    public, secret = (folder / place / "loop" for place in ("assignments", "reference"))
    toml = 'schema = 1\nname = "loop"\ntitle = "Loop"\n[[components]]\nname = "loop"\npoints = 1\n'
    (public / "assignment.toml").write_text(toml)
    (secret / "loop.py").write_text("def f(x):\n    return x + 1\n")
    test = public / "tests" / "test_loop.py"
    test.write_text(_LOOP.format(calls=calls))
    assignment = load_assignment(folder, "loop")
    where = place_of(assignment, True, [])
    right = [("call", "f", number + 1) for number in range(calls)]
    right.append(("getattr", "f", Held("a function", "", 1)))
    rights = Rights(
        rights_of(
            [(Request([OrdinaryAsk(f"{v} {f}", v)]), Reply(value=value)) for v, f, value in right]
        )
    )
    with contextlib.closing(reference_module.ReferenceProcess(assignment, "loop")) as solution:
        start = time.perf_counter()
        report = run_tests(where, [str(test)], solution.perform, rights, cpu_s=60.0)
        spent = time.perf_counter() - start
    assert [ran.passed for ran in report.ran] == [True], report
    return spent / calls


def bench_commands(folder: Path, submission: Path) -> dict[str, list[float]]:
    """Run what a user waits for, three times each: CPU of all processes."""
    tool = [sys.executable, "-m", "autograder"]
    handout = folder / "handout"
    subprocess.run([*tool, "release", NAME, "--out", handout, "--root", ROOT], capture_output=True)
    one = [*tool, "grade", submission, "--one", "--assignment", NAME, "--root", ROOT]
    commands = {
        "autograder --help": [*tool, "--help"],
        "autograder grade --one": one,
        "an untouched handout's pytest": [sys.executable, "-m", "pytest", "-q", handout],
    }
    return {
        label: [timed(lambda words=words: _quietly(words))[1] for _ in range(4)][1:]
        for label, words in commands.items()
    }


def _quietly(command: Sequence[str | Path]) -> None:
    subprocess.run(command, cwd=ROOT, capture_output=True)


def timed(run: Callable[[], None]) -> tuple[float, float]:
    """Return wall and CPU seconds of a run with all processes that it starts."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run()
    wall = time.perf_counter() - start
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bench_warm(rounds: int, submission: Path) -> tuple[list[float], list[float], list[int]]:
    """Grade a right submission again and again on one worker: wall, CPU, memory."""
    worker = started()
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


def _several(known: list[Misconception], count: int, draw: random.Random) -> bytes:
    """Return a component with some mistakes that can be in one."""
    while (found := together(draw.sample(known, count))) is None:
        pass
    return found.encode()


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
        known = [one for one in read(assignment, name).values() if not one.in_branch]
        for wrong in draw.sample(known, each):
            mistaken = {f"{name}.py": wrong.wrong.encode()}
            rows["one mistake"].append({**solutions, **mistaken})
            pair = {f"{name}.py": _several(known, 2, draw)}
            rows["a pair"].append({**solutions, **pair})
        everywhere |= mistaken
        thrice |= {f"{name}.py": _several(known, 3, draw)}
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
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--bank", type=int, default=3)
    options = parser.parse_args()
    # Users have their bytecode written; a machine that does not would make each start dearer.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        _print_all(options, Path(folder), handed_in(folder))


def _print_all(options: argparse.Namespace, folder: Path, submission: Path) -> None:
    others, cores = Others(), len(os.sched_getaffinity(0))
    others.look()
    start = statistics.median(bench_start(3))
    _print("start of a worker", start)
    for label, spent in bench_commands(folder, submission).items():
        _print(label, statistics.median(spent))
    least = statistics.median(bench_floor(10))
    _print("the floor: the calls of a right submission alone", least)
    _, cpus, memory = bench_warm(10, submission)
    right = statistics.median(cpus)
    _print("a right submission", right, right / least, "of the floor")
    _, fresh = bench_fresh(3)
    spent = statistics.median(fresh)
    _print("fresh pytest on the same suites", spent, spent / right)
    each = bench_questions(folder / "ordinary", 10_000)
    print(f"{'a question of an ordinary test, of 10000 in a loop':<62} {1000 * each:6.2f} ms")
    others.look()
    walls, rates = {}, {}
    for jobs in sorted({1, cores}):
        walls[jobs], rates[jobs] = bench_batch(options.batch, jobs)
        label = f"{options.batch} right submissions on {jobs} workers, start included, wall"
        _print(label, walls[jobs])
    print(f"{cores} workers beside one, submissions a second: {rates[1] / rates[cores]:.2f}")
    others.look()
    print("wrong submissions, in multiples of right ones graded between them (median and most):")
    for label, ratios in bench_failing(2, options.bank).items():
        label = f"{label}, {len(ratios)} of them"
        print(f"    {label:<46} {statistics.median(ratios):7.2f} {max(ratios):7.2f}")
    others.look()
    print("where the judge's wall time for one right submission goes (ms):")
    split = bench_split(10, submission)
    split["collected, drawn, solutions asked (once a worker)"] = split.pop("drawn")
    split["CPU of the children"] = split.pop("children")
    print(f"    {'criteria':<50} {split.pop('criteria'):7.0f}")
    for label, seconds in sorted(split.items(), key=lambda pair: pair[1]):
        print(f"    {label:<50} {seconds * 1000:7.1f}")
    print(f"private memory of a worker with its fork server: {memory[-1] / 1024:.0f} MB")
    quiet = "" if others.most <= QUIET else ": NOT QUIET, take it again on a quiet machine"
    print(f"between the measurements others took {others.most:.0%} of the machine{quiet}")


def _print(label: str, seconds: float, ratio: float = 0.0, of: str = "of a right one") -> None:
    beside = f"  {ratio:.2f} {of}" if ratio else ""
    print(f"{label:<62} {seconds:6.2f} s{beside}", flush=True)


if __name__ == "__main__":
    main()
