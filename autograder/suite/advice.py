"""What a student can do about what is wrong: no more than holds wherever it is said."""

from __future__ import annotations

from collections.abc import Collection, Sequence

CUT = (
    "is it used at all, and not a copy of it? .detach(), .data, .item(), numpy, no_grad and "
    "torch.tensor(...) cut the way back"
)
NAN = (
    "NaN comes from 0 / 0, inf / inf, inf - inf, 0 * inf, the root or log of a negative number, or "
    "a softmax over nothing but -inf"
)
INFINITE = (
    "look for exp of a large number, a division by 0, the log of 0, and an infinity that was put "
    "in and is still there"
)
OTHER_DTYPE = (
    "look at .float(), .double(), .to(...), and at new tensors, which are float32 unless dtype= "
    "says otherwise"
)
OTHER_KIND = "look at .half(), .to(...), comparisons, and at the dtype= of new tensors"
BOOLEAN = "comparisons (==, <=) make True and False, and so does dtype=torch.bool"


def key_hint(
    missing: Sequence[str],
    actual: Sequence[str],
    extra: Sequence[str],
    learned: Collection[str] | None,
) -> str:
    """Say what to do about keys that are missing or too many.

    Args:
        missing: those that should be there.
        actual: those that are.
        extra: those of them that should not be.
        learned: the names of the parameters, where they are known.
    """
    if missing:
        owner, _, part = missing[0].rpartition(".")
        if owner and any(key.startswith(f"{owner}.") for key in actual):
            layer = "; nn.Linear has one unless bias=False" if part == "bias" else ""
            return f"self.{owner} is there, and has no {part}{layer}"
        attribute = missing[0].partition(".")[0]
        made = "..." if owner else "nn.Parameter(...)"
        hint = f"{missing[0]} comes from self.{attribute} = {made} in __init__"
        return (
            hint
            if extra or owner
            else f"{hint}; a plain tensor makes no key, and a buffer is not learned"
        )
    if all(key.endswith(".bias") for key in extra):
        return "nn.Linear has no bias where it is told so: nn.Linear(..., bias=False)"
    if learned is None:
        return (
            "every nn.Parameter, layer and buffer adds to it, but for what is registered by "
            "register_buffer(..., persistent=False)"
        )
    if any(key in learned for key in extra):
        return "more is learned than was asked for: every nn.Parameter and every layer adds to it"
    return "what is not learned stays out of it by register_buffer(..., persistent=False)"
