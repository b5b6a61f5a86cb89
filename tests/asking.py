"""Operations as tests write them down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.api.operations import Ask
from autograder.api.values import Handle, Named, Value


def asks(
    name: str,
    *args: Value,
    of: int | Named = Named(""),  # noqa: B008 - it is frozen
    kwargs: Mapping[str, Value] | None = None,
    verb: str = "call",
    **more: Any,
) -> Ask:
    """Return what asks the component, or the object of a number, by name."""
    asked = Handle(of) if isinstance(of, int) else of
    return Ask(name, verb, (asked, *args), kwargs or {}, **more)
