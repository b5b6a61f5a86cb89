"""Every example of docs/authoring.md is true: graded, loaded, drawn and run as a reader would.

The tour at its beginning is run by tests/e2e/test_tour.py.
"""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.api.answer import Answer
from autograder.api.component import Component, Module, Object
from autograder.api.expect import Expect
from autograder.api.make import Make
from autograder.api.run import Show
from autograder.assignment import Assignment, load_assignment
from autograder.authoring import stubs, workbook
from autograder.judge.collection import collect
from autograder.judge.misconceptions import read
from tests.conftest import ROOT
from tests.page import Example, examples, write_course

TOUR = "Ten minutes"
API = [example for example in examples() if example.section != TOUR]
WRITTEN = "\n".join(example.text for example in examples() if example.language == "python")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    """The course that the examples make up."""
    root = write_course(tmp_path_factory.mktemp("page"))
    found = load_assignment(root, "examples")
    stubs.write(found)
    return found


def variants(course: Assignment) -> dict[str, dict[str, bytes]]:
    """Return submissions by name: what the page calls right, and what it calls wrong."""
    right = {path.name: path.read_bytes() for path in course.secret.glob("*.py")}
    loops = course.secret / "right_variants" / "loops"
    found = {
        "right": right,
        "loops": {**right, **{path.name: path.read_bytes() for path in loops.glob("*.py")}},
        "stubs": {path.name: path.read_bytes() for path in course.public.glob("*.py")},
    }
    for name, one in read(course, "rescale").items():
        found[name] = {**right, "rescale.py": one.wrong.encode()}
    return found


