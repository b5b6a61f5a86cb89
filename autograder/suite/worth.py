"""What the cases of a criterion are worth, by whether they take work.

A case that holds for answers without any work, as for zeros or an exception, asks for a shape, an
error or a device. It counts beside something that takes work.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

# Said of what passes, where nothing does that takes work.
COUNTS_LATER = (
    "what holds here holds for answers without any work, too: "
    "it counts once something of this component's values is right"
)


@dataclass(frozen=True)
class Worth:
    """Which cases of a criterion take work, by name; a test without parameters has the one "".

    Attributes:
        earning: those that count by themselves.
        opening: those of them that make the component's others count, too. What a module has right
            that computes nothing, as the names of its parameters, does not.
    """

    earning: frozenset[str]
    opening: frozenset[str]

    def opens(self, held: Collection[str]) -> bool:
        """Tell whether cases that hold make the component's others count."""
        return not self.opening.isdisjoint(held)
