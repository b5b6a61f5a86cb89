"""Mistakes without a name, told by the change of the solution that fails as they do."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from autograder.reports.pages.statistics import Nearest
from tests.tiny import write_plain

# By student: three times, which is the solution with 3 for 2; a value that no change gives.
CLASS = {"s01": "return x + x + x", "s02": "return 20 * x - 13", "s03": "return x + x"}
TOLD = "double: fails as the solution does with `return 3 * x` in line 2"


@pytest.fixture
def graded(autograder, tmp_path: Path) -> tuple[Path, Path]:
    """Grade the class; return the project and the results."""
    root, batch, out = write_plain(tmp_path / "project"), tmp_path / "class", tmp_path / "results"
    for student, line in CLASS.items():
        (batch / student).mkdir(parents=True)
        (batch / student / "double.py").write_text(f"def double(x):\n    {line}\n")
    named = ("--assignment", "plain", "--root", root, "--out", out, "--sandbox", "none")
    done = autograder("grade", batch, *named)
    assert done.returncode == 0, done.stdout + done.stderr
    return root, out


def test_the_page_of_the_class_names_the_change_and_who_fails_so(autograder, graded) -> None:
    root, out = graded
    pages = out.parent / "pages"
    how = ("--out", pages, "--nearest", "--root", root, "--sandbox", "none")
    done = autograder("report", out, *how)
    assert done.returncode == 0, done.stdout + done.stderr
    page = html.unescape((pages / "index.html").read_text())
    told = page.partition("<h3>Without a name</h3>")[2].partition("</section>")[0]
    assert TOLD in told
    assert "students/s01.html" in told
    assert "s02" not in told
    assert "s03" not in told
    # It is code of the solution.
    for student in CLASS:
        assert "3 * x" not in html.unescape((pages / "students" / f"{student}.html").read_text())
    # Without being asked, nothing is graded for it, nor shown.
    assert autograder("report", out, "--out", pages, "--root", root).returncode == 0
    assert "Without a name" not in (pages / "index.html").read_text()
    refused = autograder("report", out, *how, "--anonymous")
    assert refused.returncode == 2
    assert "leave one out" in refused.stderr


@pytest.mark.slow
def test_explain_says_it_of_one(autograder, graded) -> None:
    root, out = graded
    for student, said in {
        "s01": "nearest: double fails as the solution does with `return 3 * x` in line 2",
        "s02": "nearest: no small change of the solution fails in the same way",
        "s03": "nearest: every mistake that fails a public check has a name",
    }.items():
        criterion = (out / "results" / f"{student}.json", "double.of_2")
        done = autograder("explain", *criterion, "--nearest", "--root", root, "--sandbox", "none")
        assert done.returncode == 0, done.stdout + done.stderr
        assert said in " ".join(done.stdout.split())


def test_of_many_changes_a_few_are_told() -> None:
    words = [f"`a -> {letter}` in line 1" for letter in "bcdefg"]
    assert Nearest("norm", words[:2], []).words.endswith("`a -> b` in line 1 or `a -> c` in line 1")
    assert Nearest("norm", words, []).words.endswith("`a -> d` in line 1 or 3 other changes")