@pytest.fixture(scope="module")
def graded(course: Assignment, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of all of them."""
    base = tmp_path_factory.mktemp("graded")
    for name, files in variants(course).items():
        (base / "batch" / name).mkdir(parents=True)
        for file, source in files.items():
            (base / "batch" / name / file).write_bytes(source)
    command = [sys.executable, "-m", "autograder", "grade", str(base / "batch")]
    command += ["--assignment", "examples", "--out", str(base / "out")]
    command += ["--root", str(course.root)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    paths = (base / "out" / "results").glob("*.json")
    return {path.stem: json.loads(path.read_text()) for path in paths}


@pytest.mark.release
def test_what_the_page_calls_right_keeps_every_point(graded: dict[str, Any]) -> None:
    for name in ("right", "loops"):
        components = graded[name]["components"].values()
        messages = [c["message"] for part in components for c in part["criteria"]]
        assert graded[name]["score"] == 29, (name, [text for text in messages if text])


@pytest.mark.slow
def test_what_the_page_calls_wrong_loses_points_and_is_named(graded: dict[str, Any]) -> None:
    assert graded["stubs"]["score"] == 0
    for name in ("signed_maximum", "eps_ignored"):
        parts = graded[name]["components"]
        assert parts["rescale"]["score"] < 12
        lost = [c["visibility"] for c in parts["rescale"]["criteria"] if not c["passed"]]
        # What hidden criteria alone find is not named.
        named = [f"rescale.{name}"] if "public" in lost else []
        assert parts["rescale"]["misconceptions"] == named
        # What builds on it is graded with the page's stand-in.
        assert parts["scorer"]["score"] == 8
    assert graded["signed_maximum"]["components"]["scorer"]["stand_ins"] == ["rescale"]


@pytest.mark.slow
def test_cases_share_their_points_as_the_page_says(graded: dict[str, Any]) -> None:
    criteria = graded["eps_ignored"]["components"]["rescale"]["criteria"]
    eps = next(criterion for criterion in criteria if criterion["id"] == "rescale.eps")
    assert (eps["passed_cases"], eps["cases"], eps["max_score"]) == (1, 3, 1)
    assert eps["score"] == pytest.approx(1 / 3, abs=0.01)


@pytest.mark.slow
def test_the_views_show_what_the_page_says(graded: dict[str, Any]) -> None:
    parts = graded["right"]["components"]
    assert [view["kind"] for view in parts["rescale"]["views"]] == ["bars", "heatmap"]
    (table,) = parts["tally"]["views"]
    assert table["rows"] == [["a", "2"], ["rose", "2"], ["is", "1"]]


def test_every_criterion_of_the_page_is_collected(course: Assignment) -> None:
    found = {c.id for criteria in collect(course).criteria.values() for c in criteria}
    written = {
        f"{Path(example.place).stem.removeprefix('test_')}.{name}"
        for example in API
        # One without a place is no file of the course.
        if example.place
        for name in re.findall(r"^def test_(\w+)", example.text, re.M)
    }
    assert found == written


@pytest.mark.release
def test_a_student_runs_the_public_examples(course: Assignment, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "autograder", "release", "examples"]
    command += ["--out", str(tmp_path / "out"), "--root", str(course.root)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    assert (tmp_path / "out" / "provided" / "poem.py").is_file()
    for path in course.secret.glob("*.py"):
        shutil.copy(path, tmp_path / "out")
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        pytest_, cwd=tmp_path / "out", capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout


def test_the_workbook_is_made_of_the_page(course: Assignment) -> None:
    cells = {cell["id"]: cell for cell in workbook.build(course)["cells"]}
    assert "worth 2 points more" in "".join(cells["introduction"]["source"])
    assert "rescale.png" in cells["rescale-text"]["attachments"]
    assert {"question_why_eps", "word_count"} <= set(cells)
    assert "NaN" not in json.dumps(list(cells.values()))


@pytest.mark.parametrize(
    "example",
    [example for example in examples() if example.language == "toml"],
    ids=lambda example: f"line {example.line}",
)
def test_every_assignment_of_the_page_loads(example: Example, tmp_path: Path) -> None:
    (name,) = re.findall(r'^name = "(\w+)"', example.text.partition("[[")[0], re.M)
    path = tmp_path / "assignments" / name / "assignment.toml"
    path.parent.mkdir(parents=True)
    path.write_text(example.text)
    assert load_assignment(tmp_path, name).components


def test_the_page_gives_the_defaults_that_hold(tmp_path: Path) -> None:
    example = next(e for e in API if e.language == "toml" and "[limits]" in e.text)
    for name, text in (("full", example.text), ("short", _without_defaults(example.text))):
        path = tmp_path / name / "assignments" / "first_steps" / "assignment.toml"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    full, short = (load_assignment(tmp_path / name, "first_steps") for name in ("full", "short"))
    assert (full.seed, full.components) == (short.seed, short.components)
    assert full.feedback == short.feedback


def _without_defaults(text: str) -> str:
    """Leave out what may be left out."""
    kept = re.sub(r"\[limits\].*?(?=\[\[)", "", text, flags=re.S)
    return re.sub(r"^(seed|uses|program) .*\n", "", kept, flags=re.M)


def test_every_block_of_python_is_some_file() -> None:
    for example in examples():
        if example.language == "python":
            assert example.place.endswith(".py"), example.line
        if example.section != TOUR:
            assert example.language != "sh", example.line


def _public(kind: type) -> list[str]:
    return [
        name
        for name, value in inspect.getmembers(kind)
        if not name.startswith("_") and (callable(value) or isinstance(value, property))
    ]


@pytest.mark.parametrize(
    "kind, owner, exempt",
    [
        (Expect, r"expect", ()),
        (Make, r"make", ()),
        (Show, r"show", ("embedding",)),
        (Component, r"(?:component|reference|part)[\w.()=]*", ()),
        (Object, r"\)?", ("taken",)),
        (Module, r"\)?", ("taken",)),
        (Answer, r"\)?", ("brought",)),
    ],
)
def test_everything_a_test_may_say_has_an_example(
    kind: type, owner: str, exempt: tuple[str, ...]
) -> None:
    for name in _public(kind):
        if name not in exempt:
            assert re.search(rf"{owner}\.{name}\b", WRITTEN), f"{kind.__name__}.{name}"


def test_what_the_page_names_is_there() -> None:
    page = (ROOT / "docs" / "authoring.md").read_text()
    tables = dict.fromkeys(re.findall(r"^\| `(\w+)\(", page, re.M))
    known: set[str] = set()
    for kind in (Expect, Module, Object, Component, Answer):
        known |= set(_public(kind))
    assert set(tables) - {"obj"} <= known
