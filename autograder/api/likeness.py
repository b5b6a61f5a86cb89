"""Compare answers: with the tolerances of marks, and how far apart two of them are.

A comparison takes place in float64, of numbers of one kind: what is lost on the way there, as an
imaginary part or the digits that float16 never had, would count as right. A distance of 1 is as far
as marks allow, 0 is the same answer, and infinity another form: another shape, dtype, exception or
key.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from autograder.api.answer import CheckFailed
from autograder.api.lazy import Tensor, name_of, torch
from autograder.api.messages import PARTS, Reply, Request
from autograder.api.operations import Ask, handle_of
from autograder.api.values import (
    DTYPES,
    INSTEAD,
    Array,
    Numbers,
    Opaque,
    Value,
    aligned,
    array_of,
    keys_of,
    kind_of,
    kind_words,
    leaves,
    tensors_in,
    widened,
)
from autograder.api.wording import OTHER_KIND

# Relative and absolute. A component that computes in float32 inside is right, so float64 is
# judged no tighter than float32; bfloat16 keeps 8 bits, and a few roundings add up.
TOLERANCE = {"float64": (1e-5, 1e-5), "float32": (1e-5, 1e-5), "bfloat16": (4e-2, 4e-2)}
# Fewer digits than a criterion asks for unless it says so.
HALF = ("float16", "bfloat16")

# By how much the tolerance of a question is multiplied, for numbers of a fineness.
Slack = Mapping[str, float]

# An answer is clearly nearer to one than to another if it is nearer by this factor and the other
# is farther than this number of roundings.
CLEARLY = 5.0
# Beyond this it does not matter how much farther: it is clearly farther than what barely fits.
FAR = CLEARLY**2
# Two ways to write down one mistake round differently, and gradients add up many roundings.
_OUTPUT_SCALE = 4.0
_DERIVED_SCALE = 40.0
# Numbers from this size on count as infinite: some code masks with the least float32, -3e38.
_HUGE = 1e37
# What holds real numbers and is no tensor.
_REAL = (float, np.ndarray)
# Two samples of one distribution are taken for samples of two in one case of a million: their
# distribution functions part by this times sqrt(1/n + 1/m) then (Kolmogorov and Smirnov).
_SURE = math.sqrt(math.log(2 / 1e-6) / 2)


def readable(tensor: Numbers, what: str) -> None:
    """Expect a tensor that holds its values as plain numbers, as every array does.

    Raises:
        CheckFailed: it is sparse, quantised, of another odd dtype, or has no values at all.
    """
    if not isinstance(tensor, torch.Tensor):
        return
    if tensor.layout is not torch.strided:
        raise CheckFailed(
            f"{what} is a tensor of {tensor.dtype} with layout {tensor.layout}, expected a dense "
            "one",
            hint="return a plain tensor: x.to_dense()",
        )
    if name_of(tensor.dtype) not in DTYPES:
        raise _other_numbers(what, name_of(tensor.dtype), "plain numbers")
    if tensor.is_meta:
        raise CheckFailed(f"{what} is on device meta, where there are no values")


def comparable(
    actual: Numbers,
    expected: Numbers,
    what: str,
    like: Numbers | None,
    coarse: Collection[str],
) -> None:
    """Expect numbers of a kind that loses nothing when they are compared.

    Real numbers are compared with real ones, whole or not, complex with complex, booleans with
    booleans. Half precision is right where `like` or `expected` has it, or what was asked.

    Args:
        actual: what came back.
        expected: the right values, in their own dtype.
        what: names the tensor.
        like: has the dtype that was asked for, if any was.
        coarse: the names of the dtypes of half precision that the question itself holds.

    Raises:
        CheckFailed: they are of another kind; the message names the dtype.
    """
    readable(actual, what)
    dtype, right = name_of(actual.dtype), name_of(expected.dtype)
    asked = {right, *coarse} if like is None else {right, name_of(like.dtype)}
    wanted = kind_of_numbers(right)
    if kind_of_numbers(dtype) != wanted:
        raise _other_numbers(what, dtype, wanted)
    if dtype in HALF and dtype not in asked:
        raise _other_numbers(what, dtype, "at least float32")


def same_kinds(value: Value, rights: Sequence[Value]) -> None:
    """Expect no object, and no complex, boolean or half-precision numbers, where none is right.

    A test may compare only gradients, or two answers of one component. It would not notice that
    all of them are complex. And an object says of itself what it is equal to.

    Args:
        value: what came back, of any form.
        rights: the solution's answers to what is asked by the same name; empty where it was never
            asked, and any value is taken.

    Raises:
        CheckFailed: a part of the value is of another kind than every part of these.
    """
    known = [leaf for right in rights for leaf in leaves(right)]
    dtypes = {dtype for dtype in map(_dtype_of, known) if dtype is not None}
    kinds = {kind_of_numbers(dtype) for dtype in dtypes}
    objects = any(isinstance(leaf, Opaque) for leaf in known)
    # Of nothing nothing is read: many methods return the object itself.
    nothing = bool(rights) and all(right is None for right in rights)
    for leaf in leaves(value):
        if isinstance(leaf, Opaque) and not (objects or nothing):
            raise _object(leaf, "is" if leaf is value else "holds", rights)
        dtype = _dtype_of(leaf)
        if dtype is None or not dtypes:
            continue
        if dtype in HALF and dtypes.isdisjoint(HALF):
            raise _other_numbers("the result", dtype, "at least float32")
        # Numbers in place of truth lose nothing; a test that asks for truth says so.
        if kind_of_numbers(dtype) not in {"real numbers", *kinds}:
            raise _other_numbers("the result", dtype, max(kinds))


def _dtype_of(value: Value) -> str | None:
    # A reader can tell True from 1: plain ones have none.
    return kind_of(value).dtype(value)


def _object(found: Opaque, verb: str, rights: Sequence[Value]) -> CheckFailed:
    wanted = kind_words(rights[0]) if rights else "a value"
    wanted = "a whole number" if rights and type(rights[0]) is int else wanted
    words = kind_words(found)
    return CheckFailed(f"the result {verb} {words}, expected {wanted}", hint=INSTEAD[found.words])


def in_float64(numbers: Numbers) -> Array:
    """Return the values in float64; of complex numbers both parts, in one more dimension."""
    array = array_of(numbers)
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag], -1).astype(np.float64)
    return array.astype(np.float64, copy=False)


def is_floating(numbers: Numbers) -> bool:
    """Return whether these are real numbers that can have a fraction."""
    return "float" in name_of(numbers.dtype)


def kind_of_numbers(dtype: str) -> str:
    """Say whether numbers of a dtype are complex, boolean or real."""
    if dtype.startswith("complex"):
        return "complex numbers"
    return "torch.bool" if dtype == "bool" else "real numbers"


def _other_numbers(what: str, dtype: str, wanted: str) -> CheckFailed:
    return CheckFailed(f"{what} has dtype torch.{dtype}, expected {wanted}", hint=OTHER_KIND)


def coarse_in(request: Request) -> set[str]:
    """Return the dtypes of half precision that a request holds, in tensors or by name."""
    found = {name_of(tensor.dtype) for tensor in request.tensors()}
    for op in request.ops:
        given = (*op.args, *op.kwargs.values()) if type(op) is Ask else ()
        found |= {name_of(value) for value in given if isinstance(value, torch.dtype)}
    return found.intersection(HALF)


def tolerance_of(dtype: object, scale: float = 1.0) -> tuple[float, float]:
    """Return the relative and the absolute difference that is allowed for numbers of a dtype."""
    relative, absolute = TOLERANCE.get(name_of(dtype), TOLERANCE["float32"])
    return scale * relative, scale * absolute


def fineness(dtype: object) -> str:
    """Return the name of a dtype of half precision, and "float32" for every other dtype."""
    name = name_of(dtype)
    return name if name in HALF else "float32"


@dataclass
class Comparison:
    """Compares what a component answered with what it might have answered.

    Args:
        slack: how much more than usual marks allow.
        drawn: whether the values depend on random draws; then forms, shapes and the distribution of
            each tensor's values count, and 1 is where two samples surely part.
        void: whether to skip values where just one answer is finite and both are wrong, and where
            the component has 0 and the other answer NaN.
        enough: the comparison stops at the first distance greater than this, and returns it.

    Attributes:
        voided: whether any value was skipped.
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
            related = one.error.is_a(other.error.name) or other.error.is_a(one.error.name)
            return 0.0 if related else math.inf
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
            worst = max(worst, self.values(mine, theirs, more))
            if worst > self.enough:
                break
        return worst

    def values(self, one: Value, other: Value, third: Value = None) -> float:
        """Return how far apart two values are; a third may stand beside them."""
        # Most are compared whole, and often.
        if keys_of(other) is None:
            return self._part(one, other, third)

        worst = 0.0
        for _, theirs, mine, more in aligned(other, one, beside=third):
            worst = max(worst, self._part(mine, theirs, more))
            if worst > self.enough:
                break
        return worst

    def _part(self, one: Value, other: Value, third: Value) -> float:
        """Return how far apart two values are, without what they hold."""
        if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
            fits = isinstance(third, torch.Tensor) and third.shape == other.shape
            return self.numbers(one, other, third if fits else None)
        if isinstance(one, _REAL) and isinstance(other, _REAL):
            mine, theirs = np.asarray(one), np.asarray(other)
            if mine.dtype.kind != theirs.dtype.kind:
                return math.inf
            return self.numbers(widened(mine, "fiu"), widened(theirs, "fiu"), None)
        keys = keys_of(one)
        same = type(one) is type(other) and one == other if keys is None else keys == keys_of(other)
        return 0.0 if same else math.inf

    @np.errstate(all="ignore")
    def numbers(self, one: Numbers, other: Numbers, third: Numbers | None) -> float:
        """Return how far apart two tensors, or two arrays, are."""
        drawn, floating = self._random, is_floating(one)
        if one.shape != other.shape or floating != is_floating(other):
            return math.inf
        on_meta = [_is_meta(one), _is_meta(other)]
        if any(on_meta) or 0 in one.shape:
            # One without values stands for any draw.
            return 0.0 if drawn or on_meta[0] == on_meta[1] else math.inf
        same = one.dtype == other.dtype
        if not floating and not (drawn and same):
            return 0.0 if same and np.array_equal(array_of(one), array_of(other)) else math.inf
        first, second = in_float64(one), in_float64(other)
        if drawn:
            return _samples_apart(first, second, third)
        # What was computed from coarse numbers is no finer for being returned in another dtype.
        coarse = third is not None and fineness(third.dtype) != "float32"
        dtype = third.dtype if third is not None and coarse else one.dtype
        return self._apart(first, second, third, self._tolerance(dtype))

    def _tolerance(self, dtype: object) -> tuple[float, float]:
        """Return the relative and the absolute difference that is allowed."""
        scale = self._scale
        if fineness(dtype) == "bfloat16":
            # Its tolerance leaves room for several roundings as it is.
            scale = max(1.0, scale / 10)
        scale = max(scale, self.slack.get(fineness(dtype), 0.0))
        return tolerance_of(dtype, scale)

    def _apart(
        self, one: Array, other: Array, right: Numbers | None, tolerance: tuple[float, float]
    ) -> float:
        relative, absolute = tolerance
        error = np.abs(one - other)
        most = float(error.max())
        if most == 0.0:
            return 0.0
        if not most < _HUGE:
            one, other = _unbounded(one), _unbounded(other)
            error = np.abs(one - other)
            most = float(error.max())
        if math.isfinite(most):
            size = np.abs(other)
            largest = float(size.max())
            absolute *= max(1.0, largest)
            least = most / (largest * relative + absolute)
            if least > self.enough:
                return least
            return float((error / (size * relative + absolute)).max())
        error = np.where(one == other, 0.0, error)
        if bool(np.isfinite(error).all()):
            # Beside infinities that both have, no difference of numbers counts.
            return 0.0
        error = np.where(np.isnan(one) & np.isnan(other), 0.0, error)
        finite = np.abs(np.nan_to_num(other, nan=0.0, posinf=0.0, neginf=0.0))
        if self.void and right is not None:
            at_right = in_float64(right)
            allowed = relative * np.abs(at_right) + absolute
            wrong, theirs = (~(np.abs(a - at_right) <= allowed) for a in (one, other))
            # Just one of the two is finite, and both are wrong; or the component has turned a NaN
            # into 0.
            void = (np.isfinite(one) != np.isfinite(other)) & wrong & theirs
            void |= np.isnan(other) & (one == 0.0)
            self.voided = self.voided or bool(void.any())
            error = np.where(void, 0.0, error)
        absolute *= max(1.0, float(finite.max()))
        return float((np.nan_to_num(error, nan=math.inf) / (finite * relative + absolute)).max())


