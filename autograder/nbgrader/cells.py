"""The workbook's graded cells, as the instructor's version in the gradebook has them."""

from __future__ import annotations

import copy
import json
import re
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

# Where a browser would begin a tag; outside of one, `<` is only a sign.
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_MOST_BYTES = 50_000_000
_REPLACED = (
    "The submitted workbook is missing or cannot be read. The files beside it were graded, and "
    "their marks are below; there were no written answers to mark."
)


class WorkbookExporter(NotebookExporter):  # type: ignore[misc]
    """Reads workbooks; one that cannot be read costs no mark of the modules beside it."""

    def from_filename(self, filename: str, resources: Any = None, **more: Any) -> Any:
        """Convert a workbook, or an empty one in its place, which gets its graded cells back."""
        if is_readable(Path(filename)):
            return super().from_filename(filename, resources=resources, **more)
        self.log.warning("%s is missing or cannot be read; an empty workbook is used", filename)
        empty = new_notebook(cells=[new_markdown_cell(_REPLACED, id="replaced")])
        return self.from_notebook_node(empty, resources=resources, **more)


def is_readable(path: Path) -> bool:
    """Tell whether a file is a notebook whose cells are in order."""
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return False
        notebook = nbformat.read(path, as_version=4)
        return isinstance(notebook.cells, list) and all(map(_is_cell, notebook.cells))
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
    whoever marks. nbgrader's own steps stop at some of that, for one student or for the whole
    class, and the marks would be lost. After this step every graded cell is there once, with the
    metadata of the gradebook; what the student wrote is kept, as text.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Restore the cells of one notebook."""
        names = resources["nbgrader"]
        truth = self._released(names["db_url"], names["assignment"], names["notebook"])
        nb.cells = _restored([_harmless(cell) for cell in nb.cells], copy.deepcopy(truth.cells))
        nb.metadata = {"kernelspec": truth.kernel, "language_info": {"name": "python"}}
        return nb, resources

    def _released(self, url: str, assignment: str, name: str) -> _Released:
        """Read the released cells, once in a run of nbgrader."""
        run = _known.setdefault(self.parent, {}) if self.parent is not None else {}
        if (url, assignment, name) not in run:
            with Gradebook(url) as gradebook:
                notebook = gradebook.find_notebook(name, assignment)
                kernel = json.loads(notebook.kernelspec) if notebook.kernelspec else {}
                run[url, assignment, name] = _Released(_cells_of(notebook), kernel)
        return run[url, assignment, name]


@dataclass(frozen=True)
class _Released:
    """What a gradebook knows of a workbook."""

    cells: list[tuple[str, Any]]
    kernel: dict[str, Any]


# By the exporter, of which every run of nbgrader has its own.
_known: weakref.WeakKeyDictionary[Any, dict[tuple[str, str, str], _Released]]
_known = weakref.WeakKeyDictionary()


def _cells_of(notebook: Any) -> list[tuple[str, Any]]:
    """Build the graded cells from what the gradebook knows of them."""
    tasks = {task.name: task.max_score for task in notebook.task_cells}
    graded = {cell.name: cell.max_score for cell in notebook.grade_cells}
    solutions = {solution.name for solution in notebook.solution_cells}
    cells = []
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
        cells.append((cell.name, new))
    return cells


def _harmless(cell: Any) -> Any:
    """Return a student's cell without outputs, and without HTML that a browser would act on."""
    if cell.cell_type == "code":
        cell.outputs = []
        cell.execution_count = None
    else:
        # A raw cell is shown as it is, so it becomes a text.
        source = _TAG.sub("&lt;", cell.source)
        shown = new_markdown_cell(source, metadata=cell.metadata, id=cell.get("id", "cell"))
        if isinstance(cell.get("attachments"), dict):
            shown.attachments = cell.attachments
        cell = shown
    return cell


def _restored(cells: list[Any], truth: list[tuple[str, Any]]) -> list[Any]:
    """Give every released cell its place; where a student doubled one, the last counts."""
    released = dict(truth)
    place: dict[str, int] = {}
    for number, cell in enumerate(cells):
        metadata = cell.metadata.pop("nbgrader", None)
        name = metadata.get("grade_id") if isinstance(metadata, dict) else None
        if isinstance(name, str) and name in released:
            place[name] = number
    kept = {number: name for name, number in place.items()}
    result: list[Any] = []
    for number, cell in enumerate(cells):
        if number in kept:
            right = released[kept[number]]
            if not right.metadata["nbgrader"]["locked"] or right.metadata["nbgrader"]["solution"]:
                right.source = cell.source
                if "attachments" in cell and right.cell_type == "markdown":
                    right.attachments = cell.attachments
            right.id = cell.id
            result.append(right)
        else:
            result.append(cell)
    for number, (name, cell) in enumerate(truth):
        if name not in place:
            before = {other for other, _ in truth[:number]}
            result.insert(_after(result, before), cell)
    return result


def _after(cells: list[Any], names: set[str]) -> int:
    """Return the place behind the last of these cells, or before all that are graded."""
    graded = [
        (number, cell.metadata["nbgrader"]["grade_id"])
        for number, cell in enumerate(cells)
        if "nbgrader" in cell.metadata
    ]
    before = [number + 1 for number, name in graded if name in names]
    return before[-1] if before else graded[0][0] if graded else len(cells)
