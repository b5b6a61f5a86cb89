"""Ask a component the questions of a criterion, and answer the criterion's test from the replies.

Everyone is asked the same questions. The solutions are asked first, and what they are asked and
answer is kept: the *plan* of a criterion. All of its questions are sent to a component before the
test runs; questions and replies are the *transcript*, from which the test is answered.
"""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from autograder.api.component import Session
from autograder.api.lazy import loaded
from autograder.api.likeness import Slack, fineness, same_kinds
from autograder.api.messages import Reply, Request, StudentError
from autograder.api.values import Unsendable
from autograder.results import Usage
from autograder.rules.forbidden import ForbiddenUse
from autograder.sandbox.handle import Child, ChildGone, Clock
from autograder.sandbox.wire import decode_reply, encode_reply, encode_request

LATE = "out of time"
# Less than any Unix socket's buffer, in both directions.
_BYTES_AHEAD = 48 * 1024
_Claim = TypeVar("_Claim", StudentError, ForbiddenUse)


@dataclass(frozen=True)
class Planned:
    """One request of a plan: its frame with a nonce of 0, and the solution's reply.

    `slack` says how much the criterion allows answers of its example to be off, and `work` how many
    of torch's operations the solution took. `answer` is the reply's frame with a nonce of 0, empty
    where it cannot be sent.
    """

    frame: bytes
    request: Request
    reply: Reply
    slack: Slack = field(default_factory=dict)
    work: int = 0
    answer: bytes = b""


def batches(plan: Sequence[Planned]) -> Iterator[Sequence[Planned]]:
    """Split a plan into what can be under way at once; a request that counts cost is alone."""
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


@contextlib.contextmanager
def _counted() -> Iterator[list[object]]:
    """Note torch's operations: unlike time, they are as many on every machine."""
    done: list[object] = []
    if not loaded():
        yield done
        return
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            done.append(func)
            return func(*args, **(kwargs or {}))

    with Counter():  # type: ignore[no-untyped-call]
        yield done


