"""What a component may not use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    """What a component may not use.

    Attributes:
        operations: of torch, out of `forbidden.OPERATIONS`.
        modules: top-level modules that it may not import.
        functions: dotted names of functions and classes that it may not call.
    """

    operations: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Everything that a use may be reported of."""
        return frozenset((*self.operations, *self.modules, *self.functions))


def used_by(component: str, uses: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Return the components that one builds on, by way of others, too; their rules are their own.

    Args:
        component: the one.
        uses: of each component, those that it may import.
    """
    found = frozenset(uses.get(component, ()))
    return found.union(*(used_by(used, uses) for used in found))
