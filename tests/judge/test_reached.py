"""What of a submission is taken in: the components and what they could import."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.judge import slips
from autograder.judge.intake import MAX_FILE_BYTES, MAX_FILES, Rejected
from tests.packing import make_folder, make_tar, make_zip

NAMES = ["layer_norm", "attention"]
PLAIN = {"layer_norm.py": b"import math\n", "attention.py": b"import layer_norm\n"}
LARGE = b"#" * (MAX_FILE_BYTES + 1)
# More than is taken in of what no component reaches, and less than of what one does.
DATA = b"ROWS = [" + b"1," * 300_000 + b"]\n"
Make = Callable[[dict[str, bytes]], Path]


@pytest.fixture(params=["folder", "zip", "tar.gz"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    pack = {"folder": make_folder, "zip": make_zip, "tar.gz": make_tar}[request.param]
    return lambda files: pack(tmp_path / f"s01.{request.param}", files)


def left_out(names: str) -> dict[str, list[str]]:
    return {"": [f"left out, as no component imports it: {names}"]}


@pytest.mark.parametrize(
    ("beside", "named"),
    [
        ({"dataset.py": LARGE}, "dataset.py"),
        ({"table.py": DATA}, "table.py"),
        ({f"venv/Lib/site-packages/m{n}.py": b"" for n in range(300)}, "venv/Lib/site-packages"),
        ({"my env/lib/python3.11/dist-packages/a/b/c/d/e.py": b""}, None),
        ({f"node_modules/gyp/m{n}.py": b"" for n in range(300)}, "node_modules"),
        ({"node_modules/gyp/m.py": LARGE}, "node_modules"),
    ],
)
def test_what_nobody_imports_rejects_nothing_and_is_named(
    make: Make, beside: dict[str, bytes], named: str | None
) -> None:
    found, remarks = slips.taken(make({**PLAIN, **beside}), NAMES)
    assert found == dict(sorted(PLAIN.items()))
    assert remarks == left_out(named or "my env/lib/python3.11/dist-packages")


def test_of_many_files_those_are_taken_that_are_imported_and_the_nearest(make: Make) -> None:
    many = {f"lib/m{n:03}.py": b"" for n in range(MAX_FILES + 10)}
    own = {**PLAIN, "layer_norm.py": b"from lib import m209\n"}
    found, remarks = slips.taken(make({**own, **many}), NAMES)
    assert len(found) == MAX_FILES
    assert {*own, "lib/m209.py", "lib/m000.py"} <= found.keys()
    listed = ", ".join(f"lib/m{n}.py" for n in range(197, 202))
    assert remarks == left_out(f"{listed} and 7 more")


@pytest.mark.parametrize(
    "text",
    [
        b"import table\n",
        b"def later():\n    from table import ROWS\n",
        b"import importlib\nimportlib.import_module('ta' + 'ble')\n",
        b"__import__('ta' + 'ble')\n",
        b"exec(open('ta' + 'ble' + '.py').read())\n",
        b"import sys\nsys.path.append('x')\n",
        "import ｔａｂｌｅ\n".encode(),
        b"# coding: utf-7\nimport +AHQAYQBiAGwAZQ-\n",
        b"import helper\n",
        b"from pkg.deep import thing\n",
    ],
)
def test_what_could_be_imported_is_taken_however_it_is_named(make: Make, text: bytes) -> None:
    files = {**PLAIN, "layer_norm.py": text, "table.py": DATA}
    files |= {"helper.py": b"from pkg import thing\n", "pkg/__init__.py": b"import table\n"}
    found, remarks = slips.taken(make(files), NAMES)
    assert (found, remarks) == (dict(sorted(files.items())), {})


def test_a_method_called_eval_is_no_way_to_a_file(make: Make) -> None:
    files = {**PLAIN, "layer_norm.py": b"def f(model):\n    model.eval()\n", "table.py": DATA}
    assert slips.taken(make(files), NAMES).remarks == left_out("table.py")


def test_what_is_imported_and_too_large_is_said_to_whoever_imports_it(make: Make) -> None:
    files = {**PLAIN, "attention.py": b"from dataset import ROWS\n", "dataset.py": LARGE}
    found, remarks = slips.taken(make(files), NAMES)
    assert "dataset.py" not in found
    words = f"dataset.py, which it names, is larger than {MAX_FILE_BYTES} bytes"
    assert remarks == {"attention": [words]}


def test_a_component_that_is_too_large_is_rejected(make: Make) -> None:
    with pytest.raises(Rejected, match=r"layer_norm\.py is larger than 1000000 bytes"):
        slips.taken(make({**PLAIN, "layer_norm.py": LARGE}), NAMES)


def test_a_link_is_never_followed_and_said_for_what_it_is(tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("the answer")
    place = make_folder(tmp_path / "s01", PLAIN)
    (place / "old_version.py").symlink_to(secret)
    found, remarks = slips.taken(place, NAMES)
    assert (found, remarks) == (dict(sorted(PLAIN.items())), left_out("old_version.py"))

    (place / "attention.py").write_text("import old_version\n")
    found, remarks = slips.taken(place, NAMES)
    assert found.keys() == PLAIN.keys()
    assert remarks == {"attention": ["old_version.py, which it names, is a link; hand in the file"]}

    (place / "layer_norm.py").unlink()
    (place / "layer_norm.py").symlink_to(secret)
    with pytest.raises(Rejected, match=r"layer_norm\.py is a link"):
        slips.taken(place, NAMES)


def test_of_a_whole_release_that_is_handed_in_nothing_is_said(make: Make) -> None:
    files = {**PLAIN, "conftest.py": DATA, "tests/conftest.py": DATA}
    assert slips.taken(make(files), NAMES) == slips.Taken(dict(sorted(PLAIN.items())), {})


def test_a_name_that_is_left_out_is_cut_and_nothing_a_terminal_acts_on(tmp_path: Path) -> None:
    place = make_folder(tmp_path / "s01", {**PLAIN, "x\x1b[2J" + "y" * 100 + ".py": LARGE})
    (said,) = slips.taken(place, NAMES).remarks[""]
    assert said.isprintable()
    assert len(said) < 120


def test_what_is_looked_through_has_an_end(tmp_path: Path) -> None:
    many = {f"data{n}.py": b"#" * MAX_FILE_BYTES for n in range(40)}
    with pytest.raises(Rejected, match="more than 32000000 bytes of Python"):
        slips.taken(make_folder(tmp_path / "s01", {**PLAIN, **many}), NAMES)


def test_what_was_taken_is_taken_again_as_it_is(make: Make, tmp_path: Path) -> None:
    # As on a cluster: what was taken in travels, and is taken in once more.
    files = {**PLAIN, "attention.py": b"import table\n", "table.py": DATA, "more.py": DATA}
    first = slips.taken(make(files), NAMES)
    again = slips.taken(make_zip(tmp_path / "again.zip", first.files), NAMES)
    assert again == slips.Taken(first.files, {})
