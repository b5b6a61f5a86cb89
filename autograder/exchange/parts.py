"""The parts of a reply: what each may hold, and what it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import Tensor

from autograder.exchange.values import ABSENT, Absent, Value


@dataclass(frozen=True)
class Part:
    """What a part of a reply holds, for whoever writes, reads, compares or shows it.

    Attributes:
        words: what one item is called, in a message to the instructor; {} is its number or name.
        holds: any "value", one "tensor", a list of "tensors", or tensors by name ("named").
        gaps: whether a tensor in it may be missing (None).
        derived: whether it adds up roundings, as gradients do.
        random: whether it hangs on random draws where the outputs do.
    """

    words: str
    holds: Literal["value", "tensor", "tensors", "named"]
    gaps: bool = False
    derived: bool = False
    random: bool = True

    def is_empty(self, value: Value) -> bool:
        """Tell whether there is nothing in it."""
        if self.holds == "value":
            return value is ABSENT or isinstance(value, Absent)
        return value is None or (type(value) is not Tensor and len(value) == 0)

    def fits(self, value: Value) -> bool:
        """Tell whether it can hold a value that was read."""
        if self.holds == "value":
            return True
        if self.holds == "tensor":
            return isinstance(value, Tensor)
        if self.holds == "tensors":
            return isinstance(value, list) and all(map(self._fits_item, value))
        return (
            isinstance(value, dict)
            and all(isinstance(key, str) for key in value)
            and all(map(self._fits_item, value.values()))
        )

    def _fits_item(self, item: Value) -> bool:
        return isinstance(item, Tensor) or (self.gaps and item is None)


# What stands for nothing in a part. Most parts of most replies are empty.
_EMPTY: Mapping[str, Callable[[], Value]] = {"tensors": list, "named": dict}


def part(words: str, holds: Any, **more: bool) -> Any:
    """Return a field of a reply that is a part, with a default of its own."""
    metadata = {"part": Part(words, holds, **more)}
    if holds in _EMPTY:
        return field(default_factory=_EMPTY[holds], metadata=metadata)
    return field(default=ABSENT if holds == "value" else None, metadata=metadata)
