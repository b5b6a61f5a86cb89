"""Wrong variants of a component, asked what the student was asked. Judge's side only."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from autograder.api.likeness import Comparison, Slack, same_reply
from autograder.api.messages import Reply, Request
from autograder.api.values import Unsendable
from autograder.assignment import Assignment
from autograder.diagnosis.table import RIGHT, Known, Names, Question
from autograder.judge.misconceptions import file_of
from autograder.judge.reference import import_apart
from autograder.sandbox.wire import encode_reply

# A mistake that computes longer, in seconds, has no end: of it that is the answer.
LONGEST_S = 10.0


def widest(slacks: Iterable[Slack]) -> Slack:
    """Return the most that any of these allows."""
    most: dict[str, float] = {}
    for slack in slacks:
        for kind, scale in slack.items():
            most[kind] = max(scale, most.get(kind, 0.0))
    return most


class Variants:
    """Answers questions with chosen mistakes in force.

    Args:
        folder: the misconceptions of an assignment.
        component: whose.
        given: where `provided` lies.
        program: whether the component is run as a program.
        longest_s: how long one answer may be computed.
    """

    def __init__(
        self,
        folder: Path,
        component: str,
        given: Path | None = None,
        program: bool = False,
        longest_s: float = LONGEST_S,
    ) -> None:
        self._longest_s = longest_s
        self._executor = import_apart(folder, component, given, program)

    def perform(self, wrong: Names, request: Request) -> Reply:
        """Answer one request with these mistakes in force, after those before it."""
        self._put_in_force(wrong)
        with at_most(self._longest_s):
            reply = self._executor.perform(request)
        # What is kept is no measurement.
        reply.seconds = None
        self._put_in_force(RIGHT)
        return reply

    def answer(self, wrong: Names, requests: Iterable[Request]) -> list[Reply]:
        """Answer the requests of a question, the first of which resets what came before."""
        return [self.perform(wrong, request) for request in requests]

    def question(
        self,
        requests: Sequence[Request],
        right: Sequence[Reply] | None = None,
        slack: Slack | None = None,
        free: bool = False,
    ) -> Question:
        """Return a question, with the right answer; by default that is computed."""
        right = self.answer(RIGHT, requests) if right is None else right
        again = self._drawn_again(RIGHT, requests, right)
        known = Known(right, bool(again), False, again)
        return Question(requests, known, slack=slack or {}, free=free, complete=False)

    def complete(self, question: Question, names: Iterable[str]) -> None:
        """Note what each of these mistakes answers to a question, where it is not what is right."""
        # Many mistakes answer alike, and these are one object.
        found: dict[tuple[bytes, bytes], Known] = {}
        wrong: dict[str, Known] = {}
        for name in names:
            known = self.known(frozenset([name]), question)
            if known is question.right:
                continue
            key = _bits(known.replies), _bits(known.again)
            wrong[name] = found.setdefault(key, known) if key[0] else known
        question.wrong, question.complete = wrong, True

    def known(self, wrong: Names, question: Question) -> Known:
        """Return what mistakes answer to a question; the right answer itself where it is that."""
        requests, right = question.requests, question.right
        replies = self.answer(wrong, requests)
        bits = _bits(replies)
        if bits and bits == _bits(right.replies):
            return right

        # Of two mistakes, draws are only looked for where one of them draws.
        alone = len(wrong) == 1 or not question.complete
        drawn = alone or any(question.wrong.get(one, right).drawn for one in wrong)
        again = self._drawn_again(wrong, requests, replies) if drawn else ()

        def apart(compare: Comparison, *another: Sequence[Reply]) -> bool:
            return compare.replies(replies, right.replies, requests, *another) > 1

        shows = apart(Comparison(question.slack, enough=1.0))
        if shows and right.again:
            shows = apart(Comparison(drawn=True, enough=1.0), right.again)
        return Known(replies, bool(again) if alone else drawn, shows, again)

    def _drawn_again(
        self, wrong: Names, requests: Sequence[Request], replies: Sequence[Reply]
    ) -> Sequence[Reply]:
        """Return the answer with other seeds, if it is another."""
        if any(reply.error is not None and reply.error.kind == "TimeoutError" for reply in replies):
            # One that has no end is not asked twice.
            return ()
        again = self.answer(wrong, [request.reseeded() for request in requests])
        return () if all(map(same_reply, replies, again)) else again

    def _put_in_force(self, wrong: Names) -> None:
        self._executor.code.scope["WRONG"] = wrong
        if self._executor.code.module is not None:
            self._executor.code.module.WRONG = wrong


def _bits(replies: Sequence[Reply]) -> bytes:
    """Return replies as they are sent; nothing where they cannot be."""
    try:
        return b"".join(encode_reply(reply, 0) for reply in replies)
    except Unsendable:
        return b""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise a TimeoutError in what computes longer, where the system can."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*about: object) -> NoReturn:
        raise TimeoutError(f"it did not end within {seconds:g} s of computing")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def variants_of(assignment: Assignment, component: str) -> Variants:
    """Return the wrong variants of an assignment's component.

    Raises:
        ReferenceFault: they cannot be imported.
    """
    folder = file_of(assignment, component).parent
    program = assignment.component(component).program
    return Variants(folder, component, assignment.public, program)
