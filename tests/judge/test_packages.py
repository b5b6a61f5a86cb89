"""A component that is a package: handed in whole, in part, in a folder, as the stub."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import load_assignment
from autograder.errors import UsageError
from autograder.grading.entries import discover, single
from autograder.judge.slips import taken
from tests.ordinary import COURSE, WORKS

RIGHT = WORKS / "packaged" / "other_style"


def handed_in(folder: Path, files: Mapping[str, Path]) -> Path:
    """Write a submission of these files, by relative path."""
    for name, path in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / name)
    return folder


def of(work: Path, start: str = "") -> dict[str, Path]:
    """Return the files of a work, by relative path below another folder."""
    return {start + path.relative_to(work).as_posix(): path for path in work.rglob("*.py")}


def test_a_folder_with_an_init_is_a_package() -> None:
    spec = load_assignment(COURSE, "packaged").component("ledger")
    assert spec.package
    assert spec.file == "ledger/__init__.py"
    assert not load_assignment(COURSE, "functions").component("grades").package


def test_a_package_in_a_folder_is_found_and_said(tmp_path: Path) -> None:
    found = taken(handed_in(tmp_path, of(RIGHT, "hand-in/")), ["ledger"])
    assert set(found.files) == set(of(RIGHT))
    assert found.remarks == {"": ["taken from the folder hand-in"]}


def test_a_package_is_one_submission_and_no_batch(tmp_path: Path) -> None:
    place = handed_in(tmp_path, of(RIGHT))
    with pytest.raises(UsageError, match="holds ledger, so it is one submission"):
        discover(place, "packaged", ["ledger"])
    assert single(place, "packaged", ["ledger"]).path == place


def test_an_assignment_may_be_called_as_its_package(tmp_path: Path) -> None:
    handed_in(tmp_path / "s01", of(RIGHT))
    (entry,) = discover(tmp_path, "ledger", ["ledger"]).entries
    assert entry.path == tmp_path / "s01"


@pytest.mark.slow
def test_what_is_not_handed_in_of_a_package_is_as_it_was_given(
    tmp_path: Path, autograder: Callable[..., Any]
) -> None:
    batch = tmp_path / "batch"
    part = "ledger/parts/totals.py"
    handed_in(batch / "s01", {part: RIGHT / part})
    handed_in(batch / "s02", of(WORKS / "packaged" / "stub"))
    handed_in(batch / "s03", of(RIGHT))
    (batch / "s04").mkdir()
    (batch / "s04" / "notes.py").write_text("x = 1\n")
    with (batch / "s02" / "ledger" / "money.py").open("a") as file:
        file.write("# touched\n")
    out = tmp_path / "out"
    autograder(
        *("grade", str(batch), "--assignment", "packaged", "--root", str(COURSE)),
        *("--out", str(out), "--sandbox", "tier1"),
    )
    results = {
        name: json.loads((out / "results" / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("s01", "s02", "s03", "s04")
    }
    components = {name: result["components"]["ledger"] for name, result in results.items()}
    assert [found["score"] for found in components.values()] == [1.25, 0, 10, 0]
    states = [found["status"] for found in components.values()]
    assert states == ["graded", "not_attempted", "graded", "missing"]
    assert components["s04"]["message"].startswith("there is no ledger/__init__.py")
