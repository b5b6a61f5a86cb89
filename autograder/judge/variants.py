"""Wrong variants of a component, asked what the student was asked. Judge's side only."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from autograder.api.executor import Executor
from autograder.api.likeness import Comparison, Slack, same_reply
from autograder.api.messages import Reply, Request
from autograder.api.values import Unsendable
from autograder.assignment import Assignment
from autograder.diagnosis.table import RIGHT, Known, Names, Question
from autograder.judge.misconceptions import Misconception, together
from autograder.judge.reference import variant_of
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
    """Answers questions with chosen mistakes.

    Args:
        folder: the solutions of an assignment.
        component: whose mistakes.
        mistakes: the mistakes.
        given: where `provided` lies.
        program: whether the component is run as a program.
        longest_s: how long one answer may be computed.
    """

    def __init__(
        self,
        folder: Path,
        component: str,
        mistakes: Mapping[str, Misconception],
        given: Path | None = None,
        program: bool = False,
        longest_s: float = LONGEST_S,
    ) -> None:
        self._longest_s = longest_s
        self.mistakes = mistakes
        self._folder, self._component, self._given = folder, component, given
        self._program = program
        # What they import is the same for all.
        self._modules: dict[str, ModuleType] = {}
        self._sources: dict[Names, bytes | None] = {RIGHT: None}
        self._executors: dict[Names, Executor] = {}

    def perform(self, wrong: Names, request: Request) -> Reply:
        """Answer one request with these mistakes, after those before it."""
        executor = self._executor(wrong)
        with at_most(self._longest_s):
            reply = executor.perform(request)
        # What is kept is no measurement.
        reply.seconds = None
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

    def complete(self, question: Question) -> None:
        """Note what each mistake answers to a question, where it is not what is right."""
        # Many mistakes give equal answers, and these are one object.
        found: dict[tuple[bytes, bytes], Known] = {}
        wrong: dict[str, Known] = {}
        for name in self.mistakes:
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

    def can_be(self, wrong: Names) -> bool:
        """Return whether these mistakes can be in one component."""
        return not wrong or self._source(wrong) is not None

    def _source(self, wrong: Names) -> bytes | None:
        if wrong not in self._sources:
            text = together([self.mistakes[name] for name in sorted(wrong)])
            self._sources[wrong] = None if text is None else text.encode()
        return self._sources[wrong]

    def _executor(self, wrong: Names) -> Executor:
        if wrong not in self._executors:
            if not self.can_be(wrong):
                raise ValueError(f"{sorted(wrong)} cannot be in one component")
            self._executors[wrong] = variant_of(
                self._folder,
                self._component,
                self._source(wrong),
                self._modules,
                self._given,
                self._program,
            )
        return self._executors[wrong]


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


def variants_of(
    assignment: Assignment, component: str, mistakes: Mapping[str, Misconception]
) -> Variants:
    """Return the wrong variants of an assignment's component."""
    program = assignment.component(component).program
    return Variants(assignment.secret, component, mistakes, assignment.public, program)
