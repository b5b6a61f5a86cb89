"""Fetching a class: what is taken, what waits, and that one who fails costs nobody else."""

from __future__ import annotations

import gzip
import io
import tarfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from autograder.judge.intake import take_in
from autograder.platforms.ci import api
from autograder.platforms.ci.fetching import Fetcher
from autograder.platforms.ci.platforms import PLATFORMS
from autograder.platforms.ci.roster import Student
from autograder.platforms.ci.work import Work
from tests.platforms.ci.conftest import TOKEN


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


@pytest.fixture(params=PLATFORMS)
def fetch(request, platform, work: Work, clock: Clock):
    """Fetch from each platform in turn; `all_of` is what became of all, with reasons."""

    def run(*names: str, attempts: int = 0, branch: str | None = None, **more) -> dict[str, str]:
        found = PLATFORMS[request.param](platform.address, TOKEN, lambda _: None)
        fetcher = Fetcher(work, found, branch, attempts, more.get("seconds", 30), clock)
        students = [Student(name, more.get("of", f"course/{name}")) for name in names]
        run.all_of = list(fetcher.fetch(students))
        return {one.student.id: one.outcome for one in run.all_of}

    run.kind = request.param
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


def test_another_repository_of_a_student_is_another_submission(fetch, repository, work) -> None:
    repository("ada").push({"layer_norm.py": "1"})
    repository("other").push({"layer_norm.py": "1"})
    fetch("ada")
    kept = result(work, "ada")
    assert fetch("ada", of="course/other") == {"ada": "taken"}
    assert work.commit("ada").repository == "course/other"
    assert not kept.exists()


def test_a_failure_keeps_what_was_there(fetch, repository, work, platform) -> None:
    commit = repository("ada").push({"layer_norm.py": "1"})
    fetch("ada")
    kept = result(work, "ada")
    platform.repositories.clear()
    assert fetch("ada") == {"ada": "failed"}
    assert work.commit("ada").commit == commit
    assert (file(work, "ada"), kept.exists()) == ("1", True)


def test_what_was_interrupted_is_fetched_again(fetch, repository, work) -> None:
    repository("ada").push({"layer_norm.py": "1"})
    fetch("ada")
    # Killed after the files were replaced, and before what is said of them was written.
    (work.folder / "commits" / "ada.json").unlink()
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
    ada.branches["main"] = first
    assert fetch("ada", attempts=1) == {"ada": "unchanged"}
    assert (work.commit("ada").commit, work.commit("ada").waiting) == (first, None)


def test_what_cannot_be_written_is_said_and_costs_nobody_else(fetch, repository, work) -> None:
    for name in ("ada", "bob"):
        repository(name).push({"layer_norm.py": "1"})
    # A folder where the file about one student has to be.
    (work.folder / "commits" / "ada.json").mkdir()
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


def test_only_python_files_are_kept_as_they_were_pushed(fetch, repository, work) -> None:
    data = 'text = "$Id$"\r\n# version https://git-lfs.github.com/spec/v1\r\n'
    files = {"layer_norm.py": data, "own/help.py": "h = 1\n", "big.pt": "x" * 99}
    odd = {"Screenshot 12:30.png": "x", "layer_norm.py:Zone.Identifier": "x", ".github/x.py": "x"}
    repository("ada").push(files | odd, {"students.csv": "/etc/passwd", "sub": ".."})
    assert fetch("ada") == {"ada": "taken"}
    kept = {"layer_norm.py": data.encode(), "own/help.py": b"h = 1\n"}
    assert take_in(work.submissions / "ada") == kept


def test_what_intake_rejects_is_kept_so_that_grading_says_so(fetch, repository, work) -> None:
    eve = repository("eve")
    eve.push({"a.py": "1"}, {"layer_norm.py": "/etc/passwd"})
    assert fetch("eve") == {"eve": "taken"}
    (one,) = fetch.all_of
    assert one.reason.startswith("not accepted: eve-0000000/layer_norm.py is a link")
    assert [path.name for path in work.submissions.iterdir()] == ["eve.tar.gz"]
    assert fetch("eve") == {"eve": "unchanged"}
    eve.push({"layer_norm.py": "1"})
    assert fetch("eve") == {"eve": "taken"}
    assert [path.name for path in work.submissions.iterdir()] == ["eve"]
    eve.push_archive(b"no archive")
    assert fetch("eve") == {"eve": "taken"}
    assert "damaged archive" in fetch.all_of[0].reason
    assert [path.name for path in work.submissions.iterdir()] == ["eve.tar.gz"]


def test_a_bomb_costs_nobody_else(fetch, repository, work) -> None:
    made = io.BytesIO()
    with gzip.open(made, "wb") as file, tarfile.open(fileobj=file, mode="w") as archive:
        entry = tarfile.TarInfo("x/layer_norm.py")
        entry.size = 20_000_000
        archive.addfile(entry, io.BytesIO(bytes(entry.size)))
    repository("eve").push_archive(made.getvalue())
    repository("ada").push({"layer_norm.py": "1"})
    assert fetch("eve", "ada") == {"eve": "taken", "ada": "taken"}
    assert "is larger than" in fetch.all_of[0].reason


