"""The workbook is what its sources give, keeps what is secret, and shows a student's own work."""

from __future__ import annotations

import base64
import io
import itertools
import json
import shutil
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from autograder.api.answer import StudentRaised
from autograder.api.component import Component
from autograder.api.run import Run, Show, drawings_of
from autograder.assignment import Assignment, load_assignment
from autograder.authoring import workbook
from autograder.authoring.release import release
from autograder.errors import UsageError
from autograder.judge.collection import complaints
from autograder.judge.reference import import_apart
from tests import sources
from tests.conftest import ROOT

TEXT = """\
# introduction

{{component points}} and {{question points}} points.

# layer_norm: Layer norm

![bars](attachment:layer_norm.png)

# question scale, 2.5 points

Why?

## a good answer says

- Because of the scale.
"""
FIGURES = """\
import torch
from matplotlib.figure import Figure

def layer_norm(component):
    figure = Figure(figsize=(2, 1), dpi=100)
    axes = figure.subplots()
    heights = component.call("layer_norm", torch.tensor([2.0, 4.0, 6.0, 8.0])).output
    axes.bar(range(4), heights.tolist())
    axes.set_title("bars")
    return figure
"""


@pytest.fixture
def small(small_project: Path) -> Assignment:
    """A project with one assignment and its workbook."""
    folder = small_project / "reference" / "norm" / "workbook"
    folder.mkdir()
    (folder / "text.md").write_text(TEXT)
    (folder / "figures.py").write_text(FIGURES)
    (folder.parent / "layer_norm.py").write_text(sources.RIGHT)
    found = load_assignment(small_project, "norm")
    workbook.write(found)
    return found


def path_of(assignment: Assignment) -> Path:
    return assignment.public / "workbook.ipynb"


def read(assignment: Assignment) -> Any:
    return nbformat.reads(path_of(assignment).read_text(), as_version=4)


def again(assignment: Assignment) -> Assignment:
    return load_assignment(assignment.root, assignment.name)


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_the_workbook_in_assignments_is_what_its_sources_give(assignment: Assignment) -> None:
    assert workbook.drifted(assignment) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "cells"),
    [
        ("reference/norm/workbook/text.md", "Why?", "Why not?", ["question_scale-text"]),
        ("reference/norm/workbook/text.md", "of the scale", "it is so", []),
        ("reference/norm/workbook/figures.py", "4.0, 6.0", "6.0, 4.0", ["layer_norm-text"]),
        ("reference/norm/workbook/figures.py", '"bars"', '"bars,"', ["layer_norm-text"]),
        ("reference/norm/layer_norm.py", sources.RIGHT, sources.WRONG, ["layer_norm-text"]),
        (
            "assignments/norm/assignment.toml",
            "points = 14",
            "points = 15",
            ["introduction", "layer_norm-text", "layer_norm"],
        ),
        ("assignments/norm/workbook.ipynb", "Your answer", "My answer", ["question_scale"]),
        ("assignments/norm/workbook.ipynb", '"locked": true', '"locked": false', ["layer_norm"]),
        ("assignments/norm/workbook.ipynb", '"id": "setup"', '"id": "begin"', ["setup", "begin"]),
        ("assignments/norm/workbook.ipynb", "\n}", "\n\n}", ["workbook.ipynb"]),
        ("assignments/norm/workbook.ipynb", "{", "", None),
    ],
)
def test_every_change_is_found_and_written(
    small: Assignment, file: str, old: str, new: str, cells: list[str] | None
) -> None:
    assert workbook.drifted(small) == []
    replace(small.root / file, old, new)
    everything = [cell["id"] for cell in workbook.build(small)["cells"]]
    assert workbook.drifted(again(small)) == (everything if cells is None else cells)
    workbook.write(again(small))
    assert workbook.drifted(again(small)) == []


def test_a_picture_that_looks_the_same_keeps_its_bytes(small: Assignment) -> None:
    notebook = json.loads(path_of(small).read_text())
    (picture,) = (cell["attachments"] for cell in notebook["cells"] if "attachments" in cell)
    data = picture["layer_norm.png"]["image/png"]
    other = io.BytesIO()
    image = Image.open(io.BytesIO(base64.b64decode(data)))
    words = PngInfo()
    words.add_itxt("Description", image.info["Description"])
    # As another release of matplotlib would draw it: other bytes, other edges of letters.
    lighter = image.convert("RGB").point(lambda value: min(255, value + 20))
    lighter.save(other, format="png", pnginfo=words)
    picture["layer_norm.png"]["image/png"] = base64.b64encode(other.getvalue()).decode()
    text = nbformat.writes(nbformat.from_dict(notebook)).rstrip("\n") + "\n"
    path_of(small).write_text(text)
    assert workbook.write(small) == []
    replace(small.secret / "workbook" / "text.md", "Why?", "Why not?")
    assert workbook.write(small) == ["question_scale-text"]
    assert picture["layer_norm.png"]["image/png"] in path_of(small).read_text()


