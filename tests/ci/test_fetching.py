"""Fetching a class: what is taken, what waits, and that one who fails costs nobody else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from autograder.ci.fetching import Fetched, Fetcher
from autograder.ci.git import Git
from autograder.ci.roster import Student
from autograder.ci.work import Work
from tests.ci.repositories import git


class Clock:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path / "work")


@pytest.fixture
def fetch(server: Path, work: Work, clock: Clock):
    def run(*names: str, attempts: int = 0) -> dict[str, str]:
        git = Git(None, "nobody", 30)
        fetcher = Fetcher(work, git, f"file://{server}", "HEAD", attempts, clock)
        students = [Student(name, f"course/{name}") for name in names]
        return {one.student.id: one.outcome for one in fetcher.fetch(students, lambda _: None)}

    return run


def result(work: Work, student: str) -> Path:
    """Leave a result of a student, as a run of the grader does."""
    path = work.graded / "results" / f"{student}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    return path


def file(work: Work, student: str) -> str:
    return (work.submissions / student / "layer_norm.py").read_text()


def test_each_outcome_is_named_and_costs_nobody_else(fetch, repository, work) -> None:
    commit = repository("ada").push({"layer_norm.py": "1"})
    repository("new")
    assert fetch("gone", "ada", "new") == {"gone": "failed", "ada": "taken", "new": "empty"}
    assert file(work, "ada") == "1"
    assert work.commit("ada").commit == commit
    assert work.students() == ["ada"]
    assert fetch("ada") == {"ada": "unchanged"}


def test_new_files_take_the_place_of_all_old_ones_and_of_their_result(
    fetch, repository, work
) -> None:
    ada = repository("ada")
    ada.push({"layer_norm.py": "1", "old.py": "1"})
    fetch("ada")
    kept = result(work, "ada")
    commit = ada.push({"layer_norm.py": "2"})
    assert fetch("ada") == {"ada": "taken"}
    assert [p.name for p in (work.submissions / "ada").iterdir()] == ["layer_norm.py"]
    assert (file(work, "ada"), work.commit("ada").commit) == ("2", commit)
    assert not kept.exists()


def test_a_commit_that_changes_no_python_file_keeps_the_result(fetch, repository, work) -> None:
    ada = repository("ada")
    ada.push({"layer_norm.py": "1"})
    fetch("ada", attempts=1)
    kept = result(work, "ada")
    commit = ada.push({"layer_norm.py": "1", "README.md": "thoughts"})
    assert fetch("ada", attempts=1) == {"ada": "unchanged"}
    assert kept.exists()
    assert work.commit("ada").commit == commit


def test_so_many_commits_a_day_are_taken_and_the_newest_the_next_day(
    fetch, repository, work, clock
) -> None:
    ada = repository("ada")
    first = ada.push({"layer_norm.py": "1"})
    assert fetch("ada", attempts=2) == {"ada": "taken"}
    second = ada.push({"layer_norm.py": "2"})
    assert fetch("ada", attempts=2) == {"ada": "taken"}
    third = ada.push({"layer_norm.py": "3"})
    assert fetch("ada", attempts=2) == {"ada": "waiting"}
    fourth = ada.push({"layer_norm.py": "4"})
    assert fetch("ada", attempts=2) == {"ada": "waiting"}
    found = work.commit("ada")
    assert len({first, second, third, fourth}) == 4
    assert (found.commit, found.waiting, file(work, "ada")) == (second, fourth, "2")
    assert fetch("ada", attempts=2) == {"ada": "waiting"}
    clock.now += timedelta(days=1)
    assert fetch("ada", attempts=2) == {"ada": "taken"}
    found = work.commit("ada")
    assert (found.commit, found.waiting, found.attempts) == (fourth, None, 1)


def test_going_back_to_what_was_graded_ends_the_waiting(fetch, repository, work) -> None:
    ada = repository("ada")
    ada.push({"layer_norm.py": "1"})
    fetch("ada", attempts=1)
    ada.push({"layer_norm.py": "2"})
    fetch("ada", attempts=1)
    commit = ada.push({"layer_norm.py": "1"})
    assert fetch("ada", attempts=1) == {"ada": "unchanged"}
    assert (work.commit("ada").commit, work.commit("ada").waiting) == (commit, None)


def test_another_repository_of_a_student_is_another_submission(
    server, fetch, repository, work, clock
) -> None:
    repository("ada").push({"layer_norm.py": "1"})
    repository("other").push({"layer_norm.py": "1"})
    fetch("ada")
    kept = result(work, "ada")
    fetcher = Fetcher(work, Git(None, "nobody", 30), f"file://{server}", "HEAD", 0, clock)
    (one,) = fetcher.fetch([Student("ada", "course/other")], lambda _: None)
    assert (one.outcome, work.commit("ada").repository) == ("taken", "course/other")
    assert not kept.exists()


def test_a_failure_keeps_what_was_there(fetch, repository, work, server) -> None:
    ada = repository("ada")
    commit = ada.push({"layer_norm.py": "1"})
    fetch("ada")
    kept = result(work, "ada")
    ada.folder.rename(server / "away")
    assert fetch("ada") == {"ada": "failed"}
    assert work.commit("ada").commit == commit
    assert (file(work, "ada"), kept.exists()) == ("1", True)


def test_what_was_interrupted_is_fetched_again(fetch, repository, work) -> None:
    repository("ada").push({"layer_norm.py": "1"})
    fetch("ada")
    # Killed after the files were removed, and before what is said of them was written.
    work.forget("ada")
    (work.folder / "incoming" / "ada").mkdir(parents=True)
    assert fetch("ada") == {"ada": "taken"}
    assert file(work, "ada") == "1"
    assert not (work.folder / "incoming").exists()


def test_what_was_taken_back_waits_no_more(fetch, repository, work) -> None:
    ada = repository("ada")
    first = ada.push({"layer_norm.py": "1"})
    fetch("ada", attempts=1)
    second = ada.push({"layer_norm.py": "2"})
    assert fetch("ada", attempts=1) == {"ada": "waiting"}
    assert work.commit("ada").waiting == second
    git(ada.folder, "update-ref", "refs/heads/main", first)
    assert fetch("ada", attempts=1) == {"ada": "unchanged"}
    assert (work.commit("ada").commit, work.commit("ada").waiting) == (first, None)


def test_what_was_not_taken_of_a_commit_is_noted_and_told(server, repository, work, clock) -> None:
    ada = repository("ada")
    ada.push({"layer_norm.py": "1"}, {"lm_head.py": "/etc/passwd"})
    fetcher = Fetcher(work, Git(None, "nobody", 30), f"file://{server}/", "HEAD", 0, clock)
    told: list[Fetched] = []
    (one,) = fetcher.fetch([Student("ada", "course/ada")], told.append)
    assert (one.outcome, one.reason) == ("taken", "lm_head.py is a link")
    assert told == [one]
    assert work.commit("ada").left_out == ["lm_head.py is a link"]
    # The same files, and one thing more that is not taken.
    ada.push({"layer_norm.py": "1"}, {"lm_head.py": "x", "other.py": "x"})
    (one,) = fetcher.fetch([Student("ada", "course/ada")], told.append)
    assert one.outcome == "unchanged"
    assert work.commit("ada").left_out == ["lm_head.py is a link", "other.py is a link"]


def test_what_cannot_be_written_is_said_and_costs_nobody_else(fetch, repository, work) -> None:
    for name in ("ada", "bob"):
        repository(name).push({"layer_norm.py": "1"})
    # A file where the folder of one student has to be.
    (work.submissions / "ada").write_text("")
    assert fetch("ada", "bob") == {"ada": "failed", "bob": "taken"}
    assert work.commit("ada") is None


def test_what_is_said_of_files_counts_where_they_are_and_are_theirs(
    fetch, repository, work
) -> None:
    repository("ada").push({"layer_norm.py": "1"})
    fetch("ada")
    said = work.folder / "commits" / "ada.json"
    (work.folder / "commits" / "bob.json").write_bytes(said.read_bytes())
    (work.submissions / "bob").mkdir()
    assert work.commit("bob") is None
    (work.submissions / "ada").rename(work.submissions / "away")
    assert work.commit("ada") is None
    assert fetch("ada") == {"ada": "taken"}


def test_without_a_limit_every_commit_of_a_day_is_taken(fetch, repository, work) -> None:
    ada = repository("ada")
    for number in range(4):
        ada.push({"layer_norm.py": str(number)})
        assert fetch("ada") == {"ada": "taken"}
    assert work.commit("ada").attempts == 4


def test_a_repository_is_below_the_server_with_one_slash_between(work, clock) -> None:
    asked: list[tuple[str, str]] = []

    class Asked(Git):
        def newest(self, url: str, ref: str) -> str | None:
            asked.append((url, ref))
            return None

    for server in ("https://example.org", "https://example.org/"):
        fetcher = Fetcher(work, Asked(None, "nobody", 30), server, "main", 0, clock)
        fetcher.fetch([Student("ada", "course/ada")], lambda _: None)
    assert asked == [("https://example.org/course/ada.git", "main")] * 2
