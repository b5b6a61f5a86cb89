"""The requests that every criterion makes, known from grading the solutions.

Everyone is asked the same questions, so a child can be sent a criterion's requests ahead and
works on while the judge compares; a request is written once for all submissions.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.api.component import Session
from autograder.api.expect import Expect
from autograder.api.lazy import loaded
from autograder.api.likeness import Slack, fineness
from autograder.api.messages import Reply, Request
from autograder.api.values import Numbers, Unsendable, Value
from autograder.sandbox.wire import encode_reply, encode_request

# Less than any Unix socket's buffer, in both directions.
_BYTES_AHEAD = 48 * 1024


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
        """Note that values of this example are compared with so many times the usual tolerance."""
        kind = fineness(dtype)
        self._slack[kind] = max(scale, self._slack.get(kind, 0.0))


class RecordedExpect(Expect):
    """Expectations that tell a recorder with which tolerance they compare.

    Args:
        coarse: as for `Expect`.
        recorder: keeps what the example under test asks.
    """

    def __init__(self, coarse: set[str], recorder: Recorder) -> None:
        super().__init__(coarse)
        self._recorder = recorder

    def close(
        self,
        actual: Numbers | None,
        expected: Numbers | Sequence[object],
        what: str = "the result",
        *,
        like: Numbers | None = None,
        scale: float = 1.0,
        names: str = "",
        hint: str = "",
    ) -> None:
        """Note the tolerance, then expect the values."""
        if actual is not None:
            self._recorder.compared(actual.dtype, scale)
        super().close(actual, expected, what, like=like, scale=scale, names=names, hint=hint)

    def same(
        self, value: Value, right: Value, what: str = "the result", scale: float = 1.0
    ) -> None:
        """Note the tolerance, then expect the value."""
        self._recorder.compared("float64", scale)
        super().same(value, right, what, scale)
