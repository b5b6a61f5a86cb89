"""A class as it really comes: each entry with the id, mark and remark that it should have."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

from autograder.errors import UsageError
from autograder.grading.entries import discover
from autograder.judge import slips
from autograder.judge.intake import Rejected, take_in
from autograder.reports.roster import read_roster
from tests.packing import make_folder, make_tar, make_zip
from tests.sources import RIGHT, WRONG
from tests.tiny import write_tiny

WORK, OTHER = RIGHT.encode(), WRONG.encode()
NAME = "layer_norm.py"
NAMES = ["layer_norm", "attention"]


def packed(files: dict[str, bytes]) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return whole.getvalue()


def notebook(*cells: str | list[str], kind: str = "code") -> bytes:
    found = [{"cell_type": kind, "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    return json.dumps({"cells": found, "nbformat": 4, "metadata": {}}).encode()


MAGIC = f"%%writefile {NAME}\n{RIGHT}"
COMMENT = ["\n", f"# {NAME}\n", *RIGHT.splitlines(keepends=True)]
# What is handed in; what is taken for layer_norm, and what is said.
SLIPS = {
    "right": ({NAME: WORK}, WORK, ""),
    "beside": ({NAME: WORK, "layer_norm (1).py": OTHER}, WORK, ""),
    "copy": ({"layer_norm (1).py": WORK}, WORK, "layer_norm.py: taken from layer_norm (1).py"),
    "second": ({"layer_norm-1.py": WORK}, WORK, "layer_norm.py: taken from layer_norm-1.py"),
    "case": ({"Layer_Norm.py": WORK}, WORK, "layer_norm.py: taken from Layer_Norm.py"),
    "two": (
        {"Layer_Norm.py": WORK, "layer_norm (1).py": WORK},
        None,
        "it could be Layer_Norm.py or layer_norm (1).py: name one of them layer_norm.py",
    ),
    "inner": ({"hw.zip": packed({NAME: WORK})}, WORK, "taken from hw.zip, packed inside"),
    "inner-top": ({"a/hw.zip": packed({f"hw/{NAME}": WORK})}, WORK, "taken from a/hw.zip"),
    "inner-two": ({"a.zip": packed({NAME: WORK}), "b.zip": packed({NAME: WORK})}, None, "a.zip"),
    "inner-inner": ({"a.zip": packed({"b.zip": packed({NAME: WORK})})}, None, "packed inside"),
    "folder": (
        {f"hw 1/src/{NAME}": WORK, "hw 1/x.txt": b""},
        WORK,
        "taken from the folder hw 1/src",
    ),
    "folders": ({f"old/{NAME}": WORK, f"new/{NAME}": OTHER}, None, "handed in: new/layer_norm.py"),
    "folder-case": ({"old/Layer_norm.py": WORK, f"new/{NAME}": OTHER}, None, "handed in: new/"),
    "magic": ({"hw.ipynb": notebook("x = 1", MAGIC)}, WORK, "taken from a cell of hw.ipynb"),
    "comment": ({"hw.ipynb": notebook(COMMENT)}, WORK, "taken from a cell of hw.ipynb"),
    "cells": ({"hw.ipynb": notebook(MAGIC, COMMENT)}, None, "it could be a cell of hw.ipynb or a"),
    "cell-file": ({"hw.ipynb": notebook(MAGIC), "Layer_norm.py": OTHER}, None, "it could be Layer"),
    "text-cell": ({"hw.ipynb": notebook(MAGIC, kind="markdown")}, None, "handed in: hw.ipynb"),
    "no-cells": ({"hw.ipynb": notebook(RIGHT)}, None, "handed in: hw.ipynb"),
    "no-notebook": ({"hw.ipynb": b"[" * 100_000}, None, "handed in: hw.ipynb"),
    "odd-cells": ({"hw.ipynb": b'{"cells": [{"source": [1]}, 7]}'}, None, "handed in: hw.ipynb"),
    "near": ({"layernorm.py": WORK}, None, "the nearest name handed in is layernorm.py"),
    "text": ({"layer_norm.txt": WORK}, None, "the nearest name handed in is layer_norm.txt"),
    "report": ({"report.pdf": b"", "x.docx": b""}, None, "handed in: report.pdf, x.docx"),
    "nothing": ({}, None, ""),
}


@pytest.mark.parametrize(("files", "right", "said"), SLIPS.values(), ids=SLIPS)
@pytest.mark.parametrize("suffix", ["", ".zip", ".tar.gz"])
def test_what_can_only_be_meant_one_way_is_taken(
    tmp_path: Path, files: dict[str, bytes], right: bytes | None, said: str, suffix: str
) -> None:
    make = {"": make_folder, ".zip": make_zip, ".tar.gz": make_tar}[suffix]
    # A name beside them, or an archive's one top folder would be taken off in silence.
    (tmp_path / "s").mkdir()
    found, remarks = slips.taken(make(tmp_path / f"s{suffix}", files), ["layer_norm"])
    words = [f"{name}.py: {line}" if name else line for name, of in remarks.items() for line in of]
    if suffix and "/" in next(iter(files), ""):
        assert (NAME in found) == (right is not None)
    else:
        assert any(said in line for line in words) if said else words == []
    if right is None:
        assert NAME not in found
    else:
        assert found[NAME].strip().endswith(right.strip())


def test_other_components_are_nobodys_nearest_name_and_stay_as_they_are(tmp_path: Path) -> None:
    place = make_folder(tmp_path / "s", {"attention.py": b"x = 1\n", "utils.py": b""})
    found, remarks = slips.taken(place, ["multi_head_attention", "attention"])
    assert (found, remarks) == (take_in(place), {})


def test_what_is_hostile_in_an_archive_inside_is_rejected_as_it_is_outside(tmp_path: Path) -> None:
    place = make_zip(tmp_path / "s.zip", {"hw.zip": packed({"../x.py": b""})})
    with pytest.raises(Rejected, match="leads out"):
        slips.taken(place, NAMES)
    place = make_zip(tmp_path / "t.zip", {"hw.zip": b"PK\3\4 no zip"})
    with pytest.raises(Rejected, match=r"hw\.zip is a damaged archive"):
        slips.taken(place, NAMES)


def test_what_nobody_grades_may_be_damaged_or_large(tmp_path: Path) -> None:
    place = tmp_path / "s"
    make_folder(place, {"attention.py": b"x", "big.ipynb": b" " * 9_000_000})
    (place / "link.ipynb").symlink_to("/etc/passwd")
    assert slips.taken(place, NAMES).files == {"attention.py": b"x"}


# A whole class, by the command.

ROSTER = (
    "Student,ID,SIS Login ID,Section\n"
    '"Lee, Kim",4711,kim.lee,A\n"Jürgen Müller",4712,jmueller,A\n"Adams, Ada",4713,ada,B\n'
)
LATIN = RIGHT.replace("import torch\n", 'import torch\nWHO = "Müller"\n', 1).encode("latin-1")


def graded(autograder, folder: Path, batch: Path, *more: str | Path) -> tuple[dict, str]:
    project = write_tiny(folder / "project")
    command = ("grade", batch, "--assignment", "norm", "--root", project, "--out", folder / "out")
    done = autograder(*command, *more)
    assert done.returncode == 0, done.stdout + done.stderr
    with (folder / "out" / "results.csv").open(newline="") as file:
        rows = {row["submission"]: row for row in csv.DictReader(file)}
    return rows, done.stdout


def test_a_messy_class(tmp_path: Path, autograder) -> None:
    batch = tmp_path / "batch"
    for name in ("copy", "folder", "inner", "magic", "near", "nothing", "two"):
        (batch / name).mkdir(parents=True)
        make_folder(batch / name, SLIPS[name][0])
    make_zip(batch / "case.zip", SLIPS["case"][0])
    make_folder(batch / "latin-1", {NAME: LATIN})
    make_folder(
        batch / "Müller Jürgen_12345_assignsubmission_file_", {"hw.zip": packed({NAME: WORK})}
    )
    (batch / "class.csv").write_text(ROSTER)
    rows, said = graded(autograder, tmp_path, batch)
    assert {name: (row["score"], row["remarks"]) for name, row in rows.items()} == {
        "Müller Jürgen": ("2", "taken from hw.zip, packed inside"),
        "case": ("2", "layer_norm.py: taken from Layer_Norm.py: call it layer_norm.py"),
        "copy": ("2", "layer_norm.py: taken from layer_norm (1).py: call it layer_norm.py"),
        "folder": ("2", "taken from the folder hw 1/src"),
        "inner": ("2", "taken from hw.zip, packed inside"),
        "latin-1": ("0", "layer_norm import_error"),
        "magic": ("2", "layer_norm.py: taken from a cell of hw.ipynb"),
        "near": (
            "0",
            "empty; layer_norm.py: the nearest name handed in is layernorm.py; "
            "handed in: layernorm.py",
        ),
        "nothing": ("0", "empty"),
        "two": (
            "0",
            "empty; layer_norm.py: it could be Layer_Norm.py or layer_norm (1).py: name one of "
            "them layer_norm.py; handed in: Layer_Norm.py, layer_norm (1).py",
        ),
    }
    assert "ignored, no student's work: class.csv" in said
    result = json.loads((tmp_path / "out" / "results" / "near.json").read_bytes())
    assert result["components"]["layer_norm"]["message"].splitlines() == [
        "there is no layer_norm.py",
        "the nearest name handed in is layernorm.py",
        "handed in: layernorm.py",
    ]


def test_a_download_of_canvas_gets_its_ids_by_the_roster(tmp_path: Path, autograder) -> None:
    batch = tmp_path / "batch"
    batch.mkdir()
    make_zip(batch / "leekim_LATE_4711_99_hw.zip", {NAME: WORK})
    make_zip(batch / "mullerjurgen_4712_100_hw-2.zip", {NAME: OTHER})
    make_zip(batch / "stranger_9_101_hw.zip", {})
    (tmp_path / "class.csv").write_text(ROSTER)
    rows, _ = graded(autograder, tmp_path, batch, "--roster", tmp_path / "class.csv")
    assert {name: (row["score"], row["remarks"]) for name, row in rows.items()} == {
        "kim.lee": ("2", "late"),
        "jmueller": ("0", ""),
        "stranger": ("0", "empty"),
    }
    result = tmp_path / "out" / "results" / "kim.lee.json"
    assert json.loads(result.read_bytes())["late"] is True
    for form in ("json", "markdown", "gradescope"):
        written = ("--root", tmp_path / "project", "--out", tmp_path / form)
        assert autograder("export", form, result, *written).returncode == 0
        assert "late" in (tmp_path / form).read_text(), form


def listed(batch: Path, **more) -> dict[str, str]:
    return {entry.id: entry.path.name for entry in discover(batch, "norm", NAMES, **more).entries}


def test_ids_by_the_form_of_a_name(tmp_path: Path) -> None:
    names = ["leekim_4711_99_a.zip", "leekim_4712_98_a.zip", "adamsada_LATE_4713_97_a-1.zip"]
    for name in names:
        make_zip(tmp_path / name, {})
    entries = discover(tmp_path, "norm", NAMES).entries
    assert [(entry.id, entry.late) for entry in entries] == [
        ("adamsada", True),
        ("leekim_4711", False),
        ("leekim_4712", False),
    ]
    # Of a class that is no such download names stay, though one looks like it.
    make_zip(tmp_path / "s01.zip", {})
    assert "leekim_4711_99_a" in listed(tmp_path)


def test_two_files_of_one_person_are_named_and_not_guessed_from(tmp_path: Path) -> None:
    for name in ("leekim_4711_99_a.zip", "leekim_4711_98_b.zip"):
        make_zip(tmp_path / name, {})
    found = discover(tmp_path, "norm", NAMES)
    assert (found.entries, list(found.doubled)) == ([], ["leekim"])


GRADESCOPE = """\
---
submission_1:
  :submitters:
  - :name: Ada Adams
    :sid: '4713'
    :email: ada@uni.test
  :created_at: 2026-03-01 12:00:00.000000000 Z
