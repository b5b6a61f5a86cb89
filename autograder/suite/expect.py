"""What a test may expect, with the tolerances in one place.

Type, shape, dtype, device and finiteness are checked before values, because `torch.allclose`
broadcasts and a comparison with NaN is false both ways.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.suite.answer import SHOWN_VALUES, Answer, CheckFailed, StudentRaised, show_tensor

# Relative and absolute. A component that computes in float32 inside is right, so float64 is
# judged no tighter than float32; bfloat16 keeps 8 bits, and a few roundings add up.
TOLERANCE = {
    torch.float64: (1e-5, 1e-5),
    torch.float32: (1e-5, 1e-5),
    torch.bfloat16: (4e-2, 4e-2),
}


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
    ) -> None:
        """Expect `actual` to have the shape and, within the dtype's tolerance, the values expected.

        Args:
            actual: what came back; None (no gradient) fails.
            expected: the right values; their dtype does not matter.
            what: names the tensor in the message.
            like: `actual` must also have this tensor's dtype.
            scale: multiplies the tolerance, where a result adds up many terms.
        """
        if actual is None:
            raise CheckFailed(f"{what} is missing: nothing flows back to it")
        want = torch.as_tensor(expected).to(torch.float64)
        self.shape(actual, want.shape, what)
        if like is not None:
            self.dtype(actual, like.dtype, what)
        got = actual.to(torch.float64)
        relative, absolute = TOLERANCE.get(actual.dtype, TOLERANCE[torch.float32])
        allowed = want.abs().mul_(scale * relative).add_(scale * absolute)
        # Right answers, which are most, leave here; a NaN or an infinity never does.
        if bool(((got - want).abs_() <= allowed).all()):
            return
        self.finite(got, want, what)
        error = (got - want).abs().masked_fill(got == want, 0.0)
        # Written so that a NaN among the expected values, a fault of the suite, fails too.
        excess = ~(error <= allowed)
        if not bool(excess.any()):
            return
        at = _worst((error - allowed).nan_to_num(nan=torch.inf))
        count = int(excess.sum())
        fact = f"{what} is off by {float(error[at]):.3g} at {list(at)}"
        if error.numel() > 1:
            fact += f" ({count} of {error.numel()} values are wrong)"
        raise CheckFailed(fact, detail=_compare(got, want, at))

    def equal(self, actual: Tensor, expected: Tensor, what: str = "the result") -> None:
        """Expect exactly these values, shape and dtype (for masks)."""
        self.dtype(actual, expected.dtype, what)
        self.shape(actual, expected.shape, what)
        wrong = actual != expected
        if bool(wrong.any()):
            at = _worst(wrong.to(torch.float64))
            fact = f"{what} is wrong at {list(at)} ({int(wrong.sum())} of {wrong.numel()} values)"
            raise CheckFailed(fact, detail=_compare(actual, expected, at))

    def shape(
        self, actual: Tensor, shape: Sequence[int], what: str = "the result", names: str = ""
    ) -> Tensor:
        """Expect this shape; `names` are the dimensions' names, as in "B T D"."""
        if tuple(actual.shape) != tuple(shape):
            named = f" ({', '.join(names.split())})" if names else ""
            raise CheckFailed(
                f"{what} has shape {tuple(actual.shape)}, expected {tuple(shape)}{named}"
            )
        return actual

    def dtype(self, actual: Tensor, dtype: torch.dtype, what: str = "the result") -> None:
        """Expect this dtype."""
        if actual.dtype != dtype:
            raise CheckFailed(
                f"{what} has dtype {actual.dtype}, expected {dtype}",
                hint="return the dtype of the input; look for .float(), .double() and new tensors",
            )

    def device(self, actual: Tensor, device: str, what: str = "the result") -> None:
        """Expect a tensor on a device of this type."""
        if actual.device.type != device:
            raise CheckFailed(
                f"{what} is on device {actual.device.type}, expected {device}",
                hint="make new tensors on the input's device: torch.zeros(..., device=x.device)",
            )

    def follows_device(self, answer: Answer, *shapes: Sequence[int]) -> None:
        """Expect a call on the `meta` device to give results of these shapes there.

        Only a clash of devices, or a result on the wrong one, counts: code that looks at values
        cannot run there and is still right.
        """
        error = answer.error
        if error is not None:
            if error.kind in ("DeviceMismatch", "NotAttempted", "MissingName", "Forbidden"):
                raise StudentRaised(error, answer.question)
            return
        outputs = answer.pair if len(shapes) == 2 else (answer.output,)
        for output, shape in zip(outputs, shapes, strict=True):
            self.device(output, "meta")
            self.shape(output, shape)

    def finite(self, actual: Tensor, expected: Tensor, what: str = "the result") -> None:
        """Expect no NaN, and no infinity but where `expected` has one."""
        wrong = actual.isnan() | (actual.isinf() & ~expected.isinf())
        if bool(wrong.any()):
            at = _worst(wrong.to(torch.float64))
            word = "NaN" if bool(actual[at].isnan()) else "infinite"
            count = int(wrong.sum())
            raise CheckFailed(f"{what} is {word} at {list(at)} ({count} of {wrong.numel()} values)")

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
        words = " or ".join(kinds)
        if answer.error is None:
            raise self._about(answer, CheckFailed(f"it must raise {words}, but it returned"))
        if answer.error.kind == "NotAttempted":
            raise StudentRaised(answer.error, answer.question)
        if answer.error.kind not in kinds:
            fact = f"it must raise {words}, but raised {answer.error.kind}"
            raise self._about(answer, CheckFailed(fact))

    def keys(self, actual: Sequence[str], expected: Sequence[str], what: str) -> None:
        """Expect exactly these names, in any order."""
        missing = [key for key in expected if key not in actual]
        extra = [key for key in actual if key not in expected]
        if missing or extra:
            facts = [f"missing {', '.join(missing)}"] if missing else []
            if extra:
                facts.append(f"not asked for: {', '.join(extra)}")
            raise CheckFailed(f"{what}: {'; '.join(facts)}")

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


def _compare(actual: Tensor, expected: Tensor, at: tuple[int, ...]) -> str:
    """Show both whole where they are short, else the worst place."""
    if expected.numel() <= SHOWN_VALUES:
        return f"expected {show_tensor(expected)}\nreturned {show_tensor(actual)}"
    return f"there: expected {expected[at].item():.6g}, returned {actual[at].item():.6g}"
