"""Compare answers: with the tolerances of marks, and how far apart two of them are.

A comparison takes place in float64, of numbers of one kind: what is lost on the way there, as an
imaginary part or the digits that float16 never had, would count as right. A distance of 1 is as far
as marks allow, 0 is the same answer, and infinity another form: another shape, dtype, exception or
key.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from autograder.api.advice import OTHER_KIND
from autograder.api.answer import CheckFailed
from autograder.api.messages import PARTS, Reply, Request
from autograder.api.operations import Build, Call, Move
from autograder.api.symptoms import with_one_name, with_one_symptom
from autograder.api.values import DTYPE_NAMES, DTYPES, Value, kind_of, tensors_in

# Relative and absolute. A component that computes in float32 inside is right, so float64 is
# judged no tighter than float32; bfloat16 keeps 8 bits, and a few roundings add up.
TOLERANCE = {
    torch.float64: (1e-5, 1e-5),
    torch.float32: (1e-5, 1e-5),
    torch.bfloat16: (4e-2, 4e-2),
}
# Fewer digits than a criterion asks for unless it says so.
HALF = (torch.float16, torch.bfloat16)

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


def readable(tensor: Tensor, what: str) -> None:
    """Expect a tensor that holds its values as plain numbers.

    Raises:
        CheckFailed: it is sparse, quantised, of another odd dtype, or has no values at all.
    """
    if tensor.layout is not torch.strided:
        raise CheckFailed(
            f"{what} is a tensor of {tensor.dtype} with layout {tensor.layout}, expected a dense "
            "one",
            hint="return a plain tensor: x.to_dense()",
        )
    if tensor.dtype not in DTYPE_NAMES:
        raise _other_numbers(what, tensor.dtype, "plain numbers")
    if tensor.is_meta:
        raise CheckFailed(f"{what} is on device meta, where there are no values")


def comparable(
    actual: Tensor,
    expected: Tensor,
    what: str,
    like: Tensor | None,
    coarse: Collection[torch.dtype],
) -> None:
    """Expect numbers of a kind that loses nothing when they are compared.

    Real numbers are compared with real ones, whole or not, complex with complex, booleans with
    booleans. Half precision is right where `like` or `expected` has it, or what was asked.

    Args:
        actual: what came back.
        expected: the right values, in their own dtype.
        what: names the tensor.
        like: has the dtype that was asked for, if any was.
        coarse: the dtypes of half precision that the question itself holds.

    Raises:
        CheckFailed: they are of another kind; the message names the dtype.
    """
    readable(actual, what)
    asked = {expected.dtype, *coarse} if like is None else {expected.dtype, like.dtype}
    wanted = kind_of_numbers(expected.dtype)
    if kind_of_numbers(actual.dtype) != wanted:
        raise _other_numbers(what, actual.dtype, wanted)
    if actual.dtype in HALF and actual.dtype not in asked:
        raise _other_numbers(what, actual.dtype, "at least float32")


def same_kinds(value: Value, right: Value) -> None:
    """Expect numbers of the right answer's kinds in an answer, whatever is read of it then.

    A test may compare gradients alone, or one answer with another of the same component: neither
    tells that all of them are complex.

    Args:
        value: what came back, of any form.
        right: the right answer to the same question.

    Raises:
        CheckFailed: a tensor, an array or a number of it is of another kind.
    """
    if isinstance(value, list | tuple) and isinstance(right, list | tuple):
        for mine, theirs in zip(value, right, strict=False):
            same_kinds(mine, theirs)
    elif isinstance(value, dict) and isinstance(right, dict):
        for key in value.keys() & right.keys():
            same_kinds(value[key], right[key])
    else:
        # True and 1 are told apart by whoever reads them.
        dtype, wanted = kind_of(value).dtype(value), kind_of(right).dtype(right)
        if dtype is None or wanted is None:
            return
        # Numbers in place of truth lose nothing; whoever asks for truth says so.
        odd = kind_of_numbers(dtype) in ("complex numbers", "torch.bool")
        odd = odd and kind_of_numbers(dtype) != kind_of_numbers(wanted)
        coarse = dtype in HALF and wanted not in HALF
        if coarse or odd:
            words = "at least float32" if coarse else kind_of_numbers(wanted)
            raise _other_numbers("the result", dtype, words)


def in_float64(tensor: Tensor) -> Tensor:
    """Return the values in float64; of complex numbers both parts, in one more dimension."""
    if tensor.is_complex():
        return torch.view_as_real(tensor.to(torch.complex128).resolve_conj())
    return tensor.to(torch.float64)


def kind_of_numbers(dtype: torch.dtype) -> str:
    """Say whether numbers of a dtype are complex, boolean or real."""
    if dtype.is_complex:
        return "complex numbers"
    return "torch.bool" if dtype is torch.bool else "real numbers"


def _other_numbers(what: str, dtype: torch.dtype, wanted: str) -> CheckFailed:
    return CheckFailed(f"{what} has dtype {dtype}, expected {wanted}", hint=OTHER_KIND)


def coarse_in(request: Request) -> set[torch.dtype]:
    """Return the dtypes of half precision that a request holds, in tensors or by name."""
    found = {tensor.dtype for tensor in request.tensors()}
    for op in request.ops:
        if isinstance(op, Move) and op.dtype is not None:
            found.add(DTYPES[op.dtype])
        given = (*op.args, *op.kwargs.values()) if isinstance(op, Build | Call) else ()
        found |= {value for value in given if isinstance(value, torch.dtype)}
    return found.intersection(HALF)


def tolerance_of(dtype: torch.dtype, scale: float = 1.0) -> tuple[float, float]:
    """Return the relative and the absolute difference that is allowed for numbers of a dtype."""
    relative, absolute = TOLERANCE.get(dtype, TOLERANCE[torch.float32])
    return scale * relative, scale * absolute


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
    # Of the part that is being compared.
    _scale: float = field(default=_OUTPUT_SCALE, init=False)
    _random: bool = field(default=False, init=False)

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
            self._scale = _DERIVED_SCALE if part.derived else _OUTPUT_SCALE
            self._random = self.drawn and part.random
            more = getattr(third, name, None)
            if part.holds == "named" and isinstance(more, Mapping) and not self.drawn:
                mine, theirs = with_one_name(mine, theirs, more)
            worst = max(worst, self.most([(mine, theirs, more)]))
            if worst > self.enough:
                break
        return worst

    def most(self, triples: Iterable[tuple[Value, Value, Value]]) -> float:
        """Return the largest distance of several values: the first, the second, a third beside."""
        worst = 0.0
        for one, other, third in triples:
            worst = max(worst, kind_of(one).apart(one, other, third, self))
            if worst > self.enough:
                break
        return worst

    def tensors(self, one: Tensor, other: Tensor, third: Tensor | None) -> float:
        """Return how far apart two tensors are."""
        drawn = self._random
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
        return self._numbers(first, second, third, self._tolerance(dtype))

    def _tolerance(self, dtype: torch.dtype) -> tuple[float, float]:
        """Return the relative and the absolute difference that is allowed."""
        scale = self._scale
        if dtype == torch.bfloat16:
            # Its tolerance leaves room for several roundings as it is.
            scale = max(1.0, scale / 10)
        scale = max(scale, self.slack.get(fineness(dtype), 0.0))
        return tolerance_of(dtype, scale)

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
