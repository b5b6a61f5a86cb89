"""What students are told: at the right commit, once, and nothing but what they may see."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.ci import posting
from autograder.ci.platforms import PLATFORMS
from autograder.ci.posting import Poster
from autograder.ci.telling import Seen
from autograder.ci.web import Web, WebFault
from autograder.ci.work import Commit, Work
from autograder.errors import UsageError
from autograder.grading import store
from autograder.results import SubmissionResult
from tests.ci.conftest import TOKEN

A, B = "a" * 40, "b" * 40


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path / "work")


@pytest.fixture(autouse=True)
def words(monkeypatch) -> None:
    """What is said of a result, without the command that says it."""

    def seen(path: Path, root: Path) -> Seen:
        return Seen.model_validate_json(path.read_text())

    monkeypatch.setattr(posting, "seen_of", seen)
    monkeypatch.setattr(posting, "text_of", lambda path, root: f"points: {seen(path, root).score}")


def fetched(work: Work, student: str, commit: str = A, waiting: str | None = None) -> None:
    (work.submissions / student).mkdir(exist_ok=True)
    work.record(
        Commit(
            student=student,
            repository=f"course/{student}",
            commit=commit,
            content="",
            fetched="",
            day="2026-03-01",
            attempts=1,
            waiting=waiting,
        )
    )


def graded(work: Work, student: str, score: float | None, status: str = "graded") -> None:
    store.make_writable(work.graded)
    store.write(
        work.graded,
        SubmissionResult(
            submission=student,
            assignment="norm",
            status=status,
            score=score,
            max_score=2,
            message="secret /home/teacher" if status == "error" else "a bomb",
            sandbox="",
        ),
    )


@pytest.fixture(params=["github", "gitlab"])
def post(request, platform, work):
    """Post to each platform in turn; return what was said, and what could not be."""
    api = platform.address

    def run(token: str = TOKEN) -> tuple[bool, list[str]]:
        kind = PLATFORMS[request.param]
        poster = Poster(work, kind(api, token, waits.append), "norm", Path(), 50.0, True, 3)
        failed: list[str] = []
        done = poster.post(lambda student, said, fine: failed.append(said) if not fine else None)
        return done, failed

    waits: list[float] = []
    run.kind = request.param
    return run


def states(platform, student: str, commit: str = A) -> list[tuple[str, str]]:
    found = platform.statuses.get((f"course/{student}", commit), [])
    return [(entry["state"], entry["description"]) for entry in found]


def test_a_commit_gets_its_mark_and_what_waits_is_pending(platform, work, post) -> None:
    bad = "failure" if post.kind == "github" else "failed"
    fault = "error" if post.kind == "github" else "failed"
    for student, score, status in (
        ("ada", 2.0, "graded"),
        ("bob", 0.5, "graded"),
        ("cy", 0.0, "rejected"),
        ("dan", None, "error"),
    ):
        fetched(work, student, waiting=B if student == "ada" else None)
        graded(work, student, score, status)
    fetched(work, "eve")
    assert post() == (True, [])
    assert states(platform, "ada") == [("success", "2 of 2 points")]
    assert [state for state, _ in states(platform, "ada", B)] == ["pending"]
    assert states(platform, "bob") == [(bad, "0.5 of 2 points")]
    assert states(platform, "cy") == [(bad, "Not accepted: a bomb")]
    assert [state for state, _ in states(platform, "dan")] == [fault]
    assert states(platform, "eve") == []
    texts = {place: text for place, text in platform.comments.items() if text}
    assert "points: 2.0" in texts["course/ada", A][0]
    # Of its own fault the grader tells the instructor.
    assert ("course/dan", A) not in texts
    assert "teacher" not in str([platform.statuses, platform.comments])


def test_nothing_is_said_twice_also_when_what_was_kept_is_lost(platform, work, post) -> None:
    fetched(work, "ada")
    graded(work, "ada", 2.0)
    post()
    posts = platform.posts
    asked = len(platform.asked)
    assert posts == 2
    post()
    assert len(platform.asked) == asked
    for path in (work.folder / "posted").iterdir():
        path.unlink()
    post()
    assert (platform.posts, len(platform.asked)) == (posts, asked + 2)
    graded(work, "ada", 1.0)
    post()
    assert platform.posts == posts + 2
    graded(work, "ada", 2.0)
    post()
    # The commit's state is what holds now, whatever was said before.
    assert [words for _, words in states(platform, "ada")][-1] == "2 of 2 points"


def test_a_server_that_is_busy_is_asked_again(platform, work, post) -> None:
    fetched(work, "ada")
    graded(work, "ada", 2.0)
    platform.faults += [503, 429, 502, None, 500, None, 429, None]
    assert post() == (True, [])
    assert len(states(platform, "ada")) == 1


def test_an_answer_that_was_lost_is_not_sent_twice(platform, work, post) -> None:
    fetched(work, "ada")
    graded(work, "ada", 2.0)
    # The status is asked for, sent, and what came of it never arrives; the comment likewise.
    platform.faults += [None, "lost", None, None, "lost"]
    assert post() == (True, [])
    assert len(states(platform, "ada")) == 1
    assert len(platform.comments["course/ada", A]) == 1


def test_one_who_cannot_be_told_is_named_and_costs_nobody_else(platform, work, post) -> None:
    for student in ("ada", "bob"):
        fetched(work, student)
        graded(work, student, 2.0)
    platform.faults += [404]
    done, failed = post()
    assert not done
    assert len(failed) == 1
    assert "404" in failed[0]
    assert len(states(platform, "bob")) == 1
    assert post() == (True, [])
    assert len(states(platform, "ada")) == 1


def test_the_token_is_not_taken_elsewhere_and_not_shown(platform, work, post) -> None:
    fetched(work, "ada")
    graded(work, "ada", 2.0)
    platform.faults += [302]
    done, failed = post()
    assert not done
    assert ("GET", "/elsewhere") not in platform.asked
    done, failed = post("another-5e7a91")
    assert "401" in failed[0]
    assert "another-5e7a91" not in failed[0]


@pytest.mark.parametrize(
    "address",
    ["http://example.org", "ftp://127.0.0.1", "https://u:p@example.org", "https://", "file:///"],
)
def test_an_address_that_can_be_listened_to_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="--api"):
        Web(address, {})


def test_every_page_of_a_list_is_read(platform) -> None:
    platform.listed = [f"course/hw1-{n}" for n in range(250)]
    for kind in PLATFORMS.values():
        assert kind(platform.address, TOKEN).repositories("course") == platform.listed


def test_a_list_that_is_none_is_a_fault(platform) -> None:
    platform.listed = [None]
    platform.tokens = ("",)
    with pytest.raises(WebFault):
        Web(platform.address, {}).all("/nothing")
