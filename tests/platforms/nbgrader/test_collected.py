"""What tells how a submission came into a course, and what then is not marked."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from autograder.platforms.nbgrader.collected import (
    COLLECT,
    EXCHANGE,
    exchange_problem,
    note,
    why_not,
)

Command = Callable[..., CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A submission that was put into a course by hand."""
    course = tmp_path / "course"
    found = course / "submitted" / "ada" / "norm"
    found.mkdir(parents=True)
    (found / "layer_norm.py").write_text("x = 1\n")
    (course / "nbgrader_config.py").write_text(f"c = get_config()\n{EXCHANGE}")
    return found


def config_of(folder: Path) -> Path:
    return folder.parents[2] / "nbgrader_config.py"


def test_what_was_put_there_by_hand_is_marked(folder: Path) -> None:
    (folder / "timestamp.txt").write_text("2026-01-01 00:00:00 UTC")
    assert why_not(folder) is None
    config_of(folder).write_text("c = get_config()\n")
    assert why_not(folder) is None


def test_what_came_from_the_exchange_is_marked_if_our_collect_noted_it(folder: Path) -> None:
    (folder / "submission_secret.txt").write_text("abc")
    said = why_not(folder) or ""
    assert "`nbgrader collect norm --update`" in said
    assert "c.ExchangeFactory" not in said
    note(folder)
    assert why_not(folder) is None
    # A teacher may mend a file; another submission in its place is another matter.
    (folder / "layer_norm.py").write_text("x = 2\n")
    assert why_not(folder) is None
    (folder / "submission_secret.txt").write_text("abd")
    assert "nbgrader's own collect has put it there" in (why_not(folder) or "")


def test_a_note_in_the_students_own_folder_counts_for_nothing(folder: Path) -> None:
    (folder / "submission_secret.txt").write_text("abc")
    note(folder)
    made = folder.with_name(".norm.collected")
    shutil.move(made, folder / made.name)
    assert why_not(folder) is not None


def test_a_course_that_exists_is_told_what_to_add(folder: Path) -> None:
    course = config_of(folder).parent
    assert exchange_problem(course) is None
    config_of(folder).write_text("c = get_config()\n# c.ExchangeFactory.collect = 'a.B'\n")
    wanted = f'c.ExchangeFactory.collect = "{COLLECT}"'
    assert wanted in (exchange_problem(course) or "")
    (folder / "submission_secret.txt").write_text("abc")
    assert wanted in (why_not(folder) or "")
    # An exchange that is no folder may know no links.
    config_of(folder).write_text("c.ExchangeFactory.collect = 'ngshare_exchange.ExchangeCollect'\n")
    assert exchange_problem(course) is None
    assert why_not(folder) is None


def test_links_and_hard_links_in_a_course_are_refused(folder: Path) -> None:
    (folder / "workbook.ipynb").symlink_to("/etc/passwd")
    assert "workbook.ipynb is a link" in (why_not(folder) or "")
    (folder / "workbook.ipynb").unlink()
    os.link(folder / "layer_norm.py", folder.parent / "other.py")
    assert "layer_norm.py has another name somewhere (a hard link)" in (why_not(folder) or "")
    # Where there is no course, intake alone decides.
    config_of(folder).unlink()
    assert why_not(folder) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT ROOT: NO FILES OF OTHERS CAN BE HAD HERE")
def test_files_of_an_account_that_does_not_grade_are_refused(folder: Path) -> None:
    os.chown(folder / "layer_norm.py", 64150, 64150)
    assert "layer_norm.py belongs to an account that does not grade" in (why_not(folder) or "")
    os.chown(folder, 64150, 64150)
    assert "its folder belongs to an account that does not grade" in (why_not(folder) or "")
    os.chown(config_of(folder).parent, 64150, 64150)
    assert why_not(folder) is None


def test_grade_names_what_it_does_not_mark_and_exits_1_or_2(
    folder: Path, autograder: Command, tmp_path: Path
) -> None:
    (folder / "submission_secret.txt").write_text("abc")
    out = ("--assignment", "transformer_block", "--out", str(tmp_path / "out"))
    done = autograder("grade", str(folder), "--one", "--assignment", "transformer_block")
    assert done.returncode == 2
    assert "norm is not marked: nbgrader's own collect" in " ".join(done.stderr.split())
    folder.rename(folder.with_name("transformer_block"))
    done = autograder("grade", str(config_of(folder).parent / "submitted"), *out)
    assert done.returncode == 2
    assert "not marked: ada: nbgrader's own collect has put it there" in done.stdout
    assert "follows links" not in done.stdout
    config_of(folder).write_text("c = get_config()\n")
    done = autograder("grade", str(config_of(folder).parent / "submitted"), *out)
    assert "nbgrader's own collect follows links to files of the person who collects" in done.stdout
