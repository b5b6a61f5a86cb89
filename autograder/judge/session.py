"""Ask a component the questions of a criterion: its plan ahead, else what its test asks.

Everyone is asked the same questions. The solutions are asked first, and what they are asked and
answer is kept: the *plan* of a criterion. All of its questions are sent to a component ahead. If
each answer is the solution's, the criterion is passed; otherwise its test runs, and each of its
questions is sent when it comes.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from autograder.api.component import Session
from autograder.api.lazy import loaded, torch
from autograder.api.likeness import Slack, fineness, same_kinds
from autograder.api.messages import Reply, Request, StudentError
from autograder.api.operations import OrdinaryAsk, Resume
from autograder.api.values import Made, Unsendable, Value, array_of
from autograder.proxies.examiner import every_part
from autograder.results import Usage
from autograder.rules.forbidden import ForbiddenUse
from autograder.sandbox.handle import Child, ChildGone, Clock
from autograder.sandbox.wire import encode_reply, encode_request

LATE = "out of time"
# Stands for the reply to a question that its child died over.
UNANSWERED = Reply(gradient="not answered")
# The children of a component, by what they are asked: plans ahead, or a test's questions.
_AHEAD, _LIVE = "ahead", "live"
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
    """Split a plan into what can be under way at once.

    A question that holds what an earlier one is answered is not sent with it: who could read ahead
    would find the answer there. The questions of ordinary tests do so, as `decode(encode(x))`.
    """
    batch: list[Planned] = []
    size, answers = 0, set[object]()
    is_ordinary = any(isinstance(op, OrdinaryAsk) for planned in plan for op in planned.request.ops)
    for planned in plan:
        size += len(planned.frame)
        if batch and (size > _BYTES_AHEAD or not answers.isdisjoint(_handed_over(planned))):
            yield batch
            batch, size, answers = [], len(planned.frame), set()
        batch.append(planned)
        if is_ordinary:
            answers.update(map(_key_of, every_part(planned.reply.value)))
    if batch:
        yield batch


def can_be_asked_again(plan: Sequence[Planned]) -> bool:
    """Return whether others can be asked what the solution was: nothing was asked back."""
    return not any(isinstance(op, Resume) for planned in plan for op in planned.request.ops)


def _handed_over(planned: Planned) -> set[object]:
    """Return the values in an ordinary test's question."""
    asked = [op for op in planned.request.ops if isinstance(op, OrdinaryAsk | Resume)]
    values = [
        value
        for op in asked
        for value in (
            [*op.args, *op.kwargs.values()] if isinstance(op, OrdinaryAsk) else [op.value]
        )
    ]
    return {_key_of(part) for value in values for part in _parts_of(value)} - _SAYING_NOTHING


def _parts_of(value: Value) -> Iterator[Value]:
    """Yield the parts of what is handed over, also of what is made there."""
    for part in every_part(value):
        if isinstance(part, Made):
            yield from every_part([*part.parts])
        else:
            yield part


def _key_of(part: Value) -> object:
    """Return what tells a part of a value from others."""
    if isinstance(part, int | float | str | bytes | complex | None):
        return type(part).__name__, part
    if isinstance(part, np.ndarray | torch.Tensor) and not getattr(part, "is_meta", False):
        return tuple(part.shape), array_of(part).tobytes()
    return type(part).__name__, repr(part)


# Values that any answer may be.
_SAYING_NOTHING = {("NoneType", None), ("bool", True), ("bool", False), ("str", "")}


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
        try:
            with _counted() as done:
                reply = self._session.perform(request)
        except ChildGone:
            self.plan.append(Planned(frame, kept, UNANSWERED))
            raise
        # Where it left the generators is told by the solution alone.
        kept_beside = {name: value for name, value in reply.beside.items() if name != "drew"}
        answered = copy.deepcopy(replace(reply, beside=kept_beside))
        answer = b""
        with contextlib.suppress(Unsendable):
            answer = encode_reply(answered, 0)
        self.plan.append(Planned(frame, kept, answered, self._slack, len(done), answer))
        return reply

    def compared(self, dtype: object, scale: float) -> None:
        """Note that values of this example are compared with `scale` times the usual tolerance."""
        kind = fineness(dtype)
        self._slack[kind] = max(scale, self._slack.get(kind, 0.0))


class SameKinds:
    """Passes requests on to a session, and takes no other kinds of answers than the solution gives.

    Args:
        session: of the component.
        plan: what the solution was asked and answered.
    """

    def __init__(self, session: Session, plan: Sequence[Planned]) -> None:
        self._session = session
        self._rights: dict[tuple[str, str], list[Value]] = {}
        for planned in plan:
            if planned.reply.error is None:
                answers = self._rights.setdefault(planned.request.name, [])
                answers.append(planned.reply.value)

    def perform(self, request: Request) -> Reply:
        """Have a request answered.

        Raises:
            CheckFailed: the solution gives no such answers to what is asked by this name.
        """
        reply = self._session.perform(request)
        if reply.error is None:
            same_kinds(reply.value, self._rights.get(request.name, ()))
        return reply


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


