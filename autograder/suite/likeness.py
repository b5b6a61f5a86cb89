"""Tell how far apart two replies to one request are: the same answer, but for rounding, or not.

A distance of 1 is as far as marks allow, 0 is the same answer, and infinity another form: another
shape, dtype, exception or key.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.exchange.messages import PARTS, Reply, Request
from autograder.exchange.values import Value, tensors_in
from autograder.suite.expect import TOLERANCE
from autograder.suite.symptoms import with_one_name, with_one_symptom

# By how much the tolerance of a question is multiplied, for numbers of a fineness.
Slack = Mapping[torch.dtype, float]

# An answer is clearly nearer to one than to another if it is so many times nearer, and if the other
# is farther than so many roundings.
CLEARLY = 5.0
# Beyond this it does not matter how much farther: it is clearly farther than what barely fits.
FAR = CLEARLY**2
# Two ways to write down one mistake round differently, and gradients add up many roundings.
_OUTPUT_SCALE = 4.0
_DERIVED_SCALE = 40.0
# Two samples of one distribution are taken for samples of two in one case of a million: their
# distribution functions part by this times sqrt(1/n + 1/m) then (Kolmogorov and Smirnov).
_SURE = math.sqrt(math.log(2 / 1e-6) / 2)


def fineness(dtype: torch.dtype) -> torch.dtype:
    """Return the dtype that stands for all that are judged as this one is."""
    return dtype if dtype in (torch.bfloat16, torch.float16) else torch.float32


@dataclass
class Comparison:
    """Compares what a component answered with what it might have answered.

    Args:
        slack: how much more than usual marks allow.
        drawn: whether the values hang on random draws; then forms, shapes and the distribution of
            each tensor's values count, and 1 is where two samples surely part.
        void: whether where the other answer is no finite number, any wrong number will do.
        enough: beyond this distance nothing more is compared: that it is greater is the answer.

    Attributes:
        voided: whether that was so anywhere.
    """

    slack: Slack = field(default_factory=dict)
    drawn: bool = False
    void: bool = False
    enough: float = FAR
    voided: bool = False

    def replies(
        self,
        one: Sequence[Reply],
        other: Sequence[Reply],
        requests: Sequence[Request],
        third: Sequence[Reply] | None = None,
    ) -> float:
        """Return how far apart two answers to the same requests are.

        Args:
            one: what the component answered.
            other: what it might have answered.
            requests: the requests.
            third: the right answer; where values are drawn, another draw of the other answer.
        """
        beside: Sequence[Reply | None] = [None] * len(other) if third is None else third
        worst = 0.0
        # A request that is not told is like the last one.
        asked = [requests[min(index, len(requests) - 1)] for index in range(len(other))]
        answers = zip(one, other, beside, asked, strict=True)
        for index, (mine, theirs, more, request) in enumerate(answers):
            if more is not None and not self.drawn:
                mine, theirs = with_one_symptom(mine, theirs, more, request)
            # Mostly they are the same, and then it need not be known whether they must be.
            dtypes = _dtypes(mine) != _dtypes(theirs) and _given_numbers(asked[: index + 1])
            worst = max(worst, self.reply(mine, theirs, more, dtypes=dtypes))
            if worst > self.enough:
                break
        return worst

    def reply(
        self, one: Reply, other: Reply, third: Reply | None = None, *, dtypes: bool = True
    ) -> float:
        """Compare everything that two replies hold, but the texts of exceptions."""
        if one.error is not None or other.error is not None:
            if one.error is None or other.error is None:
                return math.inf
            # Not the phase: wrong arguments may be refused by constructor or forward.
            alike = one.error.is_a(other.error.kind) or other.error.is_a(one.error.kind)
            return 0.0 if alike else math.inf
        if one.gradient != other.gradient:
            return math.inf
        if dtypes and _dtypes(one) != _dtypes(other):
            return math.inf
        worst = 0.0
        for name, part in PARTS.items():
            mine, theirs = getattr(one, name), getattr(other, name)
            if part.is_empty(mine) and part.is_empty(theirs):
                continue
            scale = _DERIVED_SCALE if part.derived else _OUTPUT_SCALE
            more = getattr(third, name, None)
            if part.holds == "named" and isinstance(more, Mapping) and not self.drawn:
                mine, theirs = with_one_name(mine, theirs, more)
            worst = max(worst, self._values(mine, theirs, more, scale, self.drawn and part.random))
            if worst > self.enough:
                break
        return worst

    def _values(self, one: Value, other: Value, third: Value, scale: float, drawn: bool) -> float:
        if isinstance(one, Tensor) and isinstance(other, Tensor):
            beside = third if isinstance(third, Tensor) and third.shape == other.shape else None
            return self._tensors(one, other, beside, scale, drawn)
        # A pair may be a tuple or a list.
        if isinstance(one, list | tuple) and isinstance(other, list | tuple):
            if len(one) != len(other):
                return math.inf
            fits = isinstance(third, list | tuple) and len(third) == len(other)
            several = third if fits else [None] * len(other)
            return self._several(zip(one, other, several, strict=True), scale, drawn)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            if one.keys() != other.keys():
                return math.inf
            named = third if isinstance(third, Mapping) else {}
            triples = ((one[key], other[key], named.get(key)) for key in one)
            return self._several(triples, scale, drawn)
        if isinstance(one, float | np.ndarray) and isinstance(other, float | np.ndarray):
            mine, theirs = np.asarray(one), np.asarray(other)
            if mine.dtype.kind != theirs.dtype.kind:
                return math.inf
            return self._tensors(_as_tensor(mine), _as_tensor(theirs), None, scale, drawn)
        return 0.0 if type(one) is type(other) and bool(one == other) else math.inf

    def _several(
        self, triples: Iterable[tuple[Value, Value, Value]], scale: float, drawn: bool
    ) -> float:
        worst = 0.0
        for triple in triples:
            worst = max(worst, self._values(*triple, scale, drawn))
            if worst > self.enough:
                break
        return worst

    def _tensors(
        self, one: Tensor, other: Tensor, third: Tensor | None, scale: float, drawn: bool
    ) -> float:
        if one.shape != other.shape or one.is_floating_point() != other.is_floating_point():
            return math.inf
        on_meta = [tensor.device.type == "meta" for tensor in (one, other)]
        if any(on_meta) or one.numel() == 0:
            # One without values stands for any draw.
            return 0.0 if drawn or one.device == other.device else math.inf
        if not one.is_floating_point() and not (drawn and one.dtype == other.dtype):
            return 0.0 if one.dtype == other.dtype and torch.equal(one, other) else math.inf
        first, second = one.to(torch.float64), other.to(torch.float64)
        if drawn:
            return _samples_apart(first, second, third)
        # What was computed from coarse numbers is no finer for being returned in another dtype.
        coarse = third is not None and fineness(third.dtype) is not torch.float32
        dtype = third.dtype if third is not None and coarse else one.dtype
        return self._numbers(first, second, third, self._tolerance(dtype, scale))

    def _tolerance(self, dtype: torch.dtype, scale: float) -> tuple[float, float]:
        """Return the relative and the absolute difference that is allowed."""
        relative, absolute = TOLERANCE.get(dtype, TOLERANCE[torch.float32])
        if dtype == torch.bfloat16:
            # Its tolerance leaves room for several roundings as it is.
            scale = max(1.0, scale / 10)
        scale = max(scale, self.slack.get(fineness(dtype), 0.0))
        return scale * relative, scale * absolute

    def _numbers(
        self, one: Tensor, other: Tensor, right: Tensor | None, tolerance: tuple[float, float]
    ) -> float:
        relative, absolute = tolerance
        error = (one - other).abs_()
        most = float(error.max())
        if most == 0.0:
            return 0.0
        if math.isfinite(most):
            size = other.abs()
            largest = float(size.max())
            absolute *= max(1.0, largest)
            least = most / (largest * relative + absolute)
            if least > self.enough:
                return least
            return float(error.div_(size.mul_(relative).add_(absolute)).max())
        error.masked_fill_(one == other, 0.0)
        if bool(error.isfinite().all()):
            # Beside infinities that both have, no difference of numbers counts.
            return 0.0
        error.masked_fill_(one.isnan() & other.isnan(), 0.0)
        finite = other.nan_to_num(0.0, 0.0, 0.0).abs()
        if self.void and right is not None:
            at_right = right.to(torch.float64)
            wrong = ~((one - at_right).abs() <= relative * at_right.abs() + absolute)
            void = ~other.isfinite() & one.isfinite() & wrong
            self.voided = self.voided or bool(void.any())
            error.masked_fill_(void, 0.0)
        absolute *= max(1.0, float(finite.max()))
        return float((error.nan_to_num(nan=math.inf) / (finite * relative + absolute)).max())


def _dtypes(reply: Reply) -> list[torch.dtype]:
    return [tensor.dtype for tensor in tensors_in(reply.value)]


def _given_numbers(requests: Sequence[Request]) -> bool:
    """Tell of the last request whether floating-point tensors go into its answer.

    Where none does, more than one dtype is right.
    """
    holding: set[object] = set()
    given = False
    for request in requests:
        handles = {op.__dict__.get("handle") for op in request.ops} - {None}
        given = any(tensor.is_floating_point() for tensor in request.tensors())
        if given:
            holding |= handles
        given = given or not holding.isdisjoint(handles)
    return given


def all_alike(
    one: Sequence[Reply],
    other: Sequence[Reply],
    requests: Sequence[Request],
    drawn: bool = False,
) -> bool:
    """Tell whether two answers to the same requests are alike."""
    return Comparison(drawn=drawn, enough=1.0).replies(one, other, requests) <= 1


def alike(one: Reply, other: Reply, *, drawn: bool = False, dtypes: bool = True) -> bool:
    """Tell whether two replies are alike; see `Comparison`."""
    return Comparison(drawn=drawn, enough=1.0).reply(one, other, dtypes=dtypes) <= 1


def _as_tensor(array: np.ndarray[Any, Any]) -> Tensor:
    # Not every machine's whole numbers have the same width.
    wide = {"f": np.float64, "i": np.int64, "u": np.int64}.get(array.dtype.kind)
    return torch.from_numpy(np.ascontiguousarray(array if wide is None else array.astype(wide)))


def _samples_apart(one: Tensor, other: Tensor, again: Tensor | None) -> float:
    """Compare two samples; few values never part, because few values never surely do.

    Values of one tensor may hang on each other, as those that drawn weights make. What two draws of
    the same differ by is thus allowed beside what chance does to values that do not.
    """
    allowed = _SURE * math.sqrt(2 / one.numel())
    if allowed >= 1:
        # No two functions part by more.
        return 0.0
    apart = _steps_apart(one, other)
    if apart > allowed and again is not None and again.device.type != "meta":
        allowed += _steps_apart(other, again.to(torch.float64))
    return apart / allowed


def _steps_apart(one: Tensor, other: Tensor) -> float:
    """Return how far the distribution functions of two samples of one size part at most."""
    first, second = (values.flatten().nan_to_num(nan=math.inf) for values in (one, other))
    # Roundings do not make two values of what is one.
    both = torch.cat([first, second])
    order = both.argsort()
    sorted_values = both[order]
    steps = torch.where(order < first.numel(), 1.0, -1.0).cumsum(0)
    gaps = sorted_values[1:] - sorted_values[:-1]
    new = gaps > 1e-5 * (1 + sorted_values[1:].abs())
    last = torch.cat([new, torch.ones(1, dtype=torch.bool)])
    return float(steps[last].abs().max()) / first.numel()
