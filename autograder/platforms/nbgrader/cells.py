"""Reading a submitted workbook, and bringing its graded cells back to those of the gradebook."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
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
from autograder.platforms.nbgrader.preprocessors import GradeSubmission

# Where a browser would begin a tag; outside of one, `<` is only a sign.
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_MOST_BYTES = 50_000_000
_MOST_CELLS = 2_000
_REPLACED = (
    "The submitted workbook is missing or cannot be read. The files beside it were graded, and "
    "their marks are below; there were no written answers to mark."
)


class WorkbookExporter(NotebookExporter):  # type: ignore[misc]
    """Reads workbooks; one that cannot be read costs no mark of the modules beside it.

    nbgrader makes one before it touches a submission. So a run of `autograde` locks the assignment
    here, and nobody else marks it meanwhile.
    """

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        forgive(self.parent)
        # `grade --gradebook` has locked it already.
        if isinstance(self.parent, Autograde) and not hasattr(self.parent, "gradeformer"):
            convert = self.parent.convert_notebooks
            self.parent.convert_notebooks = lambda: _alone(self.parent, convert)

    def from_filename(self, filename: str, resources: Any = None, **more: Any) -> Any:
        """Convert a workbook, or an empty one in its place, which gets its graded cells back."""
        if is_readable(Path(filename)):
            return super().from_filename(filename, resources=resources, **more)
        self.log.warning("%s is missing or cannot be read; an empty workbook is used", filename)
        empty = new_notebook(cells=[new_markdown_cell(_REPLACED, id="replaced")])
        return self.from_notebook_node(empty, resources=resources, **more)


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
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return False
        notebook = nbformat.read(path, as_version=4)
        cells = notebook.cells
        return isinstance(cells, list) and len(cells) <= _MOST_CELLS and all(map(_is_cell, cells))
    # Whatever a hostile file makes of the reader, RecursionError among it.
    except Exception:
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
            nb.cells = _restored(nb.cells, _cells_of(released))
        nb.metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
        return nb, resources


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
    for name in released.keys() & place.keys():
        right, own = released[name], cells[place[name]]
        if not right.metadata["nbgrader"]["locked"] or right.metadata["nbgrader"]["solution"]:
            right.source = own.source
            if "attachments" in own and right.cell_type == "markdown":
                right.attachments = own.attachments
        right.id = own.id
        cells[place[name]] = right
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