def test_grade_cells_have_the_components_and_points_of_the_assignment(
    assignment: Assignment,
) -> None:
    notebook = read(assignment)
    nbformat.validate(notebook)
    marked = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    ids = [cell.metadata.nbgrader.grade_id for cell in marked]
    assert len(ids) == len(set(ids))
    points = {cell.id: cell.metadata.nbgrader.points for cell in marked if cell.cell_type == "code"}
    assert points == assignment.totals
    for cell in marked:
        found = dict(cell.metadata.nbgrader)
        answer = cell.cell_type == "markdown"
        assert found.pop("points") > 0
        assert found == {
            "schema_version": 3,
            "grade_id": cell.id,
            "grade": True,
            "solution": answer,
            "locked": not answer,
            "task": False,
        }
    assert sum(cell.cell_type == "markdown" for cell in marked) >= 5


def test_a_grade_cell_does_nothing_when_it_is_run(assignment: Assignment) -> None:
    for name in assignment.totals:
        (cell,) = (cell for cell in read(assignment).cells if cell.id == name)
        assert all(line.startswith("#") for line in cell.source.splitlines())


def test_no_guide_and_no_solution_gets_into_the_workbook(assignment: Assignment) -> None:
    sources = "\n".join(cell.source for cell in read(assignment).cells)
    text = (assignment.secret / "workbook" / "text.md").read_text()
    guides = [part.partition("\n# ")[0] for part in text.split("## a good answer says")[1:]]
    secret = [line for guide in guides for line in guide.splitlines()]
    for name in assignment.totals:
        inside = False
        for line in (assignment.secret / f"{name}.py").read_text().splitlines():
            inside = line.strip() == "### BEGIN SOLUTION" or (
                inside and line.strip() != "### END SOLUTION"
            )
            secret += [line.partition("  #")[0]] if inside else []
    long = [line.strip() for line in secret if len(line.strip()) > 12]
    assert len(long) > 80
    assert [line for line in long if line in sources] == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("# introduction", "# preface", "`# preface` is no section"),
        ("# introduction\n", "First.\n# introduction\n", "begin with"),
        ("# layer_norm: Layer norm", "# introduction", "no section"),
        ("layer_norm.png", "other.png", "layer_norm needs its picture"),
        ("2.5 points", "some points", "is no section"),
        ("## a good answer says", "## guide", "'scale' has no"),
    ],
)
def test_a_malformed_source_is_named(small: Assignment, old: str, new: str, said: str) -> None:
    replace(small.secret / "workbook" / "text.md", old, new)
    with pytest.raises(UsageError, match=said):
        workbook.build(small)


@pytest.mark.parametrize("module", ["nbformat", "matplotlib"])
def test_a_missing_extra_is_named(
    small: Assignment, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=rf"{module}: pip install 'gradeformer\[nbgrader\]'"):
        workbook.drifted(small)


@pytest.fixture
def check(
    assignment: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], list[str]]:
    """Run the setup cell in a folder, then its `check`; return the pages that it displays."""
    pages: list[str] = []
    display = types.ModuleType("IPython.display")
    display.HTML = str  # type: ignore[attr-defined]
    display.display = pages.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.chdir(tmp_path)
    (source,) = (cell.source for cell in read(assignment).cells if cell.id == "setup")
    namespace: dict[str, Any] = {}
    exec(source, namespace)

    def run(component: str) -> list[str]:
        namespace["check"](component)
        return pages

    return run


