"""Names that should be there and are not, or the other way round, in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from autograder.suite.answer import CheckFailed
from autograder.text import clean

_SHOWN_KEYS = 6


def other_keys(
    actual: Sequence[str],
    expected: Sequence[str],
    what: str,
    learned: Collection[str] | None = None,
) -> None:
    """Expect exactly these names, in any order; `learned` are those of the parameters.

    Raises:
        CheckFailed: some are missing, or too many.
    """
    missing = [key for key in expected if key not in actual]
    extra = [key for key in actual if key not in expected]
    if missing or extra:
        facts = [f"missing {_listed(missing)}"] if missing else []
        facts += [f"{len(extra)} not asked for"] if extra else []
        # Their names are the student's, and could carry what a hidden check does not show.
        detail = f"not asked for: {_listed(extra)}" if extra else ""
        hint = key_hint(missing, actual, extra, learned)
        raise CheckFailed(f"{what}: {'; '.join(facts)}", detail=detail, hint=hint)


def _listed(keys: Sequence[str]) -> str:
    """List keys of a student's, few and harmless."""
    more = f" and {len(keys) - _SHOWN_KEYS} more" if len(keys) > _SHOWN_KEYS else ""
    return ", ".join(clean(key, 80) for key in keys[:_SHOWN_KEYS]) + more


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
