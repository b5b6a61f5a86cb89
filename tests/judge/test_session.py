"""The judge's line to one component: asked ahead, else live, forked anew after a death.

The child is a fake that answers in this process and notes everything that is done to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from autograder.api.answer import CheckFailed
from autograder.api.messages import Reply, Request, StudentError
from autograder.api.operations import OrdinaryAsk, Reset
from autograder.api.values import OPAQUE, Opaque
from autograder.judge.session import (
    LATE,
    Claims,
    ComponentSession,
    NotRun,
    Planned,
    Recorder,
    SameKinds,
    batches,
)
from autograder.rules.forbidden import ForbiddenUse
from autograder.sandbox.handle import ChildGone, Clock
from autograder.sandbox.wire import decode_request, encode_reply, encode_request
from tests.asking import asks

FOREVER = float("inf")
# Bytes that are under way at most.
AHEAD = 48 * 1024


def asking(number: int, size: int = 1) -> Request:
    """Return a request that can be told from others; `size` numbers go with it."""
    return Request([Reset(), asks("f", number, torch.zeros(size))])


def number_of(request: Request) -> int:
    number: int = request.ops[-1].args[1]
    return number


class Echo:
    """A solution that answers with the number it was asked about."""

    def perform(self, request: Request) -> Reply:
        return Reply(value=number_of(request))


def plan_of(requests: Sequence[Request]) -> list[Planned]:
    recorder = Recorder(Echo())
    for request in requests:
        recorder.perform(request)
    return recorder.plan


class FakeChild:
    """Answers as `answers` says; `events` notes what is posted, read and closed."""

    slowest_call_s = 0.0

    def __init__(self, answers: Answers, events: list[str]) -> None:
        self._answers, self._events = answers, events
        self._posted: deque[tuple[int, Request]] = deque()
        self._nonces = 0
        self.under_way = 0
        self.open = True

    def post(self, frame: bytes) -> int:
        at = 0

        def receive(size: int) -> bytes:
            nonlocal at
            at += size
            return frame[at - size : at]

        _, request = decode_request(receive)
        self._nonces += 1
        self._posted.append((self._nonces, request))
        self.under_way += len(frame)
        self._answers.most = max(self._answers.most, self.under_way)
        self._events.append(f"post {number_of(request)}")
        return self._nonces

    def answer(self, nonce: int) -> Reply:
        posted, request = self._posted.popleft()
        assert posted == nonce, "answers come in the order of the requests"
        self.under_way -= len(encode_request(request, 0))
        return self._answered(request)

    def answer_unless(self, nonce: int, right: bytes) -> Reply | None:
        reply = self.answer(nonce)
        return None if encode_reply(reply, 0) == right else reply

    def perform(self, request: Request) -> Reply:
        if not request.ops:
            self._events.append("load")
            return self._answers.loaded()
        return self.answer(self.post(encode_request(request, 0)))

    def _answered(self, request: Request) -> Reply:
        self._events.append(f"read {number_of(request)}")
        return self._answers.reply(request)

    def cpu_s(self) -> float:
        return 0.5 * self._nonces

    def is_large(self) -> bool:
        return self._answers.large

    def close(self) -> dict[str, Any]:
        assert self.open
        self.open = False
        self._events.append("close")
        return {}


class Answers:
    """What every child of a session answers; by default the number it is asked about."""

    def __init__(self) -> None:
        self.reply: Callable[[Request], Reply] = Echo().perform
        self.loaded: Callable[[], Reply] = Reply
        self.most = 0
        self.large = False
        self.events: list[str] = []

    def fork(self) -> FakeChild:
        self.events.append("fork")
        return FakeChild(self, self.events)

    def session(self, **more: object) -> ComponentSession:
        lines = {"layer_norm.py": 10, "attention.py": 10}
        claims = Claims(lines, {"attention.py"}, {"layer_norm"})
        given = {"claims": claims, "deaths_allowed": 2, "end_of_time": FOREVER}
        return ComponentSession(fork=self.fork, **{**given, **more})


@pytest.fixture
def answers() -> Answers:
    return Answers()


def dying(at: int, reason: str = "crashed", times: int = 100) -> Callable[[Request], Reply]:
    """Answer, but die over one question the first few times."""
    left = times

    def reply(request: Request) -> Reply:
        nonlocal left
        if number_of(request) == at and left:
            left -= 1
            raise ChildGone(reason, "the process died")
        return Echo().perform(request)

    return reply


def heard(session: ComponentSession) -> list[tuple[int, Any]]:
    """Return what was asked ahead and answered."""
    return [(number_of(planned.request), planned.reply.value) for planned in session.heard]


# All of a plan in one go.


def test_several_requests_are_posted_before_the_first_answer_is_read(answers: Answers) -> None:
    requests = [asking(number) for number in range(3)]
    session = answers.session()
    assert session.begin(plan_of(requests))
    assert answers.events == [
        *("fork", "load", "post 0", "post 1", "post 2", "read 0", "read 1", "read 2"),
    ]
    assert heard(session) == [(0, 0), (1, 1), (2, 2)]


def test_no_more_bytes_are_under_way_than_a_socket_holds(answers: Answers) -> None:
    requests = [asking(number, size=2000) for number in range(40)]
    session = answers.session()
    session.begin(plan_of(requests))
    size = len(encode_request(requests[0], 0))
    assert AHEAD - size < answers.most <= AHEAD


def test_a_request_that_is_too_large_by_itself_goes_alone(answers: Answers) -> None:
    session = answers.session()
    session.begin(plan_of([asking(0), asking(1, size=AHEAD), asking(2)]))
    assert answers.events[2:] == ["post 0", "read 0", "post 1", "read 1", "post 2", "read 2"]


def test_the_child_is_kept_from_one_criterion_to_the_next(answers: Answers) -> None:
    session = answers.session()
    for number in range(3):
        session.begin(plan_of([asking(number)]))
    session.close()
    assert answers.events.count("fork") == answers.events.count("load") == 1
    assert answers.events[-1] == "close"


def test_nothing_is_forked_before_the_first_question(answers: Answers) -> None:
    session = answers.session()
    assert not session.begin([])
    session.close()
    assert answers.events == []


def test_another_answer_is_not_the_solutions_and_all_are_heard(answers: Answers) -> None:
    answers.reply = lambda request: Reply(value=number_of(request) + (number_of(request) == 2))
    session = answers.session()
    plan = plan_of([asking(number) for number in range(5)])
    assert not session.begin(plan)
    assert heard(session) == [(0, 0), (1, 1), (2, 3), (3, 3), (4, 4)]
    # What is right is the plan's own.
    assert [mine is own for mine, own in zip(session.heard, plan, strict=True)] == [
        *(True, True, False, True, True)
    ]


def test_a_child_that_holds_much_is_ended_before_a_test_forks_another(answers: Answers) -> None:
    answers.reply = lambda request: Reply(value=-1)
    answers.large = True
    session = answers.session()
    assert not session.begin(plan_of([asking(0)]))
    assert answers.events[-1] == "close"
    session.perform(asking(0))
    forks = answers.events.count("fork")
    # Beside one that holds much nothing is asked ahead.
    assert not session.begin(plan_of([asking(1)]))
    assert answers.events.count("fork") == forks == 2
    assert heard(session) == []


def test_a_child_that_holds_much_is_ended_before_a_cost_is_measured(answers: Answers) -> None:
    session = answers.session()
    assert session.begin(plan_of([asking(0)]))
    answers.large = True
    assert not session.begin([])
    assert answers.events[-1] == "close"


def test_a_child_that_answers_rightly_is_kept_whatever_it_holds(answers: Answers) -> None:
    answers.large = True
    session = answers.session()
    assert session.begin(plan_of([asking(0)]))
    assert session.begin(plan_of([asking(1)]))
    assert answers.events.count("fork") == 1


def test_hidden_plans_are_asked_ahead_until_one_is_lost(answers: Answers) -> None:
    session = answers.session(secret=True)
    assert session.begin(plan_of([asking(0)]))
    answers.reply = lambda request: Reply(value=-1)
    assert not session.begin(plan_of([asking(1)]))
    answers.reply = Echo().perform
    assert not session.begin(plan_of([asking(2)]))
    assert "post 2" not in answers.events


def test_public_plans_are_asked_ahead_whatever_was_lost(answers: Answers) -> None:
    session = answers.session()
    answers.reply = lambda request: Reply(value=-1)
    assert not session.begin(plan_of([asking(0)]))
    answers.reply = Echo().perform
    assert session.begin(plan_of([asking(1)]))


@pytest.mark.parametrize("wrong", range(5))
def test_what_a_test_asks_is_asked_of_a_child_that_saw_nothing(
    answers: Answers, wrong: int
) -> None:
    """A component with a state is judged by its first answers."""
    counts = {}

    def fork() -> FakeChild:
        child = FakeChild(answers, answers.events)
        counts[child] = 0
        answered = child._answered

        def counted(request: Request) -> Reply:
            counts[child] += 1
            reply = answered(request)
            return Reply(value=-1) if counts[child] == wrong + 1 else reply

        child._answered = counted
        return child

    answers.fork = fork
    requests = [asking(number) for number in range(5)]
    session = answers.session()
    assert not session.begin(plan_of(requests))
    found = [session.perform(request).value for request in requests]
    assert found == [-1 if number == wrong else number for number in range(5)]
    # The next criterion's plan goes to the first child, and its test to the second.
    assert session.begin(plan_of(requests))
    assert session.perform(requests[0]).value == 0
    assert sorted(counts.values()) == [6, 10]


def test_there_is_one_new_child_for_all_tests(answers: Answers) -> None:
    answers.reply = lambda request: Reply(value=-1)
    session = answers.session()
    for number in range(4):
        assert not session.begin(plan_of([asking(number)]))
        assert session.perform(asking(number)).value == -1
    assert answers.events.count("fork") == 2
    session.close()
    assert answers.events.count("close") == 2


def test_what_a_test_does_to_an_answer_is_not_done_to_the_solutions(answers: Answers) -> None:
    answers.reply = lambda request: Reply(value=torch.zeros(2))

    class Zeros:
        def perform(self, request: Request) -> Reply:
            return Reply(value=torch.zeros(2))

    recorder = Recorder(Zeros())
    recorder.perform(asking(0))
    session = answers.session()
    assert session.begin(recorder.plan)
    session.perform(asking(0)).value.add_(1)
    assert [planned.reply.value.tolist() for planned in recorder.plan] == [[0.0, 0.0]]


def test_a_forbidden_use_is_none_of_the_solutions_answers(answers: Answers) -> None:
    use = ForbiddenUse("layer_norm", "layer_norm.py", 3)
    answers.reply = lambda request: Reply(value=number_of(request), forbidden=[use])
    session = answers.session()
    assert not session.begin(plan_of([asking(0)]))
    with pytest.raises(NotRun):
        session.perform(asking(0))
    assert session.fault == use


def test_what_cannot_be_imported_answers_nothing(answers: Answers) -> None:
    answers.loaded = lambda: Reply(error=StudentError("SyntaxError", "import"))
    session = answers.session()
    assert not session.begin(plan_of([asking(0)]))
    with pytest.raises(NotRun):
        session.perform(asking(0))
    assert session.over == "import_error"


def test_what_a_call_costs_is_asked_by_the_test_alone(answers: Answers) -> None:
    counted = Request([Reset(), asks("f", 1, torch.zeros(1), cost=True)])
    session = answers.session()
    assert not session.begin(plan_of([asking(0), counted, asking(2)]))
    assert answers.events == []
    assert [session.perform(request).seconds for request in (asking(0), counted)] == [None, 0.5]
    assert answers.events.count("fork") == 1


def test_a_test_may_ask_what_was_not_planned(answers: Answers) -> None:
    answers.reply = lambda request: Reply(value=-number_of(request))
    session = answers.session()
    assert not session.begin(plan_of([asking(0), asking(1)]))
    assert session.perform(asking(70)).value == -70
    assert heard(session) == [(0, 0), (1, -1)]


# Kinds of answers.

FLOATS = torch.zeros(2)
COMPLEX, HALF = torch.zeros(2, dtype=torch.complex64), torch.zeros(2).half()
# What the solution answers, by what is asked of it.
KINDS = {"f": 6, "g": [FLOATS, None], "keeps": None, "makes": OPAQUE}


def expecting(answer: Any) -> SameKinds:
    """Return a session that answers so, beside a solution that answers as `KINDS` says."""

    class Known:
        def perform(self, request: Request) -> Reply:
            return Reply(value=KINDS[request.ops[-1].name])

    class Theirs:
        def perform(self, request: Request) -> Reply:
            return Reply(value=answer)

    recorder = Recorder(Known())
    for name in KINDS:
        recorder.perform(Request([Reset(), asks(name, 1)]))
    recorder.perform(Request([Reset(), asks("g", of=1, verb="get")]))
    return SameKinds(Theirs(), recorder.plan)


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        ("f", OPAQUE, "the result is an object of another class, expected a whole number"),
        ("f", Opaque("a generator"), "the result is a generator, expected a whole number"),
        ("f", [1, OPAQUE], "the result holds an object of another class, expected a whole number"),
        ("f", {"a": [OPAQUE]}, "the result holds an object of another class, expected a whole"),
        ("g", OPAQUE, "expected a list of 2"),
        ("g", [COMPLEX, None], "dtype torch.complex64, expected real numbers"),
        ("g", HALF, "dtype torch.float16, expected at least float32"),
        ("g", (FLOATS, FLOATS, COMPLEX), "dtype torch.complex64"),
        ("g", [FLOATS > 0], "dtype torch.bool"),
        ("never", OPAQUE, "the result is an object of another class, expected a value"),
    ],
)
def test_an_answer_of_another_kind_fails_wherever_it_is_asked(
    name: str, answer: Any, words: str
) -> None:
    with pytest.raises(CheckFailed, match=words):
        expecting(answer).perform(Request([asks(name, 70)]))


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("f", 7),
        ("f", 7.5),
        ("f", "a text"),
        ("f", None),
        ("g", (FLOATS.double(), 3)),
        # Of nothing nothing is read: many return the object itself.
        ("keeps", OPAQUE),
        ("keeps", COMPLEX),
        ("makes", OPAQUE),
        ("never", 3),
        ("never", [COMPLEX, "a text"]),
    ],
)
def test_of_forms_the_test_itself_speaks(name: str, answer: Any) -> None:
    found = expecting(answer).perform(Request([asks(name, 70)]))
    assert found.value is answer


def test_an_attribute_is_not_the_function_of_its_name() -> None:
    session = expecting(6)
    assert session.perform(Request([asks("f", of=1, verb="get")])).value == 6
    with pytest.raises(CheckFailed, match="expected a value"):
        expecting(OPAQUE).perform(Request([asks("f", of=1, verb="get")]))


# Hidden questions.


def test_of_a_child_that_heard_hidden_questions_no_words_are_kept(answers: Answers) -> None:
    error = StudentError("ImportError", "import", "4242", "layer_norm.py", 3)
    answers.loaded = lambda: Reply(error=error)
    session = answers.session(secret=True)
    session.begin(plan_of([asking(0)]))
    assert (session.over, session.fault) == ("crashed", None)


def test_a_forbidden_use_over_a_hidden_question_is_charged_without_its_place(
    answers: Answers,
) -> None:
    use = ForbiddenUse("layer_norm", "layer_norm.py", 3)
    answers.reply = lambda request: Reply(value=number_of(request), forbidden=[use])
    session = answers.session(secret=True)
    session.begin(plan_of([asking(0)]))
    assert (session.over, session.fault) == ("forbidden", ForbiddenUse("", "", 0))


# Deaths.


@pytest.mark.parametrize("reason", ["crashed", "timeout"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_what_dies_ahead_is_asked_again_and_counts_once(
    answers: Answers, at: int, reason: str
) -> None:
    answers.reply = dying(at=at, reason=reason)
    requests = [asking(number) for number in range(3)]
    session = answers.session()
    assert not session.begin(plan_of(requests))
    assert (session.deaths, session.over) == (0, "")
    assert heard(session) == [(number, number) for number in range(at)]
    for request in requests:
        if number_of(request) == at:
            with pytest.raises(ChildGone):
                session.perform(request)
        else:
            assert session.perform(request).value == number_of(request)
    assert (session.deaths, session.over) == (1, "")


@pytest.mark.parametrize("at", [0, 1, 2])
def test_who_dies_ahead_alone_has_answered(answers: Answers, at: int) -> None:
    answers.reply = dying(at=at, times=1)
    requests = [asking(number) for number in range(3)]
    session = answers.session(deaths_allowed=1)
    assert not session.begin(plan_of(requests))
    assert [session.perform(request).value for request in requests] == [0, 1, 2]
    assert (session.deaths, session.over) == (0, "")
    answers.events.clear()
    assert session.begin(plan_of(requests))
    assert answers.events[:2] == ["fork", "load"]


def test_the_last_death_costs_no_answer_before_it(answers: Answers) -> None:
    answers.reply = dying(at=1)
    requests = [asking(number) for number in range(3)]
    session = answers.session(deaths_allowed=1)
    session.begin(plan_of(requests))
    assert session.perform(requests[0]).value == 0
    with pytest.raises(ChildGone):
        session.perform(requests[1])
    assert session.over == "crashed"
    session.begin(plan_of(requests))
    with pytest.raises(NotRun):
        session.perform(requests[0])


@pytest.mark.parametrize("reason", ["crashed", "timeout"])
def test_so_many_deaths_as_are_allowed_end_it(answers: Answers, reason: str) -> None:
    answers.reply = dying(at=0, reason=reason)
    session = answers.session(deaths_allowed=3)
    for _ in range(3):
        assert session.over == ""
        session.begin(plan_of([asking(0)]))
        with pytest.raises(ChildGone):
            session.perform(asking(0))
    assert (session.deaths, session.over) == (3, reason)
    answers.events.clear()
    with pytest.raises(NotRun):
        session.perform(asking(5))
    assert answers.events == []


def test_cases_of_one_criterion_are_one_death(answers: Answers) -> None:
    answers.reply = dying(at=0)
    session = answers.session(deaths_allowed=2)
    session.begin(plan_of([asking(0), asking(0), asking(0)]))
    for _ in range(3):
        with pytest.raises(ChildGone):
            session.perform(asking(0))
    assert (session.deaths, session.over) == (1, "")
    session.begin(plan_of([asking(0)]))
    with pytest.raises(ChildGone):
        session.perform(asking(0))
    assert (session.deaths, session.over) == (2, "crashed")


def test_a_death_over_the_import_ends_it_at_once(answers: Answers) -> None:
    def died() -> Reply:
        raise ChildGone("timeout", "no answer")

    answers.loaded = died
    session = answers.session(deaths_allowed=3)
    session.begin(())
    with pytest.raises(ChildGone):
        session.perform(asking(0))
    assert session.over == "timeout"
    with pytest.raises(NotRun):
        session.perform(asking(0))


def test_a_component_that_cannot_be_imported_is_over_with_the_reason(answers: Answers) -> None:
    error = StudentError("SyntaxError", "import", "x", "layer_norm.py", 3)
    answers.loaded = lambda: Reply(error=error)
    session = answers.session()
    session.begin(())
    with pytest.raises(NotRun):
        session.perform(asking(0))
    assert (session.over, session.fault) == ("import_error", error)


# Further questions.


def test_further_questions_go_to_the_child_that_was_asked_ahead(answers: Answers) -> None:
    session = answers.session()
    assert session.ask_more([asking(0)]) is None
    session.begin(plan_of([asking(0)]))
    answers.events.clear()
    found = session.ask_more([asking(1), asking(2)])
    assert found is not None
    assert [reply.value for reply in found] == [1, 2]
    assert "fork" not in answers.events


def test_a_death_over_further_questions_is_no_answer(answers: Answers) -> None:
    answers.reply = dying(at=1)
    session = answers.session()
    session.begin(plan_of([asking(0)]))
    assert session.ask_more([asking(1)]) is None
    assert session.ask_more([asking(2)]) is None
    assert session.deaths == 0


# Time.


def test_after_the_end_of_time_nothing_more_is_asked(answers: Answers) -> None:
    session = answers.session(end_of_time=-1.0)
    session.begin(plan_of([asking(0)]))
    with pytest.raises(NotRun):
        session.perform(asking(0))
    assert (session.over, answers.events) == (LATE, [])


def test_the_end_of_time_is_looked_at_before_every_question(answers: Answers) -> None:
    clock = Clock()

    def reply(request: Request) -> Reply:
        clock.now += 11.0
        return Echo().perform(request)

    answers.reply = reply
    session = answers.session(end_of_time=10.0, clock=clock)
    assert not session.begin(plan_of([asking(0), asking(1)]))
    assert heard(session) == [(0, 0)]
    with pytest.raises(NotRun):
        session.perform(asking(0))
    assert session.over == LATE


def test_who_hangs_until_the_end_of_time_is_told_so(answers: Answers) -> None:
    """There is no time to ask again."""
    clock = Clock()

    def reply(request: Request) -> Reply:
        clock.now += 11.0
        raise ChildGone("timeout", "no answer")

    answers.reply = reply
    session = answers.session(end_of_time=10.0, clock=clock)
    assert not session.begin(plan_of([asking(0)]))
    with pytest.raises(ChildGone):
        session.perform(asking(0))
    assert session.over == LATE
    session.begin(plan_of([asking(0)]))
    with pytest.raises(NotRun):
        session.perform(asking(0))


def test_more_time_opens_what_was_over_by_time_alone(answers: Answers) -> None:
    session = answers.session(end_of_time=-1.0)
    session.begin(())
    with pytest.raises(NotRun):
        session.perform(asking(1))
    session.extend(FOREVER)
    assert session.perform(asking(1)).value == 1
    answers.reply = dying(at=0)
    session = answers.session(deaths_allowed=1)
    session.begin(())
    with pytest.raises(ChildGone):
        session.perform(asking(0))
    session.extend(FOREVER)
    with pytest.raises(NotRun):
        session.perform(asking(1))


# What a reply claims.


def using(file: str, line: int = 3) -> Callable[[Request], Reply]:
    def reply(request: Request) -> Reply:
        use = ForbiddenUse("layer_norm", file, line)
        return replace(Echo().perform(request), forbidden=[use])

    return reply


@pytest.mark.parametrize("file", ["layer_norm.py", "helper.py", ""])
def test_a_forbidden_use_ends_it(answers: Answers, file: str) -> None:
    answers.reply = using(file)
    session = answers.session()
    session.begin(())
    with pytest.raises(NotRun):
        session.perform(asking(0))
    assert session.over == "forbidden"
    known = file == "layer_norm.py"
    expected = ForbiddenUse("layer_norm", file if known else "", 3 if known else 0)
    assert session.fault == expected


def test_a_forbidden_use_in_another_component_is_charged_there(answers: Answers) -> None:
    answers.reply = using("attention.py")
    session = answers.session()
    session.begin(())
    assert session.perform(asking(0)).value == 0
    assert (session.over, session.fault) == ("", None)


def test_a_forbidden_use_cannot_be_blamed_on_a_line_that_does_not_exist(answers: Answers) -> None:
    answers.reply = using("attention.py", line=11)
    session = answers.session()
    session.begin(())
    with pytest.raises(NotRun):
        session.perform(asking(0))
    assert session.fault == ForbiddenUse("layer_norm", "", 0)


def test_a_forbidden_use_while_importing_counts(answers: Answers) -> None:
    use = ForbiddenUse("layer_norm", "layer_norm.py", 1)
    answers.loaded = lambda: Reply(forbidden=[use])
    session = answers.session()
    session.begin(())
    with pytest.raises(NotRun):
        session.perform(asking(0))
    assert (session.over, session.fault) == ("forbidden", use)


@pytest.mark.parametrize(
    ("file", "line", "believed"),
    [
        ("layer_norm.py", 1, True),
        ("layer_norm.py", 10, True),
        ("layer_norm.py", 11, False),
        ("layer_norm.py", 0, False),
        ("layer_norm.py", 4_000_000_000, False),
        ("test_layer_norm.py", 3, False),
        ("/etc/passwd", 1, False),
        ("", 5, False),
    ],
)
def test_a_place_that_the_submission_does_not_have_is_dropped(
    answers: Answers, file: str, line: int, believed: bool
) -> None:
    error = StudentError("ValueError", "call", "text", file, line)
    answers.reply = lambda request: Reply(error=error)
    session = answers.session()
    session.begin(())
    found = session.perform(asking(0)).error
    assert found is not None
    assert (found.file, found.line) == ((file, line) if believed else ("", 0))
    assert (found.kind, found.text) == ("ValueError", "text")


def test_no_answer_is_sent_with_the_question_that_it_answers() -> None:
    def planned(name: str, given: object, answer: object) -> Planned:
        request = Request([OrdinaryAsk(f"call {name}", "call", (given,))])
        return Planned(encode_request(request, 0), request, Reply(value=answer))

    decoded = [planned("encode", "text", [7, 9]), planned("decode", [7, 9], "text")]
    assert [len(batch) for batch in batches(decoded)] == [1, 1]
    apart = [planned("f", 1, 2), planned("f", 3, 4), planned("g", None, True)]
    assert [len(batch) for batch in batches(apart)] == [3]
