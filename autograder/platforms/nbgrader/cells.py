"""Reading a submitted workbook, and bringing its graded cells back to those of the gradebook."""

from __future__ import annotations

import contextlib
import fnmatch
import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.errors import UsageError
from autograder.grading import store
from autograder.grading.lock import alone
from autograder.platforms.nbgrader.collected import results_folder
from autograder.platforms.nbgrader.exchange import forgive
from autograder.platforms.nbgrader.preprocessors import HANDED_IN, GradeSubmission
from autograder.text import clean, counted

# Where a browser would begin a tag; outside of one, `<` is only a sign.
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_MOST_BYTES = 50_000_000
_MOST_CELLS = 2_000
_REPLACED = (
    "The submitted workbook is missing or cannot be read. The files beside it were graded, and "
    "their marks are below; written answers wait for a person."
)
# Of a workbook that cannot be read, in characters.
_SHOWN = 20_000


class WorkbookExporter(NotebookExporter):  # type: ignore[misc]
    """Reads workbooks; one that cannot be read costs no mark of the modules beside it.

    nbgrader makes one before it touches a submission. So a run of `autograde` locks the assignment
    here, and nobody else marks it meanwhile.
    """

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        forgive(self.parent)
        self.given: frozenset[str] = frozenset()
        self.found = Found(None)
        # `grade --gradebook` has locked it already.
        if isinstance(self.parent, Autograde) and not hasattr(self.parent, "gradeformer"):
            _expect_workbooks(self.parent)
            convert = self.parent.convert_notebooks
            self.parent.convert_notebooks = lambda: _alone(self.parent, convert)

    def from_filename(self, filename: str, resources: Any = None, **more: Any) -> Any:
        """Convert a workbook, or an empty one in its place, which gets its graded cells back."""
        path = Path(filename)
        if not getattr(self.parent, "_sanitizing", False) and is_readable(path):
            return super().from_filename(filename, resources=resources, **more)
        released = _released(self.parent)
        self.given = frozenset(text for one in released for text in _texts(one))
        self.found = handed_in(path, {one.name for one in released})
        for words in self.found.said:
            self.log.warning("%s: %s", filename, words)
        if self.found.notebook is not None:
            return self.from_notebook_node(self.found.notebook, resources=resources, **more)
        self.log.warning("%s is missing or cannot be read; an empty workbook is used", filename)
        cells = [new_markdown_cell(_REPLACED, id="replaced")]
        if self.found.text:
            cells.append(new_code_cell(self.found.text, id="unreadable"))
        empty = new_notebook(cells=cells)
        return self.from_notebook_node(empty, resources=resources, **more)


@dataclass(frozen=True)
class Found:
    """What was handed in as a workbook.

    Attributes:
        notebook: the workbook; None if it is missing or cannot be read.
        said: what is to be said of it.
        sure: whether no answer can be anywhere but in it.
        text: the beginning of what cannot be read.
    """

    notebook: Any
    said: tuple[str, ...] = ()
    sure: bool = True
    text: str = ""


def handed_in(path: Path, released: Collection[str]) -> Found:
    """Return the workbook that was handed in, under its name or as the only other one.

    Args:
        path: where it should be.
        released: the names of the assignment's workbooks.
    """
    folder = path.parent
    beside = [
        other
        for other in sorted(folder.glob("*.ipynb")) + sorted(folder.glob("*.IPYNB"))
        if other.name not in {path.name, *released} and other.is_file() and not other.is_symlink()
    ]
    named = ", ".join(clean(other.name, 60) for other in beside[:3])
    said: list[str] = []
    if not path.is_file():
        said.append(f"there is no {path.name}" + (f", but {named}" if beside else ""))
        if len(beside) != 1:
            return Found(None, tuple(said), sure=False)
        path = beside[0]
        said.append(f"it was taken from {named}")
    elif beside:
        said.append(f"there is also {named}: look there for answers")
    try:
        return Found(_notebook(path), tuple(said), sure=not beside or path in beside)
    # Whatever a hostile file makes of the reader, RecursionError among it.
    except Exception as error:
        text = path.read_bytes()[:_SHOWN].decode(errors="replace")
        said.append(f"{clean(path.name, 60)} cannot be read ({clean(str(error), 100)})")
        return Found(None, tuple(said), sure=False, text=_writable(text))


def _notebook(path: Path) -> Any:
    """Read a notebook whose cells are in order.

    Raises:
        Exception: it is none.
    """
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"it is larger than {_MOST_BYTES} bytes")
    # A byte-order mark, or another encoding of Unicode, is seen through.
    read = json.loads(path.read_bytes())
    if isinstance(read.get("cells"), list):
        # What editors and converters lose.
        read = {"metadata": {}, "nbformat": 4, "nbformat_minor": 5, **read}
        read["cells"] = [
            {"metadata": {}, **({"outputs": []} if c.get("cell_type") == "code" else {}), **c}
            for c in read["cells"]
        ]
    notebook = nbformat.reads(json.dumps(read), as_version=4)
    cells = notebook.cells
    if len(cells) > _MOST_CELLS:
        raise ValueError(f"it has more than {_MOST_CELLS} cells")
    if not all(map(_is_cell, cells)):
        raise ValueError("its cells are not in order")
    return notebook


