"""Put a criterion's questions to a component, and answer its test from what came back."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from autograder.exchange.messages import ForbiddenUse, Reply, Request, StudentError
from autograder.results import Usage
from autograder.sandbox.handle import Child, ChildGone
from autograder.sandbox.replies import decode_reply
from autograder.sandbox.wire import encode_request
from autograder.solutions.plan import Planned
from autograder.suite.numerals import same_kinds

# Less than any Unix socket's buffer, in both directions.
_BYTES_AHEAD = 48 * 1024
_NOT_KEPT = Reply(gradient="not kept")
_Claim = TypeVar("_Claim", StudentError, ForbiddenUse)


class NotRun(Exception):
    """The component is over: no more questions are put to it."""


class LeftThePlan(Exception):
    """A test asks otherwise than planned: it is to be run anew, without a transcript."""


@dataclass
class ComponentSession:
    """Carries questions to the children of one component, forking anew after a death.

    A criterion's planned questions are answered in one go, before its test runs. Without a plan, or
    after a death, every question is answered when it is asked.

    Args:
        fork: makes a child that holds the submission.
        siblings: files of the other components, which answer for themselves.
        deaths_allowed: criteria that it hangs or crashes over, after which nothing more is asked.
        end_of_time: the moment, by the monotonic clock, after which nothing more is asked.
        lines: the number of lines of every file of the submission; no other place is believed.
        room: how many bytes of replies are kept; right answers come to less than a tenth of it.
        refused: what may be reported as forbidden; no other word is believed.

    Attributes:
        over: why nothing more is asked, or empty.
        out_of_time: whether that is because the time is over.
        load_error: why the component could not be imported, or None.
        forbidden: the forbidden operation that the component called, or None.
        heard: the transcript of the last criterion: its questions with the answers.
        left: whether its test has asked otherwise than planned.
        secret: whether hidden questions are asked, after which no words of the child are kept.
        used: what all children used.
    """

    fork: Callable[[], Child]
    siblings: frozenset[str]
    deaths_allowed: int
    end_of_time: float
    lines: Mapping[str, int] = field(default_factory=dict)
    refused: Collection[str] = ()
    room: int = 64 * 1024 * 1024
    child: Child | None = None
    deaths: int = 0
    over: str = ""
    out_of_time: bool = False
    load_error: StudentError | None = None
    forbidden: ForbiddenUse | None = None
    heard: list[tuple[Request, Reply]] = field(default_factory=list)
    left: bool = False
    secret: bool = False
    used: Usage = field(default_factory=Usage)
    _plan: Sequence[Planned] = ()
    # To the planned questions, as far as they came; None is the solution's own, byte for byte.
    _answers: list[Reply | None] = field(default_factory=list)
    # Why no more of them came.
    _end: ChildGone | NotRun | None = None
    _next: int = 0
    _live: bool = True
    _deaths_before: int = 0

    def begin(self, plan: Sequence[Planned], live: bool = False) -> bool:
        """Begin a criterion: put all of its planned questions, and take the answers.

        Args:
            plan: what its test asked of the solution.
            live: whether they are put one by one, when the test asks, and to a new child.

        Returns:
            whether every answer is the solution's, byte for byte.
        """
        self._plan, self.heard, self._answers, self._end = plan, [], [], None
        self._next, self.left, self._deaths_before = 0, False, self.deaths
        self._live = live or not plan
        if live:
            self.close()
        if self._live:
            return False
        try:
            for batch in _batches(plan):
                self._put(batch)
        except (ChildGone, NotRun) as end:
            # The test is to hear of it where it asks.
            self._end = end
        return self._end is None and not any(self._answers)

    def perform(self, request: Request) -> Reply:
        """Answer a question of the test.

        Raises:
            NotRun: the component is over.
            ChildGone: the child hung or died over it.
            LeftThePlan: another question was planned.
            CheckFailed: it answers with other kinds of numbers than the solution.
        """
        at = self._place_in_plan(request)
        planned = None if at is None else self._plan[at]
        if not self._live:
            if at is None:
                self.left = True
                raise LeftThePlan
            if at == len(self._answers):
                # What its other cases ask, a new child answers when they ask it.
                self._live = True
                assert self._end is not None
                raise self._end
        if at is not None:
            self._next = at + 1
        if self._live:
            # The test may go on to write into its own request.
            asked = request if planned is None else planned.request
            self._put([Planned(encode_request(asked, 0), asked, Reply())])
            reply = self._answers.pop()
        else:
            reply = self._answers[self._next - 1]
        if reply is None:
            # Read anew, because the test may go on to write into it.
            reply = decode_reply(io.BytesIO(self._plan[self._next - 1].answer).read)[1]
        if planned is not None and reply.error is None:
            same_kinds(reply.value, planned.reply.value)
        return reply

    @property
    def asked(self) -> int:
        """How many of the questions that were heard the test has asked."""
        return len(self.heard) if self._live else self._next

    def ask_more(self, requests: Sequence[Request]) -> list[Reply] | None:
        """Put further requests to the child that is there; None if there is none, or it dies."""
        if self.over or self.child is None:
            return None
        self.begin(())
        with contextlib.suppress(ChildGone, NotRun):
            return [self.perform(request) for request in requests]
        return None

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Ask what no mark depends on: deaths over it cost nothing; its time is the component's."""
        before = self.over, self.deaths, self.out_of_time
        try:
            yield
        finally:
            self.over, self.deaths, self.out_of_time = before

    def extend(self, end_of_time: float) -> None:
        """Go on until another moment, also where the time was over before."""
        self.end_of_time = end_of_time
        if self.out_of_time and time.monotonic() < end_of_time:
            self.over, self.out_of_time = "", False

    def close(self) -> None:
        """End the child."""
        if self.child is not None:
            self.used.cpu_s += self.child.close().get("cpu_s", 0.0)
            self.used.call_s = max(self.used.call_s, self.child.slowest_call_s)
            self.child = None

    def _place_in_plan(self, request: Request) -> int | None:
        """Return where a request stands in the plan: next, or where a later example begins."""
        for at in range(self._next, len(self._plan)):
            planned = self._plan[at].request
            if (at == self._next or planned.resets) and request.same_as(planned):
                return at
        return None

    def _put(self, batch: Sequence[Planned]) -> None:
        """Put questions that are under way at once, and take the answers as far as they come.

        One whose cost is counted is alone, so that the kernel's account is that of this call.
        """
        counted = batch[0].request.counted
        child = self._ready()
        before = child.cpu_s() if counted else 0.0
        with self._waiting(child):
            nonces = [child.post(planned.frame) for planned in batch]
            for nonce, planned in zip(nonces, batch, strict=True):
                self._look_at_the_clock()
                reply = child.answer_unless(nonce, b"" if counted else planned.answer)
                if counted and reply is not None:
                    reply.seconds = max(0.0, child.cpu_s() - before)
                self._take(planned.request, reply or replace(planned.reply))
                self._answers.append(reply)

    def _look_at_the_clock(self) -> None:
        if not self.over and time.monotonic() >= self.end_of_time:
            self.over, self.out_of_time = "timeout", True
        if self.over:
            raise NotRun

    def _ready(self) -> Child:
        """Return the child, with the component loaded."""
        self._look_at_the_clock()
        if self.child is not None:
            return self.child
        child = self.child = self.fork()
        with self._waiting(child, loading=True):
            loaded = child.perform(Request())
        if loaded.error is not None and self.secret:
            # It was loaded before: what it says now could be what it was asked.
            self.over = "crashed"
        elif loaded.error is not None:
            self.load_error = self._placed(loaded.error)
            self.over = "import_error"
        self._note(loaded)
        if self.over:
            raise NotRun
        return child

    @contextlib.contextmanager
    def _waiting(self, child: Child, loading: bool = False) -> Iterator[None]:
        """Wait for a child; count its death, and the time."""
        start = time.monotonic()
        child.end_of_time = self.end_of_time
        try:
            yield
        except ChildGone as gone:
            # What it used is counted, too.
            self.close()
            # However many cases of a criterion it hangs over, that is one thing that it cannot do.
            self.deaths = self._deaths_before + 1
            if time.monotonic() > self.end_of_time:
                self.over, self.out_of_time = "timeout", True
            elif loading or self.deaths >= self.deaths_allowed:
                self.over = gone.reason
            raise
        finally:
            self.used.wall_s += time.monotonic() - start

    def _take(self, request: Request, reply: Reply) -> None:
        if reply.error is not None:
            reply.error = self._placed(reply.error)
        self.room -= sum(tensor.nbytes for tensor in reply.tensors())
        # A reply that is not kept equals no other.
        self.heard.append((request, reply if self.room > 0 else _NOT_KEPT))
        self._note(reply)

    def _placed(self, claim: _Claim) -> _Claim:
        """Return a claim without a place that there is not; it could name inputs instead."""
        known = 0 < claim.line <= self.lines.get(claim.file, 0)
        return claim if known else replace(claim, file="", line=0)

    def _note(self, reply: Reply) -> None:
        for claimed in reply.forbidden:
            use = self._placed(claimed)
            # Charged to the file that calls it; another component answers for itself.
            if use.file in self.siblings:
                continue
            if use.operation not in self.refused:
                use = replace(use, operation="something forbidden")
            self.forbidden = ForbiddenUse("", "", 0) if self.secret else use
            self.over = "forbidden"
            raise NotRun


def _batches(plan: Sequence[Planned]) -> Iterator[Sequence[Planned]]:
    """Part a plan into what the socket surely holds."""
    batch: list[Planned] = []
    size = 0
    for planned in plan:
        size += len(planned.frame)
        alone = planned.request.counted or (batch and batch[-1].request.counted)
        if batch and (alone or size > _BYTES_AHEAD):
            yield batch
            batch, size = [], len(planned.frame)
        batch.append(planned)
    if batch:
        yield batch
