"""What students are told: at the right commit, once, and nothing but what they may see."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from pathlib import Path

import pytest

from autograder.errors import UsageError
from autograder.grading import store
from autograder.platforms.ci import api
from autograder.platforms.ci.api import Api, ApiFault
from autograder.platforms.ci.platforms import PLATFORMS, Platform
from autograder.platforms.ci.posting import Poster, status_of
from autograder.platforms.ci.work import Commit, Work
from autograder.reports.shown import About, Shown
from autograder.results import Held, SubmissionResult
from autograder.settings import Feedback
from tests.platforms.ci.conftest import TOKEN

A, B = "a" * 40, "b" * 40
ABOUT = About("Norms", Feedback(), datetime(2026, 11, 20, 12, tzinfo=UTC), "norm")


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path / "work")


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

    def run(token: str = TOKEN, comments: bool = True) -> tuple[bool, list[str]]:
        there = PLATFORMS[request.param](platform.address, token, waits.append)
        poster = Poster(work, there, ABOUT, 50.0, comments, 3)
        told = list(poster.post())
        run.said = [said for _, said, fine in told if fine]
        return all(fine for *_, fine in told), [said for _, said, fine in told if not fine]

    waits: list[float] = []
    run.kind, run.waits = request.param, waits
    return run


def each(platform, waits: list[float] | None = None) -> list[Platform]:
    wait = (lambda _: None) if waits is None else waits.append
    return [kind(platform.address, TOKEN, wait) for kind in PLATFORMS.values()]


def asking(platform, waits: list[float] | None = None) -> Api:
    wait = (lambda _: None) if waits is None else waits.append
    return Api(platform.address, {"PRIVATE-TOKEN": TOKEN}, TOKEN, wait)


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
    assert "### Norms: 2 of 2 points" in texts["course/ada", A][0]
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
    # The status is looked for; after every failure to send it, once more; the comment likewise.
    platform.faults += [503, 429, None, 502, None, 429, None, None, None, 429]
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
    [
        *(
            "http://example.org",
            "ftp://127.0.0.1",
            "https://u:p@example.org",
            "https://",
            "http://",
        ),
        *("file:///", "https://example.org?a=b", "https://example.org#a", "https://u@example.org"),
        *("http://127.0.0.1.example.org", "https://[::1", ""),
    ],
)
def test_an_address_that_can_be_listened_to_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="--api"):
        Api(address, {}, TOKEN)


def test_every_page_of_a_list_is_read(platform) -> None:
    platform.listed = [f"course/hw1-{n}" for n in range(250)]
    for page in (100, 99, 30):
        platform.page = page
        for there in each(platform):
            assert there.repositories("course") == platform.listed


def test_a_list_that_does_not_end_is_a_fault_and_nobody_is_left_out_unsaid(platform) -> None:
    platform.listed = [f"course/hw1-{n}" for n in range(101)]
    platform.page = 1
    for there in each(platform):
        with pytest.raises(ApiFault, match="has more than 100 pages"):
            there.repositories("course")


def test_no_token_goes_to_a_next_page_that_is_elsewhere(platform, stranger) -> None:
    platform.listed = ["course/hw1-ada"] * 2
    platform.page = 1
    here, platform.address = platform.address, stranger.address
    with pytest.raises(ApiFault, match="elsewhere, where no token is sent"):
        Api(here, {"PRIVATE-TOKEN": TOKEN}, TOKEN).all("/orgs/course/repos")
    assert stranger.asked == []


def test_what_repeats_the_token_is_not_used_nor_shown(platform) -> None:
    platform.listed = [f"course/hw1-{TOKEN}"]
    for there in each(platform):
        with pytest.raises(ApiFault, match="repeats the token") as caught:
            there.repositories("course")
        assert TOKEN not in str(caught.value)


def test_nested_answers_are_a_fault(platform) -> None:
    platform.faults += ["says " + "[" * 200_000]
    with pytest.raises(ApiFault, match="not JSON that can be read"):
        asking(platform).get("/orgs/a/repos")


def test_a_list_that_is_none_is_a_fault(platform) -> None:
    with pytest.raises(ApiFault, match="404 Not Found for /nothing: it is not there, or"):
        asking(platform).all("/nothing")


def test_what_was_done_and_then_called_a_failure_is_not_done_twice(platform, work, post) -> None:
    fetched(work, "ada")
    graded(work, "ada", 2.0)
    # The status is looked for, sent, and found; the comment likewise.
    platform.faults += [None, "done 502", None, None, "done 502"]
    assert post() == (True, [])
    assert len(states(platform, "ada")) == 1
    assert len(platform.comments["course/ada", A]) == 1
    assert platform.posts == 2


@pytest.mark.parametrize("code", [408, 425, 429, 500, 501, 502, 503, 504, 520])
def test_any_failure_of_the_servers_may_have_been_done(platform, work, post, code: int) -> None:
    fetched(work, "ada")
    graded(work, "ada", 2.0)
    # Also at the last attempt of several.
    platform.faults += [None, 429, None, 429, None, 429, None, 429, None, f"done {code}"]
    assert post() == (True, [])
    assert len(states(platform, "ada")) == 1
    assert len(platform.comments["course/ada", A]) == 1


def test_what_could_not_be_sent_is_not_noted_as_said(platform, work, post) -> None:
    fetched(work, "ada")
    graded(work, "ada", 2.0)
    platform.faults += [*([None, "down"] * 5), None]
    done, failed = post()
    assert (done, len(failed), states(platform, "ada")) == (False, 1, [])
    assert "cannot be reached" in failed[0]
    assert post.waits == [2.0] * 5
    assert post() == (True, [])
    assert len(states(platform, "ada")) == 1


@pytest.mark.parametrize(
    "headers, wait",
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "999999"}, 120.0),
        ({"Retry-After": "-5"}, 0.0),
        ({"Retry-After": "Fri, 31 Dec 2027 23:59:59 GMT"}, 2.0),
        ({}, 2.0),
        ({"Retry-After": "nan"}, 120.0),
        ({"Retry-After": "1e999"}, 120.0),
    ],
)
def test_a_server_says_how_long_to_wait_within_bounds(
    platform, headers: dict[str, str], wait: float
) -> None:
    waits: list[float] = []
    platform.headers = headers
    platform.faults += [429]
    asking(platform, waits).get("/orgs/course/repos")
    assert waits == [wait]


def test_without_a_word_each_wait_is_twice_as_long_and_the_fifth_failure_the_last(platform) -> None:
    waits: list[float] = []
    platform.headers = {}
    platform.faults += [503] * 6
    with pytest.raises(ApiFault, match=r"^503 Service Unavailable for /orgs/course/repos$"):
        asking(platform, waits).get("/orgs/course/repos")
    assert waits == [2.0, 4.0, 8.0, 16.0]
    assert len(platform.faults) == 1


@pytest.mark.parametrize(
    "code, headers, wait",
    [
        (403, {"Retry-After": "3"}, 3.0),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "0"}, 0.0),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"}, 120.0),
        (403, {"X-RateLimit-Remaining": "0"}, 2.0),
        (403, {"X-RateLimit-Remaining": "5"}, None),
        (403, {}, None),
        (401, {"Retry-After": "3"}, None),
        (404, {"Retry-After": "3"}, None),
        (422, {}, None),
    ],
)
def test_a_refusal_is_final_but_where_it_is_about_how_often(
    platform, code: int, headers: dict[str, str], wait: float | None
) -> None:
    waits: list[float] = []
    platform.headers = headers
    platform.faults += [code]
    web = asking(platform, waits)
    if wait is None:
        with pytest.raises(ApiFault, match=str(code)):
            web.get("/orgs/course/repos")
        assert waits == []
    else:
        assert web.get("/orgs/course/repos") == []
        assert waits == [wait]


def test_an_answer_is_json_of_a_size_that_is_read_and_a_list_where_one_is_wanted(
    platform, monkeypatch
) -> None:
    web = asking(platform)
    platform.faults += ["says <html>"]
    with pytest.raises(ApiFault, match="the answer to /orgs/a/repos is not JSON"):
        web.get("/orgs/a/repos")
    monkeypatch.setattr(api, "MAX_ANSWER", 1000)
    platform.listed = ["x" * 1000]
    with pytest.raises(ApiFault, match=r"127\.0\.0\.1 answers with more than 1000 bytes"):
        web.get("/orgs/a/repos")
    platform.faults += ["says {}"]
    with pytest.raises(ApiFault, match="/repos/a/b/statuses/c is not a list"):
        web.all("/repos/a/b/statuses/c")
    fault = ApiFault("a\x1b[31m\n" * 1000)
    assert str(fault).isprintable()
    assert len(str(fault)) == 300


def test_an_answer_that_is_packed_is_not_unpacked(platform) -> None:
    platform.faults += [429]
    platform.headers = {"Content-Encoding": "gzip"}
    with pytest.raises(ApiFault, match="packs its answer"):
        asking(platform).get("/orgs/course/repos")


def test_no_request_waits_for_ever(platform, work, post, monkeypatch) -> None:
    monkeypatch.setattr(api, "SECONDS", 0.3)
    fetched(work, "ada")
    graded(work, "ada", 2.0)
    platform.faults += ["trickles"]
    assert post() == (False, ["127.0.0.1 takes longer than 0.3 s"])


def test_notes_that_are_damaged_cost_nobody_else(platform, work, post) -> None:
    for student in ("ada", "bob", "cy"):
        fetched(work, student)
        graded(work, student, 2.0)
    (work.folder / "posted" / "ada.json").write_text('{"told": {"x": "y"}}')
    (work.folder / "posted" / "bob.json").mkdir()
    (work.folder / "posted" / "cy.json").write_bytes(b"\xff[" * 1000)
    done, failed = post()
    assert (done, len(failed)) == (False, 1)
    assert len(states(platform, "ada")) == len(states(platform, "cy")) == 1


def test_entries_that_are_none_are_a_fault_and_a_missing_text_is_empty(platform, work) -> None:
    platform.comments["course/ada", A] = [None]
    for there in each(platform):
        assert not there.has_comment("course/ada", A, "x")
    platform.statuses["course/ada", A] = [{"context": "x", "name": "x", "state": "pending"}]
    for there in each(platform):
        assert there.has_status("course/ada", A, "x", "pending", "")
        assert not there.has_status("course/ada", A, "x", "pending", "text")
        assert not there.has_status("course/ada", A, "y", "pending", "")


def test_entries_that_are_no_objects_are_a_fault(platform) -> None:
    for there in each(platform):
        platform.faults += ["says [7]"]
        with pytest.raises(ApiFault, match="an entry without"):
            there.repositories("course")


def test_a_group_in_a_group_is_one_name(platform) -> None:
    platform.listed = ["course/2026/hw1-s01"]
    for there in each(platform):
        assert there.repositories("course/2026") == platform.listed


def test_the_state_that_counts_is_the_newest_of_that_name(platform) -> None:
    for there in each(platform):
        platform.statuses.clear()
        for context, state in (("a", "failure"), ("a", "success"), ("b", "pending")):
            there.set_status("course/ada", A, context, state, f"{context} {state}")
        assert there.has_status("course/ada", A, "a", "success", "a success")
        assert not there.has_status("course/ada", A, "a", "failure", "a failure")
        assert not there.has_status("course/ada", A, "a", "failure", "a success")


def test_a_description_is_cut_and_known_again(platform, work, post) -> None:
    fetched(work, "ada")
    graded(work, "ada", 0.0, "rejected")
    path = store.path_of(work.graded, "ada")
    found = SubmissionResult.model_validate_json(path.read_text())
    store.write(work.graded, found.model_copy(update={"message": "b" * 290}))
    post()
    ((_, words),) = states(platform, "ada")
    assert (len(words), words[:18], words[-1]) == (140, "Not accepted: bbbb", "…")
    for kept in (work.folder / "posted").iterdir():
        kept.unlink()
    posts = platform.posts
    post()
    assert platform.posts == posts
    # Another text that is cut as well is another.
    store.write(work.graded, found.model_copy(update={"message": "c" * 290}))
    post()
    assert states(platform, "ada")[-1][1].startswith("Not accepted: ccc")


def test_a_state_that_has_another_name_there_is_known_again(platform, work, post) -> None:
    for student, score, status in (("bob", 0.5, "graded"), ("dan", None, "error")):
        fetched(work, student)
        graded(work, student, score, status)
    post()
    for kept in (work.folder / "posted").iterdir():
        kept.unlink()
    posts = platform.posts
    post()
    assert platform.posts == posts


def test_what_is_said_is_listed_and_nothing_else(platform, work, post) -> None:
    fetched(work, "ada", waiting=B)
    graded(work, "ada", 2.0)
    post()
    assert post.said == [
        f"2 of 2 points (success) at {A[:10]}",
        f"comment at {A[:10]}",
        f"waiting: {B[:10]}",
    ]
    post()
    assert post.said == []
    for kept in (work.folder / "posted").iterdir():
        kept.unlink()
    post()
    assert post.said == []


def test_of_older_commits_nothing_is_kept_and_of_other_assignments_nothing_said(
    platform, work, post
) -> None:
    fetched(work, "ada")
    graded(work, "ada", 2.0)
    post()
    fetched(work, "ada", commit=B)
    post()
    assert {key.split()[1] for key in work.posted("ada")} == {B}
    path = store.path_of(work.graded, "ada")
    found = SubmissionResult.model_validate_json(path.read_text())
    store.write(work.graded, found.model_copy(update={"assignment": "other", "score": 1.0}))
    posts = platform.posts
    post()
    assert platform.posts == posts


def test_comments_may_be_left_out(platform, work, post) -> None:
    fetched(work, "ada")
    graded(work, "ada", 2.0)
    assert post(comments=False) == (True, [])
    assert len(states(platform, "ada")) == 1
    assert not any(platform.comments.values())


def test_a_comment_on_another_mark_is_another_comment(platform, work, post) -> None:
    fetched(work, "ada")
    for score in (1.0, 2.0):
        graded(work, "ada", score)
        post()
    texts = platform.comments["course/ada", A]
    assert [text.split("\n")[2] for text in texts] == [
        f"### Norms: {score} of 2 points" for score in (1, 2)
    ]
    assert len({text.split("\n")[0] for text in texts}) == 2
    assert all(text.startswith("<!-- gradeformer/norm ") for text in texts)


def test_a_comment_that_is_too_long_for_a_platform_is_cut(platform, work, post) -> None:
    fetched(work, "ada")
    graded(work, "ada", 2.0)
    path = store.path_of(work.graded, "ada")
    found = SubmissionResult.model_validate_json(path.read_text())
    one = {"title": "x" * 300, "source": "", "outcome": "failed", "visibility": "public"}
    criterion = {**one, "id": "norm.a", "score": 0, "max_score": 2, "passed": False}
    part = {"score": 0, "max_score": 2, "status": "graded", "criteria": [criterion] * 300}
    most = {**found.model_dump(by_alias=True), "score": 0, "components": {"norm": part}}
    store.write(work.graded, SubmissionResult.model_validate(most))
    post()
    (text,) = platform.comments["course/ada", A]
    assert text.endswith("\n\n(cut off here)\n")
    assert 60_000 < len(text) < 60_200


def test_of_hidden_criteria_no_more_is_said_than_the_assignment_shows(work, platform) -> None:
    part = {"score": 1.0, "max_score": 2.0, "status": "graded"}
    one = {"title": "SECRET", "source": "", "outcome": "failed", "visibility": "hidden"}
    hidden = {**one, "id": "norm.a", "score": 1, "max_score": 2, "passed": False}
    found = outcome(1.0, 2.0, components={"norm": {**part, "criteria": [hidden]}})
    fetched(work, "s01")
    store.make_writable(work.graded)
    store.write(work.graded, found)
    for there in each(platform):
        about = dataclasses.replace(ABOUT, feedback=Feedback(hidden="nothing"))
        assert all(told.done for told in Poster(work, there, about, 0.0, True, 0).post())
    assert states(platform, "s01")[0][1] == "0 of 0 points; hidden checks are not shown"
    assert "SECRET" not in str(platform.comments)


def outcome(score: float | None, most: float = 100.0, **more: object) -> SubmissionResult:
    about = {"submission": "s01", "assignment": "norm", "status": "graded", "sandbox": ""}
    return SubmissionResult.model_validate({**about, "score": score, "max_score": most, **more})


def seen(score: float, most: float, **more: object) -> Shown:
    about = {"submission": "s01", "assignment": "norm", "status": "graded"}
    return Shown.model_validate({**about, "score": score, "max_score": most, **more})


@pytest.mark.parametrize(
    "score, most, under, state, words",
    [
        (50.0, 100.0, 50.0, "success", "50 of 100 points"),
        (49.99, 100.0, 50.0, "failure", "49.99 of 100 points"),
        (0.1 + 0.2, 0.6, 50.0, "success", "0.3 of 0.6 points"),
        (0.7 * 3, 7.0, 30.0, "success", "2.1 of 7 points"),
        (0.0, 100.0, 0.0, "success", "0 of 100 points"),
        (1234.5, 2000.0, 50.0, "success", "1234.5 of 2000 points"),
    ],
)
def test_a_state_is_a_failure_below_a_percentage_and_not_at_it(
    score: float, most: float, under: float, state: str, words: str
) -> None:
    assert status_of(outcome(score, most), seen(score, most), under) == (state, words)


def test_a_state_says_what_is_withheld_and_what_is_empty() -> None:
    part_of_it = seen(1, 2, withheld="some")
    assert status_of(outcome(1), part_of_it, 0)[1] == "1 of 2 points; hidden checks are not shown"
    part = {"score": 0, "max_score": 2, "status": "missing", "criteria": []}
    found = outcome(0, 2, components={"norm": part})
    words = "0 of 2 points: there is no file of norm in it"
    assert status_of(found, seen(0, 2), 0) == ("failure", words)
    bad = outcome(0, status="rejected", message="a\x1b[31m\nbomb")
    assert status_of(bad, seen(0, 2), 0) == ("failure", "Not accepted: a [31m bomb")
    assert status_of(outcome(None, status="error"), None, 0)[0] == "error"


def test_what_is_held_for_review_is_pending() -> None:
    part = {"score": 0, "max_score": 2, "status": "forbidden", "criteria": []}
    place = {"component": "norm", "file": "norm.py", "line": 3, "what": "imports ctypes"}
    found = outcome(1, 4, components={"norm": part, "head": {**part, "status": "graded"}})
    found = found.model_copy(update={"review": [Held.model_validate(place)]})
    words = "1 of 4 points; held for review: norm"
    assert status_of(found, seen(1, 4), 100) == ("pending", words)