def _released(converter: Any) -> list[Path]:
    """Return the workbooks that a course has handed out, or would."""
    coursedir = getattr(converter, "coursedir", None)
    if coursedir is None:
        return []
    places = (coursedir.release_directory, coursedir.source_directory)
    name = coursedir.assignment_id
    folders = [Path(coursedir.format_path(place, ".", name)) for place in places]
    return [path for folder in folders for path in sorted(folder.glob("*.ipynb"))]


def _texts(path: Path) -> list[str]:
    """Return the texts of a workbook's cells; none where it cannot be read."""
    with contextlib.suppress(Exception):
        return [cell.source.strip() for cell in _notebook(path).cells]
    return []


def _expect_workbooks(converter: Autograde) -> None:
    """Have nbgrader ask for the released workbooks, where one is called otherwise, too."""
    names = {path.name for path in _released(converter)}
    wanted = converter.coursedir.notebook_id
    names = {name for name in names if fnmatch.fnmatch(name, f"{wanted}.ipynb")}
    for folder in converter.assignments if names else ():
        converter.assignments[folder] = [str(Path(folder, name)) for name in sorted(names)]


def _alone(converter: Autograde, convert: Callable[[], None]) -> None:
    """Have a run of nbgrader mark its submissions, with the assignment locked."""
    course, name = converter.coursedir, converter.coursedir.assignment_id
    step = GradeSubmission(parent=converter)
    if name in step.executed:
        convert()
        return
    out = results_folder(Path(course.root).resolve(), name)
    try:
        store.make_writable(out)
        with alone(out, step.wait, converter.log.warning, "c.GradeSubmission.wait = True"):
            convert()
    except UsageError as error:
        converter.log.error("%s", error)
        raise NbGraderException(str(error)) from error


def is_readable(path: Path) -> bool:
    """Return whether a file is a notebook whose cells are in order."""
    with contextlib.suppress(Exception):
        _notebook(path)
        return True
    return False


def _is_cell(cell: Any) -> bool:
    return (
        cell.cell_type in ("code", "markdown", "raw")
        and isinstance(cell.source, str)
        and isinstance(cell.metadata, dict)
        and (cell.cell_type != "code" or isinstance(cell.outputs, list))
    )


class RestoreCells(NbGraderPreprocessor):  # type: ignore[misc]
    """Brings a submitted workbook back to the graded cells that were released.

    The first step of autograding. A student may have lost, doubled or edited graded cells, and a
    hostile one may have changed what they are worth, or left HTML that would run in the browser of
    the person who marks. nbgrader's own steps stop at some of that, for one student or for the
    whole class, and the marks would be lost. After this step every graded cell is there once, with
    the metadata of the gradebook; what the student wrote is kept, as text.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Restore the cells of one notebook."""
        names = resources["nbgrader"]
        with Gradebook(names["db_url"]) as gradebook:
            released = gradebook.find_notebook(names["notebook"], names["assignment"])
            kernel = json.loads(released.kernelspec) if released.kernelspec else {}
            cells = _cells_of(released)
        found = getattr(self.parent, "found", Found(nb))
        waits = _waiting(nb.cells, cells, getattr(self.parent, "given", frozenset()), found)
        said = [*found.said, *dict.fromkeys(waits.values())]
        nb.cells = _restored(nb.cells, cells)
        if said:
            lines = "\n".join(f"- {_TAG.sub('&lt;', words)}" for words in said)
            remarks = new_markdown_cell(f"**About this workbook**\n\n{lines}", id="remarks")
            nb.cells.insert(0, remarks)
        about = {"waits": waits, "said": said}
        nb.metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, HANDED_IN: about}
        return nb, resources


def _waiting(
    submitted: list[Any], released: dict[str, Any], given: Collection[str], found: Found
) -> dict[str, str]:
    """Return why questions wait for a person that look as if nobody had answered them.

    Only a question whose cell is there and untouched, in a workbook without another text of the
    student's, was left unanswered.
    """
    place = {_name_of(cell): number for number, cell in enumerate(submitted)}
    texts = {*given, _REPLACED, "", *(cell.source.strip() for cell in released.values())}
    kept = {n for name, n in place.items() if name in released and _is_answer(released[name])}
    more = sum(
        _writable(cell.source).strip() not in texts
        for number, cell in enumerate(submitted)
        if number not in kept
    )
    waits = {}
    for name, cell in released.items():
        if not _is_answer(cell):
            continue
        if found.notebook is None:
            waits[name] = "the workbook is missing or cannot be read: its questions are not marked"
        elif name not in place:
            waits[name] = f"the cell of {name} is not in the workbook: look at its other cells"
        elif submitted[place[name]].source.strip() != cell.source.strip():
            continue
        elif more:
            waits[name] = (
                f"the workbook has {counted(more, 'other cell')} with text: look there for answers"
            )
        elif not found.sure:
            waits[name] = f"the cell of {name} is untouched, and there is another notebook"
        elif submitted[place[name]].get("attachments"):
            waits[name] = f"the cell of {name} has a picture"
    return waits