def test_check_shows_the_page_of_the_files_as_they_are_now(
    check: Callable[[str], list[str]], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_norm.py").write_text("def test(): pass\n")
    (tmp_path / "tests" / "conftest.py").write_text(
        "from pathlib import Path\nimport sys\n"
        "def pytest_addoption(parser):\n    parser.addoption('--page')\n"
        "def pytest_unconfigure(config):\n"
        "    print('noise', file=sys.stderr)\n"
        "    Path(config.getoption('--page')).write_text(Path('norm.py').read_text())\n"
    )
    for source in ("first", "second"):
        (tmp_path / "norm.py").write_text(source)
        assert check("norm")[-1] == source
    assert capfd.readouterr() == ("", "")


def test_check_says_why_there_is_no_page(
    check: Callable[[str], list[str]], capfd: pytest.CaptureFixture[str]
) -> None:
    assert check("norm") == []
    out, err = capfd.readouterr()
    assert "pytest" in out
    assert err == ""


def views(assignment: Assignment, component: str, folder: Path) -> list[dict[str, Any]]:
    session = import_apart(folder, component)
    return Run(lambda name: session).views(component, drawings_of(assignment.public / "tests"))


def test_every_component_has_views(assignment: Assignment) -> None:
    assert list(complaints(assignment.public / "tests" / "views.py")) == []
    for component in assignment.totals:
        found = views(assignment, component, assignment.secret)
        assert {view["kind"] for view in found} & {"heatmap", "bars"}, component
        assert any(view["kind"] == "table" for view in found), component


def test_a_right_component_shows_what_the_documents_say(assignment: Assignment) -> None:
    compared = 0
    for component in assignment.totals:
        for view in views(assignment, component, assignment.secret):
            rows = view.get("rows", []) if view["kind"] == "table" else []
            # The row of the student stands below the row of the document.
            for said, given in itertools.pairwise(rows):
                if "your code" in given[0]:
                    compared += 1
                    numbers = [float(cell) for cell in said[1:]]
                    close = pytest.approx(numbers, rel=2e-3, abs=6e-3)
                    assert [float(cell) for cell in given[1:]] == close
    assert compared >= 12


def test_views_show_the_students_own_numbers(assignment: Assignment) -> None:
    # s09 divides by n - 1.
    table = views(assignment, "layer_norm", ROOT / "tests/classes/transformer_block/s09")[0]
    assert table["rows"][-1][1:5] == ["-1.162", "-0.3873", "0.3873", "1.162"]
    assert table["rows"][-1][-1] == "0.75"


def test_answers_of_another_shape_are_left_out(assignment: Assignment, tmp_path: Path) -> None:
    source = "def layer_norm(x, eps=1e-5):\n    return x.new_zeros(3, 100, 2)\n"
    (tmp_path / "layer_norm.py").write_text(source)
    assert views(assignment, "layer_norm", tmp_path) == []


def test_an_unwritten_component_shows_nothing(assignment: Assignment, tmp_path: Path) -> None:
    shutil.copy(assignment.public / "layer_norm.py", tmp_path)
    session = import_apart(tmp_path, "layer_norm")
    draw = drawings_of(assignment.public / "tests")["layer_norm"]
    with pytest.raises(StudentRaised):
        draw(Component(session, lambda answer: None), Show())
    assert views(assignment, "layer_norm", tmp_path) == []


def test_a_class_without_nbgrader_gets_no_grade_cells(small: Assignment, tmp_path: Path) -> None:
    out = tmp_path / "handout"
    assert workbook.FILE in release(small, out, lambda _: {}, with_workbook=True)
    plain = nbformat.read(out / workbook.FILE, as_version=4)
    nbformat.validate(plain)
    whole = {cell["id"]: cell for cell in read(small)["cells"]}
    kept = {cell["id"]: cell for cell in plain["cells"]}
    assert set(whole) - set(kept) == {"layer_norm"}
    assert {str(cell["metadata"]) for cell in plain["cells"]} == {"{}"}
    assert [cell["source"] for cell in kept.values()] == [whole[name]["source"] for name in kept]
    assert kept["layer_norm-text"]["attachments"] == whole["layer_norm-text"]["attachments"]
    assert "question_scale" in kept


def test_who_wants_a_workbook_that_is_not_there_is_told_what_to_do(small: Assignment) -> None:
    path_of(small).unlink()
    with pytest.raises(UsageError, match="run `autograder workbook norm` first"):
        workbook.plain(small)
    shutil.rmtree(small.secret / "workbook")
    with pytest.raises(UsageError, match=r"norm has no workbook: there is no .*text\.md"):
        workbook.plain(small)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("test_layer_nrom.py", r"about no component of norm: did you mean test_layer_norm\.py\?"),
        ("conftest.py", "would be replaced by the one that a release brings: delete it"),
    ],
)
def test_a_release_brings_no_test_that_counts_nowhere(
    small: Assignment, tmp_path: Path, file: str, said: str
) -> None:
    (small.public / "tests" / file).write_text("")
    with pytest.raises(UsageError, match=said):
        release(small, tmp_path / "out", lambda _: {})
    assert not (tmp_path / "out").exists()
