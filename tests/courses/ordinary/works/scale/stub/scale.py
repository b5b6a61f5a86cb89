"""Functions and a class of many kinds, small enough to be attacked."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO


def rescale(values: Iterable[float]) -> list[float]:
    """Return the values with the smallest at 0 and the largest at 1; [] for no values.

    Raises:
        ValueError: all values are equal.
    """
    # Your code here.
    raise NotImplementedError


def count(text: str | TextIO) -> int:
    """Return the number of words of a text, or of an open file."""
    # Your code here.
    raise NotImplementedError


class Counter:
    """Counts how often each word was added.

    Attributes:
        total: how many words were added.
    """

    def __init__(self) -> None:
        """Begin with no words."""
        # Your code here.
        raise NotImplementedError

    def add(self, word: str) -> int:
        """Add a word, and return how often it was added so far."""
        # Your code here.
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        """Iterate over the different words in alphabetical order."""
        # Your code here.
        raise NotImplementedError


def apply(function: Callable[[Any], Any], values: list) -> list:
    """Replace each value by what the function makes of it, in the list itself, and return it."""
    # Your code here.
    raise NotImplementedError


def load(path: Path) -> list[str]:
    """Return the lines of a file without spaces around them, and write them to `<path>.clean`."""
    # Your code here.
    raise NotImplementedError