def test_a_branch_is_a_branch_and_not_a_tag_or_commit(fetch, repository, work) -> None:
    ada = repository("ada")
    first = ada.push({"layer_norm.py": "1"})
    second = ada.push({"layer_norm.py": "2"}, branch="late/work")
    assert fetch("ada", branch="late/work") == {"ada": "taken"}
    assert (work.commit("ada").commit, file(work, "ada")) == (second, "2")
    assert fetch("ada", branch=first) == {"ada": "failed"}


def test_where_an_archive_is_elsewhere_the_token_does_not_go_along(
    fetch, repository, work, platform, stranger
) -> None:
    repository("ada").push({"layer_norm.py": "1"})
    stranger.repositories = platform.repositories
    platform.elsewhere = stranger.address
    assert fetch("ada") == {"ada": "taken"}
    if fetch.kind == "github":
        assert [shown for _, shown in stranger.shown] == [""]
    # Nor where it is on the same server, as that is where it was sent.
    assert all(shown == TOKEN for path, shown in platform.shown if "codeload" not in path)


@pytest.mark.parametrize("elsewhere", ["http://example.org", "file://", "https://u:p@h"])
def test_an_archive_is_not_fetched_where_it_can_be_listened_to(
    fetch, repository, platform, elsewhere: str
) -> None:
    if fetch.kind == "gitlab":
        pytest.skip("it has no archive elsewhere")
    repository("ada").push({"layer_norm.py": "1"})
    platform.elsewhere = elsewhere
    assert fetch("ada") == {"ada": "failed"}
    assert fetch.all_of[0].reason.endswith("is redirected to an address that is not https")
    assert "SIGNED" not in fetch.all_of[0].reason


def test_an_archive_that_is_redirected_again_and_again_is_given_up(
    fetch, repository, platform
) -> None:
    repository("ada").push({"layer_norm.py": "1"})
    # The first question is which commit there is.
    platform.faults += [None, *[302] * 10]
    assert fetch("ada") == {"ada": "failed"}
    assert fetch.all_of[0].reason.endswith("is redirected more than 3 times")
    # The archive, and three times elsewhere.
    assert len(platform.asked) == 5


def test_an_archive_that_is_too_large_is_given_up_and_nothing_of_it_kept(
    fetch, repository, work, monkeypatch
) -> None:
    monkeypatch.setattr(api, "MAX_ARCHIVE", 1000)
    repository("eve").push_archive(bytes(1001))
    repository("ada").push({"layer_norm.py": "1"})
    assert fetch("eve", "ada") == {"eve": "failed", "ada": "taken"}
    assert "answers with more than 1000 bytes" in fetch.all_of[0].reason
    assert [path.name for path in work.submissions.iterdir()] == ["ada"]


def test_a_server_that_trickles_is_late(fetch, repository, platform) -> None:
    repository("ada").push({"layer_norm.py": "1"})
    platform.faults += [None, "trickles"]
    assert fetch("ada", seconds=0.3) == {"ada": "failed"}
    assert fetch.all_of[0].reason == "127.0.0.1 takes longer than 0.3 s"
    assert fetch("ada") == {"ada": "taken"}


def test_a_damaged_note_is_fetched_anew_and_costs_nobody_else(fetch, repository, work) -> None:
    for name in ("ada", "bob"):
        repository(name).push({"layer_norm.py": "1"})
    fetch("ada", "bob")
    (work.folder / "commits" / "ada.json").write_bytes(b"[" * 100_000)
    assert fetch("ada", "bob") == {"ada": "taken", "bob": "unchanged"}


def test_a_commit_that_is_none_is_a_fault(fetch, repository, platform) -> None:
    ada = repository("ada")
    ada.branches["main"] = "../../x"
    assert fetch("ada") == {"ada": "failed"}
    assert "names no commit" in fetch.all_of[0].reason
    platform.faults += ["says {}"]
    assert fetch("ada") == {"ada": "failed"}
    platform.faults += ["says [7]"]
    assert fetch("ada") == {"ada": "failed"}


def test_the_command_needs_a_token_and_says_which(autograder, tmp_path, monkeypatch) -> None:
    (tmp_path / "s.csv").write_text("student,repository\nada,course/ada\n")
    monkeypatch.delenv("GRADEFORMER_FETCH_TOKEN", raising=False)
    words = ["ci", "fetch", "--repositories", tmp_path / "s.csv", "--work", tmp_path / "w"]
    done = autograder(*words)
    assert done.returncode == 2
    assert "GRADEFORMER_FETCH_TOKEN is not set: make a token as docs/ci.md says" in done.stderr


def test_what_students_name_is_no_command_in_the_log(
    autograder, tmp_path, monkeypatch, platform, repository
) -> None:
    repository("hw-ada").push({"a.py": ""}, {"::set-env name=X::y##[group]\x1b[31m.py": "x"})
    platform.listed = ["course/hw-ada", "course/hw-::error::", "course/hw-x##[error]\x1b[2J"]
    monkeypatch.setenv("GRADEFORMER_FETCH_TOKEN", TOKEN)
    where = ["--organisation", "course", "--prefix", "hw-", "--work", tmp_path / "w"]
    done = autograder("ci", "fetch", *where, "--api", platform.address)
    assert done.returncode == 1
    assert "ada: taken (not accepted:" in done.stdout
    assert "left out: course/hw-: :error: :" in done.stdout
    assert not [part for part in ("::", "##[", "\x1b") if part in done.stdout + done.stderr]
    assert TOKEN not in done.stdout + done.stderr
