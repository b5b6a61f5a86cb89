"""The judge's line to one component: fork a child, ask ahead, fork anew after a death."""

from __future__ import annotations

import contextlib
import io
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn, TypeVar

from autograder.exchange.messages import ForbiddenUse, Reply, Request, StudentError
from autograder.results import Usage
from autograder.sandbox.handle import Child, ChildGone
from autograder.sandbox.replies import decode_reply
from autograder.sandbox.wire import encode_request
from autograder.solutions.plan import Planned
from autograder.suite.numerals import same_kinds

_T = TypeVar("_T")
# Less than any Unix socket's buffer, in both directions.
_BYTES_AHEAD = 48 * 1024
_NOT_KEPT = Reply(gradient="not kept")


class NotRun(Exception):
    """The component is over: no more questions are put to it."""


@dataclass
class ComponentSession:
    """Carries requests to the children of one component, forking anew after a death.

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
        load_error: why the component could not be imported, or None.
        forbidden: the forbidden operation that the component called, or None.
        heard: the requests of the criterion that was begun last, with their replies.
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
    load_error: StudentError | None = None
    forbidden: ForbiddenUse | None = None
    heard: list[tuple[Request, Reply]] = field(default_factory=list)
    used: Usage = field(default_factory=Usage)
    _plan: Sequence[Planned] = ()
    _next: int = 0
    _deaths_before: int = 0
    _out_of_time: bool = False
    _ahead: deque[tuple[int, int]] = field(default_factory=deque)
    # What came before the test asked for it; None is the solution's own answer.
    _early: deque[Reply | ChildGone | NotRun | None] = field(default_factory=deque)

    def begin(self, plan: Sequence[Planned]) -> None:
        """Begin a criterion that is expected to make the requests of `plan`."""
        self._plan, self._next, self.heard = plan, 0, []
        self._early.clear()
        self._deaths_before = self.deaths

    def end(self) -> None:
        """Fetch the answers that the criterion did not get as far as reading."""
        with contextlib.suppress(ChildGone, NotRun):
            while self._early or (self._ahead and self.child is not None):
                request, early = self._plan[self._next].request, self._early
                reply = self._earlier() if early else self._next_answer(self._loaded_child())
                self._next += 1
                self._take(request, reply)

    def answers_alike(self) -> bool:
        """Ask all of the plan; tell whether every answer is the solution's, byte for byte.

        The answers up to the first other one are kept for `perform`.
        """
        plan = self._plan
        try:
            for planned in plan:
                if self._is_over() or planned.request.counted:
                    return False
                child = self._loaded_child()
                self._post_ahead(child)
                ask = partial(child.answer_unless, self._ahead.popleft()[0], planned.answer)
                self._early.append(self._guarded(ask))
                if self._early[-1] is not None:
                    return False
        except (ChildGone, NotRun) as end:
            # The test is to hear of it where it asks.
            self._plan = plan
            self._early.append(end)
            return False
        self._early.clear()
        self._next = len(plan)
        for planned in plan:
            self._take(planned.request, replace(planned.reply))
        return bool(plan)

    def perform(self, request: Request) -> Reply:
        """Have a request answered.

        Raises:
            NotRun: the component is over.
            ChildGone: the child hung or died over it.
            CheckFailed: it answers with other kinds of numbers than the solution.
        """
        at = self._next
        planned = None
        if at < len(self._plan) and request.same_as(self._plan[at].request):
            planned = self._plan[at]
            # The test may go on to write into its own.
            request = planned.request
        reply = self._earlier() if planned and self._early else self._asked(request, planned)
        self._next += planned is not None
        self._take(request, reply)
        if planned is not None and reply.error is None:
            same_kinds(reply.value, planned.reply.value)
        return reply

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
        before = self.over, self.deaths, self._out_of_time
        try:
            yield
        finally:
            self.over, self.deaths, self._out_of_time = before

    @property
    def out_of_time(self) -> bool:
        """Whether nothing more is asked because the time is over."""
        return self._out_of_time

    def extend(self, end_of_time: float) -> None:
        """Go on until another moment, also where the time was over before."""
        self.end_of_time = end_of_time
        if self._out_of_time:
            self.over, self._out_of_time = "", False

    def close(self) -> None:
        """End the child."""
        if self.child is not None:
            self.used.cpu_s += self.child.close().get("cpu_s", 0.0)
            self.used.call_s = max(self.used.call_s, self.child.slowest_call_s)
            self.child = None

    def _is_over(self) -> bool:
        if not self.over and time.monotonic() > self.end_of_time:
            self.over, self._out_of_time = "timeout", True
        return bool(self.over)

    def _asked(self, request: Request, planned: Planned | None) -> Reply:
        if self._is_over():
            raise NotRun
        child = self._loaded_child()
        if planned is None:
            child = self._leave_the_plan(child)
        frame = encode_request(request, 0) if planned is None else planned.frame
        if planned is not None and not request.counted:
            self._post_ahead(child)
            return self._next_answer(child)
        # Alone, so that the kernel's account is that of this call.
        before = child.cpu_s() if request.counted else 0.0
        reply = self._guarded(lambda: child.answer(child.post(frame)))
        reply.seconds = max(0.0, child.cpu_s() - before) if request.counted else reply.seconds
        return reply

    def _earlier(self) -> Reply:
        """Return what was answered before the test asked."""
        early = self._early.popleft()
        if isinstance(early, ChildGone | NotRun):
            self._plan = ()
            raise early
        # Read anew, because the test may go on to write into it.
        return early or decode_reply(io.BytesIO(self._plan[self._next].answer).read)[1]

    def _loaded_child(self) -> Child:
        if self.child is None:
            child = self.child = self.fork()
            loaded = self._guarded(partial(child.perform, Request()), loading=True)
            if loaded.error is not None:
                place = self._place(loaded.error.file, loaded.error.line)
                self.load_error = replace(loaded.error, **place)
            self._note(loaded)
            if self.load_error is not None:
                self.over = "import_error"
                raise NotRun
        return self.child

    def _post_ahead(self, child: Child) -> None:
        """Keep as many requests under way as the socket surely holds."""
        at = self._next + len(self._early) + len(self._ahead)
        under_way = sum(size for _, size in self._ahead)
        while at < len(self._plan):
            frame = self._plan[at].frame
            full = self._ahead and under_way + len(frame) > _BYTES_AHEAD
            if full or self._plan[at].request.counted:
                return
            # A death over one question must not cost the answers that came before it.
            post = child.post_behind if self._ahead else child.post
            nonce = self._guarded(partial(post, frame))
            if nonce is None:
                return
            self._ahead.append((nonce, len(frame)))
            under_way += len(frame)
            at += 1

    def _next_answer(self, child: Child) -> Reply:
        return self._guarded(partial(child.answer, self._ahead.popleft()[0]))

    def _leave_the_plan(self, child: Child) -> Child:
        """Go on without a plan; a child that has seen requests ahead is replaced."""
        self._plan = ()
        if not self._ahead and not self._early:
            return child
        self._ahead.clear()
        self._early.clear()
        self.close()
        child = self._loaded_child()
        for request, _ in self.heard:
            self._guarded(partial(child.perform, request))
        return child

    def _guarded(self, ask: Callable[[], _T], loading: bool = False) -> _T:
        start = time.monotonic()
        if self.child is not None:
            self.child.end_of_time = self.end_of_time
        try:
            return ask()
        except ChildGone as gone:
            # What it used is counted, too.
            self.close()
            self._ahead.clear()
            self._plan = ()
            if gone.operation in self.refused:
                # By whom is not known: the machine code of a kernel knows no lines.
                self._refuse(ForbiddenUse(gone.operation, "", 0))
            # However many cases of a criterion it hangs over, that is one thing that it cannot do.
            self.deaths = self._deaths_before + 1
            if time.monotonic() > self.end_of_time:
                self.over, self._out_of_time = "timeout", True
            elif loading or self.deaths >= self.deaths_allowed:
                self.over = gone.reason
            raise
        finally:
            self.used.wall_s += time.monotonic() - start

    def _take(self, request: Request, reply: Reply) -> None:
        if reply.error is not None:
            reply.error = replace(reply.error, **self._place(reply.error.file, reply.error.line))
        self.room -= sum(tensor.nbytes for tensor in reply.tensors())
        # A reply that is not kept equals no other.
        self.heard.append((request, reply if self.room > 0 else _NOT_KEPT))
        self._note(reply)

    def _place(self, file: str, line: int) -> dict[str, Any]:
        """Return the place that a reply names, if there is one; it could name inputs instead."""
        known = 0 < line <= self.lines.get(file, 0)
        return {"file": file, "line": line} if known else {"file": "", "line": 0}

    def _note(self, reply: Reply) -> None:
        for claimed in reply.forbidden:
            use = replace(claimed, **self._place(claimed.file, claimed.line))
            if use.operation not in self.refused:
                use = replace(use, operation="something forbidden")
            # Charged to the file that calls it; another component answers for itself.
            if use.file not in self.siblings:
                self._refuse(use)

    def _refuse(self, use: ForbiddenUse) -> NoReturn:
        self.forbidden = use
        self.over = "forbidden"
        raise NotRun
