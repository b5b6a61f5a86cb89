"""What a test may expect, with the tolerances in one place.

Type, shape, dtype, device and finiteness are checked before values, because `torch.allclose`
broadcasts and a comparison with NaN is false both ways.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.suite.answer import SHOWN_VALUES, Answer, CheckFailed, StudentRaised, show_tensor
from autograder.suite.patterns import dimension_names, pattern, shape_pattern
from autograder.text import clean

# Relative and absolute. A component that computes in float32 inside is right, so float64 is
# judged no tighter than float32; bfloat16 keeps 8 bits, and a few roundings add up.
TOLERANCE = {
    torch.float64: (1e-5, 1e-5),
    torch.float32: (1e-5, 1e-5),
    torch.bfloat16: (4e-2, 4e-2),
}

_CUT = (
    "is it used at all, and not a copy of it? .detach(), .data, .item(), numpy, no_grad and "
    "torch.tensor(...) cut the way back"
)
_NAN = (
    "NaN comes from 0 / 0, inf - inf, 0 * inf, the root of a negative number, or a softmax over "
    "nothing but -inf"
)
# What raised instead of the exception asked for, where its own words say more.
_OWN_WORDS = ("NotAttempted", "MissingName", "Forbidden", "StateKeys", "StateShape")
_SHOWN_KEYS = 6


class Expect:
    """Expectations on tensors that came back from a component."""

    def close(
        self,
        actual: Tensor | None,
        expected: Tensor | Sequence[object],
        what: str = "the result",
        *,
        like: Tensor | None = None,
        scale: float = 1.0,
        names: str = "",
    ) -> None:
        """Expect `actual` to have the shape and, within the dtype's tolerance, the values expected.

        Args:
            actual: what came back; None (no gradient) fails.
            expected: the right values; their dtype does not matter.
            what: names the tensor in the message.
            like: `actual` must also have this tensor's dtype.
            scale: multiplies the tolerance, where a result adds up many terms.
            names: the dimensions' names, as for `shape`.
        """
        if actual is None:
            raise CheckFailed(f"{what} is missing: nothing flows back to it", hint=_CUT)
        want = torch.as_tensor(expected).to(torch.float64)
        self.shape(actual, want.shape, what, names)
        if like is not None:
            self.dtype(actual, like.dtype, what)
        got = actual.to(torch.float64)
        relative, absolute = TOLERANCE.get(actual.dtype, TOLERANCE[torch.float32])
        allowed = want.abs().mul_(scale * relative).add_(scale * absolute)
        # Right answers, which are most, leave here; a NaN or an infinity never does.
        if bool(((got - want).abs_() <= allowed).all()):
            return
        self.finite(got, want, what, names)
        error = (got - want).abs().masked_fill(got == want, 0.0)
        # Written so that a NaN among the expected values, a fault of the suite, fails too.
        excess = ~(error <= allowed)
        if not bool(excess.any()):
            return
        at = _worst((error - allowed).nan_to_num(nan=torch.inf))
        fact = f"{what} is off by {float(error[at]):.3g}{_at(at, names)}{_share(excess, 'wrong')}"
        hint = pattern(actual, want, names, scale)
        raise CheckFailed(fact, detail=_compare(got, want, at), hint=hint)

    def equal(
        self, actual: Tensor, expected: Tensor, what: str = "the result", names: str = ""
    ) -> None:
        """Expect exactly these values, shape and dtype (for masks)."""
        self.dtype(actual, expected.dtype, what)
        self.shape(actual, expected.shape, what, names)
        wrong = actual != expected
        if bool(wrong.any()):
            at = _first(wrong)
            fact = f"{what} is wrong{_at(at, names)}{_share(wrong, 'wrong')}"
            hint = pattern(actual, expected, names)
            raise CheckFailed(fact, detail=_compare(actual, expected, at), hint=hint)

    def shape(
        self, actual: Tensor, shape: Sequence[int], what: str = "the result", names: str = ""
    ) -> Tensor:
        """Expect this shape.

        Args:
            actual: what came back.
            shape: the right shape.
            what: names the tensor in the message.
            names: the dimensions' names, as in "B T D", or "... T D" where any may come before.
        """
        right = tuple(shape)
        if tuple(actual.shape) != right:
            given = _tuple_of(names, len(right))
            named = f"{given} = " if given else ""
            fact = f"{what} has shape {tuple(actual.shape)}, expected {named}{right}"
            raise CheckFailed(fact, hint=shape_pattern(actual.shape, right, names))
        return actual

    def dtype(self, actual: Tensor, dtype: torch.dtype, what: str = "the result") -> None:
        """Expect this dtype."""
        if actual.dtype != dtype:
            hint = "return the dtype of the input; look for .float(), .double() and new tensors"
            if dtype == torch.bool:
                hint = "comparisons (==, <=) make True and False, and so does dtype=torch.bool"
            raise CheckFailed(f"{what} has dtype {actual.dtype}, expected {dtype}", hint=hint)

    def device(self, actual: Tensor, device: str, what: str = "the result") -> None:
        """Expect a tensor on a device of this type."""
        if actual.device.type != device:
            raise CheckFailed(
                f"{what} is on device {actual.device.type}, expected {device}",
                hint="make new tensors on the input's device: torch.zeros(..., device=x.device)",
            )

    def follows_device(
        self, answer: Answer, *shapes: Sequence[int], names: Sequence[str] = ()
    ) -> None:
        """Expect a call on the `meta` device to give results of these shapes there.

        Only a clash of devices, or a result on the wrong one, counts: code that looks at values
        cannot run there and is still right. `names` are the names of each result's dimensions.
        """
        error = answer.error
        if error is not None:
            if error.kind in ("DeviceMismatch", "NotAttempted", "MissingName", "Forbidden"):
                raise StudentRaised(error, answer.question)
            return
        outputs = answer.pair if len(shapes) == 2 else (answer.output,)
        for output, shape, named in zip(outputs, shapes, (*names, "", ""), strict=False):
            self.device(output, "meta")
            self.shape(output, shape, names=named)

    def finite(
        self, actual: Tensor, expected: Tensor, what: str = "the result", names: str = ""
    ) -> None:
        """Expect no NaN, and no infinity but where `expected` has one."""
        for wrong, word, hint in (
            (actual.isnan(), "NaN", _NAN),
            (actual.isinf() & ~expected.isinf(), "infinite", "look for exp and a division by 0"),
        ):
            if bool(wrong.any()):
                first = ", first" if int(wrong.sum()) > 1 else ""
                fact = f"{what} is {word}{first}{_at(_first(wrong), names)}{_share(wrong, word)}"
                raise CheckFailed(fact, hint=hint)

    def unchanged(self, answer: Answer, *inputs: Tensor) -> None:
        """Expect the tensor arguments of a call to be as they were before it."""
        self.that(answer)
        for number, (after, before) in enumerate(
            zip(answer.inputs_after, inputs, strict=True), start=1
        ):
            same = after.shape == before.shape and torch.equal(after, before)
            if not same:
                raise CheckFailed(
                    f"the call changed its input (tensor argument {number})",
                    hint="operations that end in _ and += write into the caller's tensor",
                )

    def raises(self, answer: Answer, *kinds: str) -> None:
        """Expect the call to have raised one of these exceptions."""
        words, error = " or ".join(kinds), answer.error
        if error is None:
            hint = f"look at the arguments and write: raise {kinds[0]}(...)"
            raise self._about(
                answer, CheckFailed(f"it must raise {words}, but it returned", hint=hint)
            )
        if error.kind in _OWN_WORDS or error.phase == "import":
            raise StudentRaised(error, answer.question)
        if error.kind not in kinds:
            where = f" ({clean(error.file, 80)}, line {error.line})" if error.file else ""
            fact = f"it must raise {words}, but raised {error.kind}{where}"
            said = f"it said: {clean(error.text)}" if error.text else ""
            raise self._about(answer, CheckFailed(fact, detail=said))

    def keys(self, actual: Sequence[str], expected: Sequence[str], what: str) -> None:
        """Expect exactly these names, in any order."""
        missing = [key for key in expected if key not in actual]
        extra = [key for key in actual if key not in expected]
        if missing or extra:
            facts = [f"missing {_listed(missing)}"] if missing else []
            facts += [f"{len(extra)} not asked for"] if extra else []
            # Their names are the student's, and could carry what a hidden check does not show.
            detail = f"not asked for: {_listed(extra)}" if extra else ""
            fact = f"{what}: {'; '.join(facts)}"
            raise CheckFailed(fact, detail=detail, hint=_key_hint(missing, extra))

    def that(self, condition: object, fact: str = "", *, detail: str = "", hint: str = "") -> None:
        """Expect a condition, or that an answer came back without an error."""
        if isinstance(condition, Answer):
            if condition.error is not None:
                raise StudentRaised(condition.error, condition.question)
        elif not condition:
            raise CheckFailed(fact, detail=detail, hint=hint)

    def _about(self, answer: Answer, failure: CheckFailed) -> CheckFailed:
        failure.question = answer.question
        return failure


def _worst(error: Tensor) -> tuple[int, ...]:
    flat = int(error.flatten().argmax())
    return tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), error.shape))


def _first(wrong: Tensor) -> tuple[int, ...]:
    """Find the first place in reading order."""
    return tuple(int(i) for i in wrong.nonzero()[0])


def _tuple_of(names: str, dims: int) -> str:
    """Write "(B, T, D)"; nothing where there are no names, or they do not fit.

    They may not fit where a result is compared with another of the student's own.
    """
    if not any(dimension_names(names, dims)):
        return ""
    parts = names.split()
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _at(at: tuple[int, ...], names: str) -> str:
    named = _tuple_of(names, len(at)).replace(",)", ")")
    return f" at {list(at)}" + (f" {named}" if named else "") if at else ""


def _share(wrong: Tensor, word: str) -> str:
    count = int(wrong.sum())
    are = "is" if count == 1 else "are"
    return f"; {count} of {wrong.numel()} values {are} {word}" if wrong.numel() > 1 else ""


def _listed(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - _SHOWN_KEYS} more" if len(keys) > _SHOWN_KEYS else ""
    return ", ".join(clean(key, 80) for key in keys[:_SHOWN_KEYS]) + more


def _key_hint(missing: Sequence[str], extra: Sequence[str]) -> str:
    if missing:
        attribute = missing[0].partition(".")[0]
        made = "nn.Parameter(...)" if attribute == missing[0] else "..."
        hint = f"{missing[0]} comes from self.{attribute} = {made} in __init__"
        return hint if extra else f"{hint}; a plain tensor makes no key"
    if all(key.endswith("bias") for key in extra):
        return "a layer is told to have no bias: nn.Linear(..., bias=False)"
    return "what is not learned belongs in register_buffer(..., persistent=False)"


def _compare(actual: Tensor, expected: Tensor, at: tuple[int, ...]) -> str:
    """Show both whole where they are short, else the row of the worst place, or that alone."""
    if expected.numel() <= SHOWN_VALUES:
        return f"expected {show_tensor(expected)}\nreturned {show_tensor(actual)}"
    row = at[:-1]
    if expected.dim() > 1 and expected.size(-1) <= SHOWN_VALUES:
        where = ", ".join([*map(str, row), ":"])
        return (
            f"at [{where}] expected {show_tensor(expected[row])}\n"
            f"at [{where}] returned {show_tensor(actual[row])}"
        )
    return f"there: expected {expected[at].item():.6g}, returned {actual[at].item():.6g}"
