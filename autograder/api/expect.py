"""What a test may expect, with the tolerances in one place.

Type, shape, dtype, device and finiteness are checked before values, because `torch.allclose`
broadcasts and a comparison with NaN is false both ways.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Literal

import numpy as np

from autograder.api.answer import Answer, Asked, CheckFailed, StudentRaised, about_its_call
from autograder.api.lazy import Tensor, name_of, torch
from autograder.api.likeness import comparable, in_float64, readable, tolerance_of
from autograder.api.messages import ERROR_KINDS
from autograder.api.patterns import (
    both_shown,
    first_place,
    key_hint,
    listed,
    pattern,
    place_words,
    shape_pattern,
    share_words,
    tuple_of,
    worst_place,
)
from autograder.api.values import (
    Array,
    Marks,
    Numbers,
    Value,
    aligned,
    array_of,
    kind_of,
    size_words,
    tensors_in,
)
from autograder.api.wording import BOOLEAN, CUT, DEVICES, INFINITE, NAN, other_dtype, place
from autograder.text import clean

# What raised instead of the exception asked for, where its own words say more.
_OWN_WORDS = ("NotAttempted", "MissingName", "Forbidden", "StateKeys", "StateShape")
# How much coarser float16 is than what it is measured by.
_HALF = 400.0
# Below this many seconds a call costs nothing that can be measured.
_LEAST_COST = 1e-4
# The power and the factor by which a noisy machine may mislead.
_SLACK = 0.4
_NOISE = 3.0


class Expect:
    """Expectations on what came back from a component.

    Args:
        coarse: names of the dtypes of half precision that an answer may have, as the question has.
        asked: knows which call a tensor came back from.
        compared: is told the dtype of all that is compared, and by what the tolerance is scaled.
    """

    def __init__(
        self,
        coarse: Collection[str] = ("bfloat16",),
        asked: Asked | None = None,
        compared: Callable[[object, float], None] = lambda dtype, scale: None,
    ) -> None:
        self._coarse = coarse
        self.asked = asked or Asked()
        self._compared = compared

    @about_its_call
    @np.errstate(all="ignore")
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
        """Expect `actual` to have the shape and, within the dtype's tolerance, the values expected.

        Args:
            actual: the tensor or array that came back; None (no gradient) fails.
            expected: the right values. Whether they are real, complex or boolean matters, and
                nothing else of their dtype, but that half precision is asked for by it or `like`.
            what: names the tensor in the message.
            like: `actual` must also have this tensor's dtype.
            scale: multiplies the tolerance, where a result adds up many terms.
            names: the dimensions' names, as for `shape`.
            hint: what to look for where values are wrong and nothing more can be seen in them.
        """
        if actual is None:
            raise CheckFailed(f"{what} is missing: nothing flows back to it", hint=CUT)
        right: Numbers
        if isinstance(actual, np.ndarray):
            right = np.asarray(expected)
        else:
            right = torch.as_tensor(expected)
        self.shape(actual, right.shape, what, names)
        if like is not None:
            self.dtype(actual, like.dtype, what)
        comparable(actual, right, what, like, self._coarse)
        got, want = in_float64(actual), in_float64(right)
        relative, absolute = self._tolerance(actual.dtype, scale)
        error, allowed = np.abs(got - want), np.abs(want) * relative + absolute
        # Right answers, which are most, leave here; a NaN or an infinity never does.
        if bool((error <= allowed).all()):
            return
        _finite(got, want, what, names)
        error = np.where(got == want, 0.0, error)
        if bool(np.isnan(want).any()):
            # What is right is a number, unless the check takes it from another result.
            said = f"{what} is compared with another of your results, which is NaN"
            raise CheckFailed(said + place_words(first_place(np.isnan(want)), names), hint=NAN)
        excess = error > allowed
        if not bool(excess.any()):
            return
        at = worst_place(np.nan_to_num(error - allowed, nan=np.inf))
        fact = f"{what} is off by {size_words(float(error[at]))}{place_words(at, names)}"
        fact += share_words(excess, "wrong")
        seen = pattern(actual, want, names, scale) if want.shape == right.shape else ""
        raise CheckFailed(fact, detail=both_shown(got, want, at), hint=seen or hint)

    @about_its_call
    def equal(
        self, actual: Numbers, expected: Numbers, what: str = "the result", names: str = ""
    ) -> None:
        """Expect exactly these values, shape and dtype (for masks)."""
        self.dtype(actual, expected.dtype, what)
        self.shape(actual, expected.shape, what, names)
        readable(actual, what)
        got, want = array_of(actual), array_of(expected)
        wrong = got != want
        if bool(wrong.any()):
            at = first_place(wrong)
            fact = f"{what} is wrong{place_words(at, names)}{share_words(wrong, 'wrong')}"
            hint = pattern(actual, expected, names)
            raise CheckFailed(fact, detail=both_shown(got, want, at), hint=hint)

    def same(
        self,
        value: Value,
        right: Value,
        what: str = "the result",
        scale: float = 1.0,
        kinds: Literal["strict", "loose"] = "strict",
    ) -> None:
        """Expect a value of any kind to be the right one, part by part.

        Tensors, arrays and floats may differ within their dtype's tolerance, all else is compared
        exactly; a list and a tuple are one kind.

        Args:
            value: what came back.
            right: what is right.
            what: names the value, and with [3] or ["key"] behind it a part of it.
            scale: multiplies the tolerance.
            kinds: "loose" takes a list, an array and a tensor for one another, and 2.0 for 2.
        """
        for _, _, failure in wrong_parts(self, value, right, what, scale, kinds == "loose"):
            raise failure

    def _marks(self, scale: float) -> Marks:
        """Return what marks allow of the parts of a value."""

        def close(mine: Numbers, theirs: Numbers, place: str) -> None:
            dtype = name_of(theirs.dtype)
            if "float" in dtype or "complex" in dtype:
                # It has fewer digits than any that a criterion asks for by itself.
                half = _HALF if dtype == "float16" else 1.0
                self.close(mine, theirs, place, like=theirs, scale=scale * half)
            else:
                self.equal(mine, theirs, place)

        return Marks(close, self._tolerance("float64", scale)[0], CheckFailed)

    def growth(
        self,
        sizes: Sequence[float],
        costs: Sequence[float],
        exponent: float,
        what: str = "the cost",
    ) -> None:
        """Expect costs to grow no faster than sizes ** exponent.

        The last step may be somewhat steeper, and the largest size must cost several times what the
        smallest allows: a noisy machine alone makes nothing fail.

        Args:
            sizes: of the questions, ascending, the last at least four times the first.
            costs: seconds or operations, in the same order.
            exponent: the right one.
            what: names the cost.
        """
        slope = _too_steep(sizes, costs, exponent)
        if slope is not None:
            grows = f"{what} grows about like size ** {slope:.1f}"
            fact = f"{grows}, expected at most size ** {exponent:g}"
            raise CheckFailed(fact, hint="look for work that is repeated for every element")

    @about_its_call
    def shape(
        self, actual: Numbers, shape: Sequence[int], what: str = "the result", names: str = ""
    ) -> Numbers:
        """Expect this shape.

        Args:
            actual: what came back.
            shape: the right shape.
            what: names the tensor in the message.
            names: the dimensions' names, as in "B T D", or "... T D" where any may come before.
        """
        right = tuple(shape)
        if tuple(actual.shape) != right:
            given = tuple_of(names, len(right))
            named = f"{given} = " if given else ""
            fact = f"{what} has shape {tuple(actual.shape)}, expected {named}{right}"
            raise CheckFailed(fact, hint=shape_pattern(actual.shape, right, names))
        return actual

    @about_its_call
    def dtype(self, actual: Numbers, dtype: object, what: str = "the result") -> None:
        """Expect this dtype."""
        if actual.dtype != dtype:
            mine, right = name_of(actual.dtype), name_of(dtype)
            hint = BOOLEAN if right == "bool" else other_dtype(mine, right)
            raise CheckFailed(f"{what} has dtype {actual.dtype}, expected {dtype}", hint=hint)

    @about_its_call
    def device(self, actual: Tensor, device: str, what: str = "the result") -> None:
        """Expect a tensor on a device of this type."""
        if actual.device.type != device:
            fact = f"{what} is on device {actual.device.type}, expected {device}"
            raise CheckFailed(fact, hint=DEVICES)

    def follows_device(
        self,
        answer: Answer,
        *shapes: Sequence[int],
        names: Sequence[str] = (),
        called: Sequence[str] = (),
    ) -> None:
        """Expect every tensor that a call on the `meta` device gives to be there, too.

        Only a clash of devices, or a result on the wrong one, counts: code that looks at values
        cannot run there and is still right. Where shapes are given, as many tensors must come back,
        and have them; `names` are the names of each one's dimensions, `called` those of several.
        """
        error = answer.error
        if error is not None:
            if error.kind in ("DeviceMismatch", "NotAttempted", "MissingName", "Forbidden"):
                raise StudentRaised(error, answer.question)
            return
        if not shapes:
            for tensor in tensors_in(answer.value):
                self.device(tensor, "meta")
            return
        outputs = answer.tensors(*called) if called else (answer.output,)
        for output, shape, named in zip(
            outputs, shapes, (*names, *[""] * len(shapes)), strict=False
        ):
            self.device(output, "meta")
            self.shape(output, shape, names=named)

    @about_its_call
    def finite(
        self, actual: Numbers, expected: Numbers, what: str = "the result", names: str = ""
    ) -> None:
        """Expect no NaN, and no infinity but where `expected` has one."""
        _finite(array_of(actual), array_of(expected), what, names)

    def unchanged(self, answer: Answer, *inputs: Tensor) -> None:
        """Expect the tensor arguments of a call to be as they were before it."""
        self.that(answer)
        for number, (after, before) in enumerate(
            zip(answer.inputs_after, inputs, strict=True), start=1
        ):
            same_form = (after.shape, after.dtype) == (before.shape, before.dtype)
            if not (same_form and torch.equal(after, before)):
                raise CheckFailed(
                    f"the call changed its input (tensor argument {number})",
                    hint="operations that end in _ and += write into the caller's tensor",
                )

    def raises(self, answer: Answer, *kinds: str, exactly: bool = False) -> None:
        """Expect the call to have raised one of these exceptions, or of their subclasses.

        Args:
            answer: of the call.
            kinds: names of exceptions, built in or the submission's own.
            exactly: whether a subclass will not do.
        """
        words, error = " or ".join(kinds), answer.error
        words = f"exactly {words}" if exactly else words
        if error is None:
            hint = f"look at the arguments and write: raise {kinds[0]}(...)"
            fact = f"it must raise {words}, but it returned"
            raise CheckFailed(fact, hint=hint, question=answer.question)
        if error.kind in _OWN_WORDS or error.phase == "import":
            raise StudentRaised(error, answer.question)
        own = exactly or any(kind not in ERROR_KINDS for kind in kinds)
        fits = "Exception" in kinds or any(error.is_a(kind) for kind in kinds)
        if not (error.name in kinds if exactly else fits):
            raised = clean(error.name, 80) if own else error.kind
            fact = f"it must raise {words}, but raised {raised}{place(error.file, error.line)}"
            said = f"it said: {clean(error.text)}" if error.text else ""
            raise CheckFailed(fact, detail=said, question=answer.question)

    def keys(
        self,
        actual: Sequence[str],
        expected: Sequence[str],
        what: str,
        learned: Collection[str] | None = None,
    ) -> None:
        """Expect exactly these names, in any order; `learned` are those of the parameters."""
        missing = [key for key in expected if key not in actual]
        extra = [key for key in actual if key not in expected]
        if missing or extra:
            facts = [f"missing {listed(missing)}"] if missing else []
            facts += [f"{len(extra)} not asked for"] if extra else []
            # Their names are the student's, and could carry what a hidden check does not show.
            detail = f"not asked for: {listed(extra)}" if extra else ""
            hint = key_hint(missing, actual, extra, learned)
            raise CheckFailed(f"{what}: {'; '.join(facts)}", detail=detail, hint=hint)

    def that(self, condition: object, fact: str = "", *, detail: str = "", hint: str = "") -> None:
        """Expect a condition, or that an answer came back without an error."""
        if isinstance(condition, Answer):
            if condition.error is not None:
                raise StudentRaised(condition.error, condition.question)
        elif not condition:
            raise CheckFailed(fact, detail=detail, hint=hint)

    def _tolerance(self, dtype: object, scale: float) -> tuple[float, float]:
        self._compared(dtype, scale)
        return tolerance_of(dtype, scale)


def wrong_parts(
    expect: Expect, value: Value, right: Value, what: str, scale: float = 1.0, loose: bool = False
) -> Iterator[tuple[Value, Value, CheckFailed]]:
    """Yield every part of a value that is not the right one, as `Expect.same` compares them.

    Yields:
        The part that came back, the right one, and what is wrong with it.
    """
    marks = expect._marks(scale)
    for name, mine, theirs, _ in aligned(value, right, what, loose=loose):
        try:
            kind_of(theirs, also=True).check(mine, theirs, name, marks)
        except CheckFailed as failure:
            yield mine, theirs, failure


def _finite(got: Array, want: Array, what: str, names: str) -> None:
    for wrong, word, hint in (
        (np.isnan(got), "NaN", NAN),
        (np.isinf(got) & ~np.isinf(want), "infinite", INFINITE),
    ):
        if bool(wrong.any()):
            first = ", first" if int(wrong.sum()) > 1 else ""
            at = place_words(first_place(wrong), names) + share_words(wrong, word)
            raise CheckFailed(f"{what} is {word}{first}{at}", hint=hint)


def _too_steep(sizes: Sequence[float], costs: Sequence[float], exponent: float) -> float | None:
    """Return the power of the size that costs grow with, where it is clearly above `exponent`.

    Args:
        sizes: of the questions, the last at least four times the first.
        costs: seconds or operations, in the same order.
        exponent: the power that is allowed.
    """
    (before, cheaper), (size, cost) = sorted(zip(sizes, costs, strict=True))[-2:]
    # At the largest sizes, the fixed cost of a call counts least.
    slope = math.log(max(cost, _LEAST_COST) / max(cheaper, _LEAST_COST)) / math.log(size / before)
    allowed = _NOISE * (size / sizes[0]) ** exponent * max(costs[0], _LEAST_COST)
    return slope if slope > exponent + _SLACK and cost > allowed else None
