"""Ordinary tests in a handout: a student's own pytest says what counts and what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.assignment import load_assignment
from autograder.authoring.release import release
from tests.judge.test_ordinary import PUBLIC, SOLUTION, STUB, write

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def handout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A handout of ordinary tests, with a helper, data and a conftest.py of the suite's own."""
    root = tmp_path_factory.mktemp("course")
    tests = write(root).public / "tests"
    (tests / "conftest.py").write_text(
        "import pytest\n\n\n@pytest.fixture\ndef text():\n    return 'a bb'\n"
    )
    (tests / "words.txt").write_text("a bb\n")
    (tests / "data").mkdir()
    (tests / "data" / "more.txt").write_text("more\n")
    (tests / "test_words.py").write_text(
        PUBLIC + "\n\ndef test_fixture(text):\n    assert longest(text) == 'bb'\n"
    )
    (root / "assignments" / "plain" / "README.md").write_text("# Plain\n")
    out = root / "handout"
    release(load_assignment(root, "plain"), out, lambda assignment: {})
    return out


def run(handout: Path, tmp_path: Path, source: str | None, *more: str) -> str:
    """Run pytest in a copy of the handout with a text as the student's file."""
    folder = tmp_path / "handout"
    copied = [path for path in handout.rglob("*") if path.is_file()]
    for path in copied:
        target = folder / path.relative_to(handout)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    (folder / "words.py").unlink()
    if source is not None:
        (folder / "words.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *more]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


def test_every_file_of_the_suite_is_in_the_handout(handout: Path) -> None:
    names = {path.relative_to(handout).as_posix() for path in handout.rglob("*") if path.is_file()}
    assert names >= {"conftest.py", "tests/conftest.py", "tests/words.txt", "tests/data/more.txt"}


def test_right_work_has_all_public_points(handout: Path, tmp_path: Path) -> None:
    said = run(handout, tmp_path, SOLUTION)
    assert "words                  7.2 of 7.2 public points (worth 10 in all)" in said


def test_what_fails_is_said_in_pytests_words_with_its_place(handout: Path, tmp_path: Path) -> None:
    wrong = SOLUTION.replace("max(found, key=len)", "found[0]")
    said = run(handout, tmp_path, wrong)
    assert "assert 'a' == 'bb'" in said
    assert "in tests/test_words.py, line 8" in said
    assert "- bb" in said
    assert "+ a" in said
    assert "proxies" not in said


def test_tests_of_a_students_own_count_nothing(handout: Path, tmp_path: Path) -> None:
    (tmp_path / "handout" / "tests").mkdir(parents=True)
    own = tmp_path / "handout" / "tests" / "test_mine.py"
    own.write_text("def test_mine():\n    assert False\n")
    said = run(handout, tmp_path, SOLUTION)
    assert "7.2 of 7.2 public points" in said
    assert "1 failed" in said


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (None, "missing: there is no words.py"),
        ("def longest(", "SyntaxError (words.py, line 1)"),
        ("def longest(text):\n    return text\n", "words.py has no `Empty`"),
        ("import nowhere\n", "No module named 'nowhere'"),
    ],
)
def test_a_file_that_cannot_be_imported_is_explained(
    source: str | None, words: str, handout: Path, tmp_path: Path
) -> None:
    said = run(handout, tmp_path, source)
    assert "words                  " in said and words in said
    assert "Traceback" not in said


def test_what_is_not_written_yet_is_not_attempted(handout: Path, tmp_path: Path) -> None:
    assert "words                  not attempted (worth 10)" in run(handout, tmp_path, STUB)


def test_tests_that_are_a_package_import_a_component_as_a_module_beside_them(
    handout: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "handout"
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "__init__.py").write_text("")
    (folder / "tests" / "test_mine.py").write_text(
        "from . import words\nfrom .words import longest\n\n\n"
        "def test_mine():\n    assert longest is words.longest\n    assert longest('a') == 'a'\n"
    )
    said = run(handout, tmp_path, SOLUTION, "tests/test_mine.py")
    assert "1 passed" in said


def test_an_endless_call_is_stopped(handout: Path, tmp_path: Path) -> None:
    endless = SOLUTION.replace("    found = text.split()\n", "    while True:\n        pass\n")
    assert "endless loop" in run(handout, tmp_path, endless, "--longest", "0.5")