class Recorder:
    """Passes requests on to a session and keeps them as a plan."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._slack: dict[str, float] = {}
        self.plan: list[Planned] = []

    def perform(self, request: Request) -> Reply:
        """Note the request, then have it answered."""
        if request.resets:
            self._slack = {}
        frame = encode_request(request, 0)
        # A copy, because the test may go on to write into its tensors.
        kept = copy.deepcopy(request)
        with _counted() as done:
            reply = self._session.perform(request)
        answer = b""
        with contextlib.suppress(Unsendable):
            answer = encode_reply(reply, 0)
        answered = copy.deepcopy(reply)
        self.plan.append(Planned(frame, kept, answered, self._slack, len(done), answer))
        return reply

    def compared(self, dtype: object, scale: float) -> None:
        """Note that values of this example are compared with `scale` times the usual tolerance."""
        kind = fineness(dtype)
        self._slack[kind] = max(scale, self._slack.get(kind, 0.0))


@dataclass(frozen=True)
class Claims:
    """What is believed of the words of a component's child.

    Args:
        lines: the number of lines of every file of the submission; no other place is believed.
        siblings: files of the other components, which answer for themselves.
        refused: what may be reported as forbidden; no other word is believed.
    """

    lines: Mapping[str, int] = field(default_factory=dict)
    siblings: Collection[str] = ()
    refused: Collection[str] = ()

    def placed(self, claim: _Claim) -> _Claim:
        """Return a claim without a place that there is not; it could name inputs instead."""
        known = 0 < claim.line <= self.lines.get(claim.file, 0)
        return claim if known else replace(claim, file="", line=0)

    def forbidden(self, reply: Reply) -> ForbiddenUse | None:
        """Return the first forbidden use that is charged to the component, or None."""
        for use in map(self.placed, reply.forbidden):
            # Charged to the file that calls it; another component answers for itself.
            if use.file not in self.siblings:
                known = use.operation in self.refused
                return use if known else replace(use, operation="something forbidden")
        return None


class NotRun(Exception):
    """The component is over: no more questions are sent to it."""


class LeftThePlan(Exception):
    """A test asks a question that is not planned: the test is to run again, without a plan."""


@dataclass
class ComponentSession:
    """Carries questions to the children of one component; after a death it forks a new child."""

    fork: Callable[[], Child]  # makes a child that holds the submission
    claims: Claims  # what is believed of its words
    deaths_allowed: int  # criteria that it hangs or crashes over; then nothing more is asked
    end_of_time: float  # by the clock; then nothing more is asked
    clock: Clock = field(default_factory=Clock)  # counts what the submission's children take
    # Why nothing more is asked: LATE, "timeout", "crashed", "import_error" or "forbidden".
    over: str = ""
    # Why the component could not be imported, or the forbidden operation that it called.
    fault: StudentError | ForbiddenUse | None = None
    # The last criterion's transcript; a reply that equals the solution's is the plan's own object.
    heard: list[tuple[Request, Reply]] = field(default_factory=list)
    left: bool = False  # whether its test has left the plan
    secret: bool = False  # whether hidden questions are asked: no words of the child are kept then
    used: Usage = field(default_factory=Usage)
    child: Child | None = None
    deaths: int = 0
    _died: bool = False
    _plan: Sequence[Planned] = ()
    _next: int = 0  # where the test is in the plan
    _live: bool = True  # whether each question is sent when the test asks it
    _end: Exception | None = None  # why no more of the plan was answered

    def begin(self, plan: Sequence[Planned], live: bool = False) -> bool:
        """Begin a criterion; return whether all replies are the solution's, byte for byte.

        With `live`, a new child gets each question when the test asks it.
        """
        self._plan, self.heard, self._end = plan, [], None
        self._next, self.left, self._died = 0, False, False
        self._live = live or not plan
        if live:
            self.close()
        if self._live:
            return False
        try:
            for batch in batches(plan):
                self._send(batch)
        except (ChildGone, NotRun) as end:
            # The test is to hear of it where it asks.
            self._end = end
            return False
        return self.met

    def perform(self, request: Request) -> Reply:
        """Answer a question of the test.

        Raises:
            NotRun: the component is over.
            ChildGone: the child hung or died over it.
            LeftThePlan: another question was planned.
            CheckFailed: it answers with other kinds of numbers than the solution.
        """
        frame = encode_request(request, 0)
        at = self._place_in_plan(frame)
        if at is None and not self._live:
            self.left = True
            raise LeftThePlan
        if at is not None and at >= len(self.heard) and not self._live:
            # What the test's other cases ask, a new child answers when they ask it.
            self._live = True
            if at == len(self.heard) and self._end is not None:
                raise self._end
        if at is None:
            self._send([Planned(frame, request, Reply())])
            return self.heard[-1][1]
        planned, self._next = self._plan[at], at + 1
        if self._live:
            self._send([planned])
        reply = self.heard[-1 if self._live else at][1]
        if reply is planned.reply:
            # Read again, because the test may go on to write into it.
            reply = decode_reply(io.BytesIO(planned.answer).read)[1]
        if reply.error is None:
            same_kinds(reply.value, planned.reply.value)
        return reply

    @property
    def met(self) -> bool:
        """Whether everything planned was answered as the solution answers, byte for byte."""
        replies = [reply for _, reply in self.heard]
        return len(replies) == len(self._plan) and all(
            reply is planned.reply for reply, planned in zip(replies, self._plan, strict=True)
        )

    @property
    def asked(self) -> int:
        """How many of the questions in the transcript the test has asked."""
        return len(self.heard) if self._live else self._next

    def ask_more(self, requests: Sequence[Request]) -> list[Reply] | None:
        """Send further requests to the child that is there; None if there is none, or it dies."""
        if self.over or self.child is None:
            return None
        self.begin(())
        with contextlib.suppress(ChildGone, NotRun):
            return [self.perform(request) for request in requests]
        return None

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Ask what no mark depends on: deaths over it cost nothing; its time is the component's."""
        before = self.over, self.deaths
        try:
            yield
        finally:
            self.over, self.deaths = before

    def extend(self, end_of_time: float) -> None:
        """Go on until another moment, also where the time was over before."""
        self.end_of_time = end_of_time
        if self.over == LATE and self.clock.now < end_of_time:
            self.over = ""

    def close(self) -> None:
        """End the child."""
        if self.child is not None:
            self.used.cpu_s += self.child.close().get("cpu_s", 0.0)
            self.used.call_s = max(self.used.call_s, self.child.slowest_call_s)
            self.child = None

    def _place_in_plan(self, frame: bytes) -> int | None:
        """Return where a question stands in the plan: next, or where a later example begins."""
        for at in range(self._next, len(self._plan)):
            planned = self._plan[at]
            if (at == self._next or planned.request.resets) and frame == planned.frame:
                return at
        return None

    def _send(self, batch: Sequence[Planned]) -> None:
        """Send questions at once and note the replies, as far as they come.

        A question whose cost is counted is alone: the kernel's account is that of this call.
        """
        counted = batch[0].request.counted
        child = self._loaded()
        before = child.cpu_s() if counted else 0.0
        with self._waiting(child):
            nonces = [child.post(planned.frame) for planned in batch]
            for nonce, planned in zip(nonces, batch, strict=True):
                self._check_time()
                reply = child.answer_unless(nonce, b"" if counted else planned.answer)
                if reply is not None:
                    self._believe(reply)
                    if counted:
                        reply.seconds = max(0.0, child.cpu_s() - before)
                self.heard.append((planned.request, reply or planned.reply))

    def _loaded(self) -> Child:
        """Return the child, with the component imported."""
        self._check_time()
        if self.child is None:
            self.child = self.fork()
            with self._waiting(self.child, loading=True):
                loaded = self.child.perform(Request())
            self._believe(loaded)
            if loaded.error is not None:
                # It was imported before hidden questions: its words now could be what it was asked.
                self.over = "crashed" if self.secret else "import_error"
                self.fault = None if self.secret else loaded.error
                raise NotRun
        return self.child

    def _check_time(self) -> None:
        if not self.over and self.clock.now >= self.end_of_time:
            self.over = LATE
        if self.over:
            raise NotRun

    @contextlib.contextmanager
    def _waiting(self, child: Child, loading: bool = False) -> Iterator[None]:
        """Wait for a child; count its death, and the time."""
        start = self.clock.now
        child.clock, child.end_of_time = self.clock, self.end_of_time
        try:
            yield
        except ChildGone as gone:
            # What it used is counted, too.
            self.close()
            # However many cases of a criterion it hangs over, that is one thing that it cannot do.
            self.deaths += not self._died
            self._died = True
            if self.clock.now > self.end_of_time:
                self.over = LATE
            elif loading or self.deaths >= self.deaths_allowed:
                self.over = gone.reason
            raise
        finally:
            self.used.wall_s += self.clock.now - start

    def _believe(self, reply: Reply) -> None:
        """Drop the places in a reply that there are not; end what has used what is forbidden."""
        reply.error = reply.error and self.claims.placed(reply.error)
        used = self.claims.forbidden(reply)
        if used is not None:
            self.fault = ForbiddenUse("", "", 0) if self.secret else used
            self.over = "forbidden"
            raise NotRun
