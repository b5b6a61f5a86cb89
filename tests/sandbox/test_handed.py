"""What is imported of a submission is what was handed over, whatever its files say by then."""

import importlib
import py_compile
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.api.loading import ComponentCode
from autograder.sandbox.child import imports_from


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator:
    """Import a module of a submission that was handed over as these sources."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))

    def importing(name: str, **sources: str) -> object:
        handed = {str(tmp_path / f"{file}.py"): text.encode() for file, text in sources.items()}
        monkeypatch.setattr(
            sys, "path_hooks", [imports_from(str(tmp_path), handed), *sys.path_hooks]
        )
        sys.path_importer_cache.pop(str(tmp_path), None)
        return importlib.import_module(name)

    yield importing
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_changed_file_is_imported_as_it_was(tmp_path: Path, imported) -> None:
    (tmp_path / "handed_one.py").write_text("VALUE = 'changed'\n")
    (tmp_path / "handed_two.py").write_text("VALUE = 'changed'\n")
    sources = {"handed_one": "from handed_two import VALUE\n", "handed_two": "VALUE = 'right'\n"}
    module = imported("handed_one", **sources)
    assert module.VALUE == "right"
    assert module.__file__ == str(tmp_path / "handed_one.py")


def test_what_lies_beside_it_compiled_is_not_taken_for_it(tmp_path: Path, imported) -> None:
    file = tmp_path / "handed_one.py"
    file.write_text("VALUE = 'other'\n")
    py_compile.compile(str(file), doraise=True)
    assert imported("handed_one", handed_one="VALUE = 'right'\n").VALUE == "right"


def test_a_module_that_the_submission_writes_is_not_imported(tmp_path: Path, imported) -> None:
    (tmp_path / "handed_later.py").write_text("VALUE = 'written'\n")
    with pytest.raises(ImportError, match=r"handed_later\.py was not handed in"):
        imported("handed_later")


def test_nothing_is_imported_out_of_an_archive_or_compiled(tmp_path: Path, imported) -> None:
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as archive:
        archive.writestr("handed_zipped.py", "VALUE = 1\n")
    (tmp_path / "handed_own.py").write_text("VALUE = 1\n")
    py_compile.compile(str(tmp_path / "handed_own.py"), cfile=str(tmp_path / "handed_own.pyc"))
    (tmp_path / "handed_own.py").unlink()
    sys.path.insert(0, str(tmp_path / "more.zip"))
    try:
        for name in ("handed_zipped", "handed_own"):
            with pytest.raises(ImportError):
                imported(name)
    finally:
        sys.path.pop(0)


def test_a_program_is_run_as_it_was_handed_over(tmp_path: Path, imported) -> None:
    for name in ("handed_one", "handed_program"):
        (tmp_path / f"{name}.py").write_text("print('changed')\n")
    imported("handed_one", handed_one="", handed_program="print('right')\n")
    code = ComponentCode(tmp_path, "handed_program", tmp_path, program=True)
    code.load()
    assert code.run((), "", {}).output == "right\n"


def test_other_folders_are_read_as_ever(tmp_path: Path) -> None:
    (tmp_path / "own2").mkdir()
    find = imports_from(str(tmp_path / "own"), {})
    for other in (tmp_path, tmp_path / "own2"):
        with pytest.raises(ImportError):
            find(str(other))