def _unbounded(values: Array) -> Array:
    """Return values with infinity for all that is as good as infinite."""
    return np.where(np.abs(values) >= _HUGE, np.copysign(np.inf, values), values)


def _is_meta(numbers: Numbers) -> bool:
    return isinstance(numbers, torch.Tensor) and numbers.is_meta


def _dtypes(reply: Reply) -> list[Any]:
    return [tensor.dtype for tensor in tensors_in(reply.value)]


def _given_numbers(requests: Sequence[Request]) -> bool:
    """Return whether the last request, or an earlier one on its objects, has float tensors.

    If not, more than one dtype of the answer is right.
    """
    holding: set[object] = set()
    given = False
    for request in requests:
        handles = set(map(handle_of, request.ops)) - {None}
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
    """Return whether two answers to the same requests are the same."""
    return Comparison(drawn=drawn, enough=1.0).replies(one, other, requests) <= 1


def same_reply(one: Reply, other: Reply, *, drawn: bool = False, dtypes: bool = True) -> bool:
    """Return whether two replies are the same; see `Comparison`."""
    return Comparison(drawn=drawn, enough=1.0).reply(one, other, dtypes=dtypes) <= 1


def _samples_apart(one: Array, other: Array, again: Numbers | None) -> float:
    """Return how far two samples are apart, as a share of what chance allows; 0 for few values.

    Chance is computed for independent values. As those of one tensor may depend on each other, the
    distance of another draw, `again`, from `other` is allowed as well.
    """
    allowed = _SURE * math.sqrt(2 / one.size)
    if allowed >= 1:
        # No two functions part by more.
        return 0.0
    apart = _steps_apart(one, other)
    if apart > allowed and again is not None and not _is_meta(again):
        allowed += _steps_apart(other, in_float64(again))
    return apart / allowed


