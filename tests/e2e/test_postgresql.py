"""PostgreSQL's gradebook and SQLite's after the same class; the other tests use each in turn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e import postgresql
from tests.e2e.conftest import Autograded
from tests.e2e.course import Course
from tests.e2e.gradebook import read
from tests.e2e.people import People
from tests.e2e.submissions import attack

# The other tests here take PostgreSQL's gradebook, and tests/platforms/nbgrader SQLite's.
pytestmark = pytest.mark.release


def test_both_databases_hold_the_same(autograde_with: Callable[[str], Autograded]) -> None:
    in_a_file, on_a_server = autograde_with("sqlite"), autograde_with("postgresql")
    assert on_a_server.before == in_a_file.before
    assert on_a_server.after == in_a_file.after
    assert not (on_a_server.course.folder / "gradebook.db").exists()


def test_our_own_command_marks_the_class_there_alike(
    autograde_with: Callable[[str], Autograded], collected: Course, cluster: postgresql.Cluster
) -> None:
    by_nbgrader = autograde_with("postgresql")
    cluster.run("createdb", "class")
    url = cluster.url.replace(f"/{postgresql.DATABASE}?", "/class?")
    assert url != cluster.url
    course = collected.copy("course-class", url)
    course.mark_class()
    assert read(url) == by_nbgrader.after


def test_the_attack_works_where_nothing_confines_it(
    autograde_with: Callable[[str], Autograded], cluster: postgresql.Cluster, people: People
) -> None:
    """Otherwise it would say nothing that a hostile student's attempt failed."""
    autograde_with("postgresql")
    dump = cluster.folder / "dump.sql"
    cluster.run("pg_dump", "--file", dump, postgresql.DATABASE)
    with postgresql.cluster(cluster.programs, people.base / "attacked") as other:
        # One user's file is not another's.
        copy = other.folder / "dump.sql"
        copy.write_text(dump.read_text())
        other.run("psql", "--quiet", "--file", copy, postgresql.DATABASE)
        attack(Path("/"), other.folder)
        raised = read(other.url)
    assert {mark.manual for mark in raised.marks.values()} == {1000}