submission_2:
  :submitters:
  - :name: Kim Lee
    :sid: ''
    :email: kim@uni.test
submission_3:
  :submitters:
  - :name: A
    :email: a@uni.test
  - :name: B
    :email: b@uni.test
"""


def test_gradescope_says_who_is_who(tmp_path: Path) -> None:
    for number in (1, 2, 3, 4):
        make_folder(tmp_path / f"submission_{number}", {NAME: WORK})
    (tmp_path / "submission_metadata.yml").write_text(GRADESCOPE)
    # Of a group, and of one that is not listed, nobody is guessed.
    groups = {"submission_3", "submission_4"}
    assert listed(tmp_path).keys() == {"ada@uni.test", "kim@uni.test"} | groups
    (tmp_path.parent / "class.csv").write_text(ROSTER)
    known = read_roster(tmp_path.parent / "class.csv").id_of
    assert listed(tmp_path, known=known).keys() == {"ada", "kim@uni.test"} | groups


def test_a_person_is_found_by_name_if_there_is_one_of_that_name(tmp_path: Path) -> None:
    for name in ("Müller Jürgen_1_assignsubmission_file_", "Kim Lee_2_assignsubmission_file_"):
        make_folder(tmp_path / name, {NAME: WORK})
    roster = tmp_path.parent / "class.csv"
    roster.write_text(ROSTER + '"Lee, Kim",4719,kim2,A\n')
    assert listed(tmp_path, known=read_roster(roster).id_of).keys() == {"jmueller", "Kim Lee"}


def test_a_class_that_is_wrapped_once_more_is_refused_with_its_folder(
    tmp_path: Path, autograder
) -> None:
    inner = tmp_path / "batch" / "download"
    for name in ("ada", "kim"):
        make_folder(inner / name, {NAME: WORK})
    with pytest.raises(UsageError, match=r"only download, and .* ada among them: give .*/dow"):
        discover(tmp_path / "batch", "norm", NAMES)
    project = write_tiny(tmp_path / "project")
    command = ("grade", tmp_path / "batch", "--assignment", "norm", "--root", project)
    assert autograder(*command, "--out", tmp_path / "out").returncode == 2
    # One student's, as nbgrader has it, or with a folder too many.
    make_folder(tmp_path / "one" / "ada", {f"norm/{NAME}": WORK, f"old/{NAME}": WORK})
    assert listed(tmp_path / "one") == {"ada": "norm"}
    make_folder(tmp_path / "two" / "ada", {f"hw/{NAME}": WORK, "data/x.csv": b""})
    assert listed(tmp_path / "two") == {"ada": "ada"}