@dataclass
class ComponentSession:
    """Carries questions to the children of one component; after a death it forks a new child.

    One child is asked plans ahead, another what a test asks while it runs: work that has a state is
    judged by its first answers.
    """

    fork: Callable[[], Child]  # makes a child that holds the submission
    claims: Claims  # what is believed of its words
    deaths_allowed: int  # criteria that it hangs or crashes over; then nothing more is asked
    end_of_time: float  # by the clock; then nothing more is asked
    clock: Clock = field(default_factory=Clock)  # counts what the submission's children take
    # Why nothing more is asked: LATE, "timeout", "crashed", "import_error" or "forbidden".
    over: str = ""
    # Why the component could not be imported, or the forbidden operation that it called.
    fault: StudentError | ForbiddenUse | None = None
    # The last plan with the component's own replies, as far as it was asked ahead.
    heard: list[Planned] = field(default_factory=list)
    secret: bool = False  # whether hidden questions are asked: no words of the child are kept then
    used: Usage = field(default_factory=Usage)
    deaths: int = 0
    _children: dict[str, Child] = field(default_factory=dict)
    _lost: bool = False  # whether a plan was not answered as by the solution
    _died: bool = False  # whether a child has died over a question of the test
    _gone: ChildGone | None = None  # a death over the plan that ended the component

    def begin(self, plan: Sequence[Planned]) -> bool:
        """Begin a criterion: ask its plan ahead, unless it is to be measured what a call costs.

        A death over it is nothing yet: the test asks again. Hidden plans are asked ahead until one
        is not answered as by the solution: answers to the others would be looked at by nobody.

        Returns:
            Whether all answers are the solution's, byte for byte. If not, the test is to run.
        """
        self.heard, self._died, self._gone = [], False, None
        right = self._is_answered(plan)
        # One that asks back is still in the middle of a call.
        asks_back = any(planned.request.resumes for planned in plan)
        asks_back = asks_back or any("back" in planned.reply.beside for planned in self.heard)
        if not right and _AHEAD in self._children and (asks_back or self._is_large(_AHEAD)):
            self._close(_AHEAD)
        return right

    def _is_answered(self, plan: Sequence[Planned]) -> bool:
        """Ask a plan ahead, if that is of use; return whether all answers are the solution's."""
        if not plan or any(planned.request.counted for planned in plan):
            return False
        if self._is_large(_LIVE) or (self.secret and self._lost):
            return False
        try:
            batches_right = [self._is_right(batch) for batch in batches(plan)]
            right = all(batches_right)
        except NotRun:
            return False
        except ChildGone as gone:
            self._gone = gone if self.over else None
            right = False
        self._lost = self._lost or not right
        return right

    def perform(self, request: Request) -> Reply:
        """Answer a question of the test.

        Raises:
            NotRun: the component is over.
            ChildGone: the child hung or died over it.
        """
        if self._gone is not None:
            raise self._gone
        return self._answer(_LIVE, request)

    def ask_more(self, requests: Sequence[Request]) -> list[Reply] | None:
        """Ask further what was asked ahead; None if that child is gone, or dies over it."""
        if self.over or _AHEAD not in self._children:
            return None
        with contextlib.suppress(ChildGone, NotRun):
            return [self._answer(_AHEAD, request) for request in requests]
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

    def renew(self, gone: ChildGone | None) -> None:
        """Have the test's next question asked of a new child: this one is in the middle of a call.

        Args:
            gone: why, where it counts as a death.
        """
        if _LIVE in self._children:
            self._close(_LIVE)
        if gone is not None:
            self.deaths += 1
            if self.deaths >= self.deaths_allowed:
                self.over = self.over or gone.reason

    def close(self) -> None:
        """End the children."""
        for name in list(self._children):
            self._close(name)

    def _is_large(self, name: str) -> bool:
        """Return whether there is such a child, and no room for another large one beside it."""
        return name in self._children and self._children[name].is_large()

    def _close(self, name: str) -> None:
        child = self._children.pop(name)
        self.used.cpu_s += child.close().get("cpu_s", 0.0)
        self.used.call_s = max(self.used.call_s, child.slowest_call_s)

    def _is_right(self, batch: Sequence[Planned]) -> bool:
        """Ask a part of a plan at once; return whether all answers are the solution's."""
        child, right = self._loaded(_AHEAD), True
        with self._waiting(_AHEAD):
            nonces = [child.post(planned.frame) for planned in batch]
            for nonce, planned in zip(nonces, batch, strict=True):
                self._check_time()
                reply = child.answer_unless(nonce, planned.answer)
                if reply is not None:
                    right = False
                    self._believe(reply)
                self.heard.append(planned if reply is None else replace(planned, reply=reply))
        return right

    def _answer(self, name: str, request: Request) -> Reply:
        """Ask one question; what it costs is the kernel's account of this call."""
        child = self._loaded(name)
        before = child.cpu_s() if request.counted else 0.0
        with self._waiting(name):
            reply = child.perform(request)
        self._believe(reply)
        if request.counted:
            reply.seconds = max(0.0, child.cpu_s() - before)
        return reply

    def _loaded(self, name: str) -> Child:
        """Return the child of this name, with the component imported."""
        self._check_time()
        if name not in self._children:
            child = self._children[name] = self.fork()
            with self._waiting(name, loading=True):
                loaded = child.perform(Request())
            self._believe(loaded)
            if loaded.error is not None:
                # It was imported before hidden questions: its words now could be what it was asked.
                self.over = "crashed" if self.secret else "import_error"
                self.fault = None if self.secret else loaded.error
                raise NotRun
        return self._children[name]

    def _check_time(self) -> None:
        if not self.over and self.clock.now >= self.end_of_time:
            self.over = LATE
        if self.over:
            raise NotRun

    @contextlib.contextmanager
    def _waiting(self, name: str, loading: bool = False) -> Iterator[None]:
        """Wait for a child; count the time, and its death if a test is to hear of it."""
        child, start = self._children[name], self.clock.now
        child.clock, child.end_of_time = self.clock, self.end_of_time
        try:
            yield
        except ChildGone as gone:
            # What it used is counted, too.
            self._close(name)
            if name == _LIVE:
                # However many cases of a criterion it hangs over, that is one thing that it cannot
                # do.
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