def _steps_apart(one: Array, other: Array) -> float:
    """Return how far the distribution functions of two samples of one size part at most."""
    # Roundings do not make two values of what is one.
    both = np.concatenate([np.nan_to_num(values.ravel(), nan=math.inf) for values in (one, other)])
    order = both.argsort()
    values = both[order]
    steps = np.where(order < one.size, 1.0, -1.0).cumsum()
    new = np.diff(values) > 1e-5 * (1 + np.abs(values[1:]))
    return float(np.abs(steps[np.append(new, True)]).max()) / one.size


def raised_wrongly(reply: Reply, right: Reply) -> bool:
    """Return whether there is an exception, and not the right one."""
    if reply.error is None:
        return False
    return right.error is None or not reply.error.is_a(right.error.name)


def with_one_symptom(
    one: Reply, other: Reply, right: Reply, request: Request
) -> tuple[Reply, Reply]:
    """Return both replies, changed so that two symptoms of the same failed check are equal.

    If both leave the `meta` device, both become the right reply. An argument that both wrongly
    changed gets the same value in both.
    """
    # A call on the `meta` device whose right result stays there.
    stays = {tensor.device.type for tensor in right.tensors()} == {"meta"}
    if stays and _leaves(one) and _leaves(other):
        return right, right
    if not (one.inputs_after or other.inputs_after) or one.error or other.error:
        return one, other
    given = request.tensors()
    kept = [any(same_tensor(after, tensor) for tensor in given) for after in right.inputs_after]
    if not all(kept) or len(one.inputs_after) != len(kept) or len(other.inputs_after) != len(kept):
        return one, other
    triples = zip(one.inputs_after, other.inputs_after, right.inputs_after, strict=True)
    changed = [not (same_tensor(mine, r) or same_tensor(theirs, r)) for mine, theirs, r in triples]
    comparable = [
        theirs if both else mine
        for mine, theirs, both in zip(one.inputs_after, other.inputs_after, changed, strict=True)
    ]
    return replace(one, inputs_after=comparable), other


def _leaves(reply: Reply) -> bool:
    """Return whether a call on `meta` mixed devices or returned a tensor on another one."""
    if reply.error is not None:
        return reply.error.kind == "DeviceMismatch"
    return any(tensor.device.type != "meta" for tensor in tensors_in(reply.value))


def same_tensor(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors are the same, on the same device, to the bit."""
    if one.device != other.device or (one.shape, one.dtype) != (other.shape, other.dtype):
        return False
    return one.device.type == "meta" or torch.equal(one, other)


def with_one_name(
    one: Mapping[str, Value], other: Mapping[str, Value], right: Mapping[str, Value]
) -> tuple[Mapping[str, Value], Mapping[str, Value]]:
    """Return both; if both have as many keys that `right` lacks, `one` gets those of `other`."""
    spare = [[key for key in named if key not in right] for named in (one, other)]
    if not spare[0] or len(spare[0]) != len(spare[1]):
        return one, other
    names = dict(zip(spare[0], spare[1], strict=True))
    mine = {key: value for key, value in one.items() if key not in names}
    return mine | {key: other[key] for key in names.values()}, other
