"""A class without nbgrader: the handout's lines and the released workbook, in a plain kernel."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import load_assignment
from autograder.authoring.release import release
from tests import sources
from tests.conftest import ROOT, make_project

nbformat = pytest.importorskip("nbformat", reason="the extra nbgrader is not installed")
client = pytest.importorskip("nbclient", reason="the extra nbgrader is not installed")


@pytest.fixture
def handout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A released folder with a workbook, whose one component is right."""
    project = make_project(tmp_path / "project", "norm", ["layer_norm"])
    source = ROOT / "assignments" / "transformer_block" / "workbook.ipynb"
    book = nbformat.read(source, as_version=4)
    book["cells"] = [
        cell
        for cell in book["cells"]
        if cell["id"].startswith(("introduction", "setup", "layer_norm"))
    ]
    nbformat.write(book, project / "assignments" / "norm" / source.name)
    folder = tmp_path / "handout"
    release(load_assignment(project, "norm"), folder, lambda _: {}, with_workbook=True)
    (folder / "layer_norm.py").write_text(sources.RIGHT)
    # As in a notebook service, whose `python` is the kernel's.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return folder


def run(book: Any, folder: Path) -> str:
    """Execute a notebook in a folder and return all that its cells show."""
    resources = {"metadata": {"path": str(folder)}}
    client.NotebookClient(book, timeout=300, resources=resources).execute()
    outputs = [output for cell in book["cells"] for output in cell.get("outputs", [])]
    return "".join(
        output.get("text", "") + output.get("data", {}).get("text/html", "") for output in outputs
    )


@pytest.mark.release
def test_the_released_workbook_checks_the_files_beside_it(handout: Path) -> None:
    book = nbformat.read(handout / "workbook.ipynb", as_version=4)
    shown = run(book, handout)
    points = re.findall(r"([\d.]+) / ([\d.]+)</td>", shown)
    assert len(points) > 10 and all(earned == possible for earned, possible in points)


def test_the_handouts_lines_for_a_notebook_service_run(handout: Path, tmp_path: Path) -> None:
    text = (handout / "README.md").read_text("utf-8")
    section = text.partition("## In a notebook service")[2].partition("\n## ")[0]
    lines = "\n".join(line.strip() for line in section.splitlines() if line.startswith("    "))
    place = tmp_path / "content"
    place.mkdir()
    shutil.make_archive(str(place / "handout"), "zip", tmp_path, "handout")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(lines)])
    assert re.search(r"layer_norm .*\b(\d+) of \1 public points", run(book, place))
