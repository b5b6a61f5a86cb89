"""Functions and a class of many kinds, small enough to be attacked."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO


def rescale(values: Iterable[float]) -> list[float]:
    """Return the values with the smallest at 0 and the largest at 1; [] for no values.

    Raises:
        ValueError: all values are equal.
    """
    ### BEGIN SOLUTION
    values = list(values)
    if not values:
        return []
    low, high = min(values), max(values)
    if low == high:
        raise ValueError(f"all values are {low}")
    return [(value - low) / (high - low) for value in values]
    ### END SOLUTION


def count(text: str | TextIO) -> int:
    """Return the number of words of a text, or of an open file."""
    ### BEGIN SOLUTION
    if not isinstance(text, str):
        text = text.read()
    return len(text.split())
    ### END SOLUTION


class Counter:
    """Counts how often each word was added.

    Attributes:
        total: how many words were added.
    """

    def __init__(self) -> None:
        """Begin with no words."""
        ### BEGIN SOLUTION
        self.total = 0
        self._counts: dict[str, int] = {}
        ### END SOLUTION

    def add(self, word: str) -> int:
        """Add a word, and return how often it was added so far."""
        ### BEGIN SOLUTION
        self.total += 1
        self._counts[word] = self._counts.get(word, 0) + 1
        return self._counts[word]
        ### END SOLUTION

    def __iter__(self) -> Iterator[str]:
        """Iterate over the different words in alphabetical order."""
        ### BEGIN SOLUTION
        return iter(sorted(self._counts))
        ### END SOLUTION


def apply(function: Callable[[Any], Any], values: list) -> list:
    """Replace each value by what the function makes of it, in the list itself, and return it."""
    ### BEGIN SOLUTION
    for place, value in enumerate(values):
        values[place] = function(value)
    return values
    ### END SOLUTION


def load(path: Path) -> list[str]:
    """Return the lines of a file without spaces around them, and write them to `<path>.clean`."""
    ### BEGIN SOLUTION
    lines = [line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    Path(f"{path}.clean").write_text("\n".join(lines), encoding="utf-8")
    return lines
    ### END SOLUTION
