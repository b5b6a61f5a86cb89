"""Beside other tools: what a submission costs with nbgrader, Otter and plain pytest, in one run.

    python -m tests.benchmarks.beside [--submissions N]

One class of right work on attention, each a different file. nbgrader's `autograde` and `otter run`
run it as a notebook with the ten assertions below, Otter in an environment of its own that is made
for it. `pytest` runs the handout's tests of the component in a new process for each submission.
Ours runs the public and the hidden tests in the sandbox, the start of the workers included. CPU
seconds are the kernel's, of all processes that were started.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from tests.benchmarks.bench import ROOT, timed

ASSIGNMENT, COMPONENT = "transformer_block", "attention"
SOLUTION = ROOT / "reference" / ASSIGNMENT / f"{COMPONENT}.py"

SETUP = """\
q = torch.arange(24.0).reshape(2, 3, 4).sin()
k = torch.arange(40.0).reshape(2, 5, 4).cos()
v = torch.arange(30.0).reshape(2, 5, 3) / 7
out, weights = scaled_dot_product_attention(q, k, v)"""
ASSERTIONS = (
    "assert out.shape == (2, 3, 3), out.shape",
    "assert weights.shape == (2, 3, 5), weights.shape",
    "assert torch.allclose(weights.sum(-1), torch.ones(2, 3))",
    "assert torch.allclose(weights, (q @ k.transpose(-2, -1) / 2).softmax(-1), atol=1e-6)",
    "assert torch.allclose(out, weights @ v, atol=1e-6)",
    "assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True] * 3]",
    "assert scaled_dot_product_attention(q, q, q, causal_mask(3))[1][0, 0, 1] == 0",
    "assert padding_mask(torch.tensor([[5, 6, 0]]), 0)[0].tolist() == [[True, True, False]] * 3",
    "assert scaled_dot_product_attention(q.double(), k.double(), v.double())[0].dtype == q.double().dtype",  # noqa: E501
    "assert SelfAttention(4)(q)[0].shape == (2, 3, 4)",
)


class Cost(NamedTuple):
    """Seconds for a class, the submissions in it, and the checks of each."""

    wall: float
    cpu: float
    submissions: int
    checks: int


def call(command: Sequence[object], folder: Path, **more: str) -> str:
    """Run a command in a folder and return its standard output; it must succeed."""
    kept = ("PATH", "LANG", "LD_LIBRARY_PATH", "TMPDIR", "XDG_CACHE_HOME")
    environment = {key: os.environ[key] for key in kept if key in os.environ}
    environment |= {"HOME": str(folder), "OMP_NUM_THREADS": "1", **more}
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def notebook(source: str, checks: Sequence[str], first: str = "") -> nbformat.NotebookNode:
    """Return a workbook with a solution cell and a cell for each check, as nbgrader marks them."""

    def cell(name: str, text: str, points: int = 0) -> nbformat.NotebookNode:
        marked = {"grade_id": name, "locked": bool(points), "schema_version": 3, "task": False}
        marked |= {"grade": bool(points), "solution": not points}
        marked |= {"points": points} if points else {}
        return new_code_cell(text, id=name, metadata={"nbgrader": marked})

    cells = [new_code_cell(first, id="first")] if first else []
    cells.append(cell("solution", source))
    cells += [cell(f"q{number}", text, 1) for number, text in enumerate(checks, 1)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def class_of(count: int) -> dict[str, str]:
    """Return right submissions, each a different text."""
    text = SOLUTION.read_text()
    return {f"s{number:02}": f"{text}# {number}\n" for number in range(1, count + 1)}


def nbgrader(folder: Path, people: dict[str, str]) -> Cost:
    """Mark the class with nbgrader's own execution."""
    checks = [f"{SETUP}\n{line}" for line in ASSERTIONS]
    given = folder / "source" / COMPONENT
    given.mkdir(parents=True)
    nbformat.write(notebook("raise NotImplementedError", checks), given / "work.ipynb")
    (folder / "nbgrader_config.py").write_text(
        'c = get_config()\nc.CourseDirectory.course_id = "c"\n'
    )
    tool = [sys.executable, "-m", "nbgrader"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    call([*tool, "generate_assignment", COMPONENT], folder, PATH=path)
    for name, text in people.items():
        place = folder / "submitted" / name / COMPONENT
        place.mkdir(parents=True)
        nbformat.write(notebook(text, checks), place / "work.ipynb")

    def run() -> None:
        call([*tool, "autograde", COMPONENT], folder, PATH=path)

    cost = Cost(*timed(run), len(people), len(checks))
    call([*tool, "export"], folder, PATH=path)
    marks = (folder / "grades.csv").read_text().splitlines()[1:]
    assert len(marks) == len(people), marks
    assert all(f",{len(checks)}.0," in line for line in marks), marks
    return cost


def otter(folder: Path, people: dict[str, str]) -> Cost:
    """Mark the class with `otter run`, one submission after the other, as it is made to."""
    folder.mkdir()
    call([sys.executable, "-m", "venv", folder / "venv"], folder)
    python = folder / "venv" / "bin" / "python"
    pins = [
        line for line in (ROOT / "constraints.txt").read_text().splitlines() if "torch==" in line
    ]
    call([python, "-m", "pip", "install", "-q", "otter-grader", "ipykernel", *pins], folder)
    (folder / "tests").mkdir()
    for number, line in enumerate(ASSERTIONS, 1):
        code = "\n".join(f">>> {one}" for one in [*SETUP.splitlines(), line])
        case = {"code": code, "hidden": False, "locked": False}
        suite = {"cases": [case], "scored": True, "setup": "", "teardown": "", "type": "doctest"}
        test = {"name": f"q{number}", "points": 1, "suites": [suite]}
        (folder / "tests" / f"q{number}.py").write_text(f"OK_FORMAT = True\n\ntest = {test!r}\n")
    tool = [python, "-m", "otter"]
    call([*tool, "generate", "-t", "tests", "-o", "autograder.zip", "--no-environment"], folder)
    asked = [f'grader.check("q{number}")' for number in range(1, len(ASSERTIONS) + 1)]
    places = []
    for name, text in people.items():
        place = folder / name / "work.ipynb"
        place.parent.mkdir()
        first = "import otter\ngrader = otter.Notebook()"
        nbformat.write(notebook(text, asked, first), place)
        places.append(place)

    def run() -> None:
        path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
        for place in places:
            command = [*tool, "run", "-a", folder / "autograder.zip", "-o", place.parent, place]
            call([*command, "--no-logo"], place.parent, PATH=path)

    cost = Cost(*timed(run), len(people), len(ASSERTIONS))
    for place in places:
        tests = json.loads((place.parent / "results.json").read_text())["tests"]
        scores = {test["name"]: test.get("score") for test in tests if test["name"][:1] == "q"}
        assert list(scores.values()) == [1.0] * len(ASSERTIONS), tests
    return cost


def handout(folder: Path, people: dict[str, str]) -> Cost:
    """Run the handout's own tests of the component in a new process for each submission."""
    released = folder / "handout"
    folder.mkdir()
    tool = [sys.executable, "-m", "autograder", "release", ASSIGNMENT]
    call([*tool, "--out", released, "--root", ROOT], folder)
    places = []
    for name, text in people.items():
        place = Path(shutil.copytree(released, folder / name))
        (place / f"{COMPONENT}.py").write_text(text)
        places.append(place)
    tests = f"tests/test_{COMPONENT}.py"

    def run() -> None:
        for place in places:
            call([sys.executable, "-m", "pytest", "-q", tests], place)

    passed = re.search(r"(\d+) passed", call([sys.executable, "-m", "pytest", tests], places[0]))
    assert passed is not None
    return Cost(*timed(run), len(people), int(passed[1]))


def ours(folder: Path, people: dict[str, str]) -> Cost:
    """Grade the class; other components are not handed in."""
    for name, text in people.items():
        place = folder / "class" / name
        place.mkdir(parents=True)
        (place / f"{COMPONENT}.py").write_text(text)
    out = folder / "out"
    command = [sys.executable, "-m", "autograder", "grade", folder / "class", "--root", ROOT]
    command += ["--assignment", ASSIGNMENT, "--out", out]

    def run() -> None:
        call(command, folder)

    # What the solutions answer is computed once for a suite, and kept.
    run()
    shutil.rmtree(out)
    cost = Cost(*timed(run), len(people), 0)
    for path in (out / "results").glob("*.json"):
        part = json.loads(path.read_text())["components"][COMPONENT]
        assert part["score"] == part["max_score"], part
        cost = cost._replace(checks=len(part["criteria"]))
    return cost


def main() -> None:
    """Measure each tool and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--submissions", type=int, default=5)
    options = parser.parse_args()
    people = class_of(options.submissions)
    print("| tool | checks | seconds a submission | CPU seconds | checks a CPU second |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as base:
        for words, tool in {
            "nbgrader autograde": nbgrader,
            "otter run": otter,
            "pytest, a new process each": handout,
            "autograder grade": ours,
        }.items():
            cost = tool(Path(base, tool.__name__), people)
            wall, cpu = (seconds / cost.submissions for seconds in cost[:2])
            rate = cost.checks / cpu
            print(f"| {words} | {cost.checks} | {wall:.2f} | {cpu:.2f} | {rate:.1f} |", flush=True)


if __name__ == "__main__":
    main()
