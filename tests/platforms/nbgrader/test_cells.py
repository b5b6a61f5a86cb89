"""Whatever was done to a workbook, its graded cells come back, once each, and the answers stay."""

from __future__ import annotations

import copy
import json
import warnings
from typing import Any

import hypothesis.strategies as st
import nbformat
import pytest
from hypothesis import HealthCheck, given, settings

from tests.platforms.nbgrader.conftest import Course

with warnings.catch_warnings():
    # nbgrader's own imports warn, and warnings are errors here.
    warnings.simplefilter("ignore")
    from nbgrader.nbgraderformat import MetadataValidator

    from autograder.platforms.nbgrader.cells import RestoreCells

JUNK = st.one_of(
    st.none(),
    st.integers(),
    st.text(max_size=5),
    st.dictionaries(
        st.sampled_from(("grade_id", "grade", "solution", "locked", "points", "schema_version")),
        st.one_of(
            st.none(),
            st.booleans(),
            st.sampled_from((-1, 0, 99, 1e9)),
            st.sampled_from(("layer_norm", "question_scale", "bonus", "")),
        ),
    ),
)
TAMPER = st.lists(
    st.tuples(
        st.sampled_from(
            ("delete", "double", "move", "metadata", "kind", "source", "unlock", "form")
        ),
        st.integers(0, 30),
        st.integers(0, 30),
        JUNK,
    ),
    max_size=8,
)


@pytest.fixture(scope="module")
def released(blank: Course) -> tuple[Any, str]:
    path = blank.folder / "release" / "norm" / "workbook.ipynb"
    # With every source as one text.
    notebook = nbformat.read(path, as_version=4)
    return json.loads(json.dumps(notebook)), blank.url


def tampered(notebook: Any, changes: list[tuple[str, int, int, Any]]) -> Any:
    cells = notebook["cells"]
    for number, (kind, at, to, junk) in enumerate(changes):
        if not cells:
            break
        cell = cells[at % len(cells)]
        if kind == "delete":
            cells.remove(cell)
        elif kind == "double":
            cells.insert(to % len(cells), {**copy.deepcopy(cell), "id": f"again{number}"})
        elif kind == "move":
            cells.remove(cell)
            cells.insert(to % (len(cells) + 1), cell)
        elif kind == "metadata":
            cell["metadata"] = {"nbgrader": junk}
        elif kind == "kind":
            cell["cell_type"] = ("raw", "markdown")[to % 2]
            cell.pop("outputs", None)
            cell.pop("execution_count", None)
        elif kind == "form":
            cell["id"] = ("", "no id", "i" * 70)[to % 3]
            cell["metadata"]["tags"] = junk
            cell["attachments"] = ({"a.png": {}}, {"a.png": junk}, junk, {"\ud800": {"a": "b"}})[
                to % 4
            ]
        elif kind == "source":
            cell["source"] = f"<script>{junk!r}</script> \ud83d mine{number}"
        elif isinstance(cell["metadata"].get("nbgrader"), dict):
            cell["metadata"]["nbgrader"].update(locked=False, solution=True, points=99)
    return notebook


def restored(notebook: Any, url: str) -> Any:
    names = {"notebook": "workbook", "assignment": "norm", "student": "s01", "db_url": url}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, _ = RestoreCells().preprocess(nbformat.from_dict(notebook), {"nbgrader": names})
    return found


@given(changes=TAMPER)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_graded_cells_come_back_once_each(
    released: tuple[Any, str], changes: list[tuple[str, int, int, Any]]
) -> None:
    original, url = released
    right = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell
        for cell in original["cells"]
        if "nbgrader" in cell["metadata"]
    }
    notebook = tampered(copy.deepcopy(original), changes)
    own = [cell["source"] for cell in notebook["cells"] if "mine" in cell["source"]]
    found = restored(notebook, url)
    MetadataValidator().validate_nb(found)
    nbformat.validate(found)
    # It can be written, and a page can be made of it.
    nbformat.writes(found).encode()
    for cell in found.cells:
        for types in cell.get("attachments", {}).values():
            assert types and all(isinstance(data, str) for data in types.values())
    about = [cell for cell in found.cells if "nbgrader" in cell.metadata]
    names = [cell.metadata.nbgrader.grade_id for cell in about]
    assert sorted(names) == sorted(right)
    for cell in about:
        metadata = right[cell.metadata.nbgrader.grade_id]["metadata"]["nbgrader"]
        for key in ("grade", "solution", "locked", "task", "points", "schema_version"):
            assert cell.metadata.nbgrader[key] == metadata[key]
    grade_cell = next(cell for cell in about if cell.metadata.nbgrader.grade_id == "layer_norm")
    assert grade_cell.source == "".join(right["layer_norm"]["source"])
    assert grade_cell.outputs == []
    # No tag is left in any text, and nothing that was written is lost, but in a locked cell.
    for cell in found.cells:
        assert cell.cell_type == "code" or "<script" not in cell.source
    kept = " ".join(cell.source for cell in found.cells)
    for source in own:
        assert source[source.rindex("mine") :] in kept or was_locked(notebook, source)


def was_locked(notebook: Any, source: str) -> bool:
    """Tell whether a text stood in the place of the grade cell."""
    return any(
        cell["source"] == source
        and isinstance(cell["metadata"].get("nbgrader"), dict)
        and cell["metadata"]["nbgrader"].get("grade_id") == "layer_norm"
        for cell in notebook["cells"]
    )