def _is_answer(cell: Any) -> bool:
    return bool(cell.metadata["nbgrader"]["solution"])


def _cells_of(notebook: Any) -> dict[str, Any]:
    """Build the graded cells, in order, from what the gradebook knows of them."""
    tasks = {task.name: task.max_score for task in notebook.task_cells}
    graded = {cell.name: cell.max_score for cell in notebook.grade_cells}
    solutions = {solution.name for solution in notebook.solution_cells}
    cells = {}
    for cell in notebook.source_cells:
        metadata: dict[str, Any] = {
            "schema_version": 3,
            "grade_id": cell.name,
            "grade": cell.name in graded,
            "solution": cell.name in solutions,
            "locked": bool(cell.locked),
            "task": cell.name in tasks,
            "checksum": cell.checksum,
            "cell_type": cell.cell_type,
        }
        if cell.name in {**graded, **tasks}:
            metadata["points"] = {**graded, **tasks}[cell.name]
        make = new_code_cell if cell.cell_type == "code" else new_markdown_cell
        new = make(cell.source, metadata={"nbgrader": metadata}, id=f"restored-{cell.id[:32]}")
        cells[cell.name] = new
    return cells


def _harmless(cell: Any, number: int) -> Any:
    """Return a new cell with a student's text, without HTML that a browser would act on.

    Nothing is kept of the old cell's metadata, which a student can write, and of the rest only
    pictures.
    """
    source = _writable(cell.source)
    if cell.cell_type == "code":
        return new_code_cell(source, id=f"cell-{number}")
    # A raw cell is shown as it is, so it becomes a text.
    shown = new_markdown_cell(_TAG.sub("&lt;", source), id=f"cell-{number}")
    if pictures := _pictures(cell.get("attachments")):
        shown.attachments = pictures
    return shown


def _pictures(attachments: Any) -> dict[str, dict[str, str]]:
    """Return the attachments that nbconvert can read: texts by their type."""
    if not isinstance(attachments, dict):
        return {}
    found = {
        _writable(name): {_writable(kind): _writable(data) for kind, data in types.items()}
        for name, types in attachments.items()
        if isinstance(types, dict) and all(isinstance(data, str) for data in types.values())
    }
    return {name: types for name, types in found.items() if types}


def _writable(text: str) -> str:
    # Half an emoji can be in a notebook that is read, and in none that is written.
    return text.encode("utf-8", "replace").decode("utf-8")


def _restored(submitted: list[Any], released: dict[str, Any]) -> list[Any]:
    """Give every released cell its place; where a student doubled one, the last counts."""
    cells = [_harmless(cell, number) for number, cell in enumerate(submitted)]
    place = {_name_of(cell): number for number, cell in enumerate(submitted)}
    written_over: list[tuple[int, Any]] = []
    for name in released.keys() & place.keys():
        right, own = released[name], cells[place[name]]
        if not right.metadata["nbgrader"]["locked"] or right.metadata["nbgrader"]["solution"]:
            right.source = own.source
            if "attachments" in own and right.cell_type == "markdown":
                right.attachments = own.attachments
        elif own.source.strip() != right.source.strip():
            shown = own.copy()
            shown.id = f"{own.id}-own"
            written_over.append((place[name], shown))
        right.id = own.id
        cells[place[name]] = right
    for number, shown in sorted(written_over, key=lambda one: one[0], reverse=True):
        # What a student wrote into a locked cell is shown behind it.
        cells.insert(number + 1, shown)
    before: set[str] = set()
    for name, right in released.items():
        if name not in place:
            cells.insert(_after(cells, before), right)
        before.add(name)
    return cells


def _name_of(cell: Any) -> str:
    """Return the name that a submitted cell says it has as a graded one, or ""."""
    about = cell.metadata.get("nbgrader")
    name = about.get("grade_id") if isinstance(about, dict) else ""
    return name if isinstance(name, str) else ""


def _after(cells: list[Any], names: set[str]) -> int:
    """Return the place behind the last of these cells, or before all that are graded."""
    graded = [
        (number, cell.metadata["nbgrader"]["grade_id"])
        for number, cell in enumerate(cells)
        if "nbgrader" in cell.metadata
    ]
    before = [number + 1 for number, name in graded if name in names]
    return before[-1] if before else graded[0][0] if graded else len(cells)
