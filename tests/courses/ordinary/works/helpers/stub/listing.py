"""Functions that take functions, and functions that change what they are given."""

from collections.abc import Callable
from typing import Any


def apply_all(function: Callable[[Any], Any], values: list) -> list:
    """Return what the function makes of each value, in order."""
    # Your code here.
    raise NotImplementedError


def retry(function: Callable[[], Any], times: int) -> Any:
    """Call a function until it raises nothing, `times` times at most, and return its result.

    Raises:
        whatever the last call raised.
    """
    # Your code here.
    raise NotImplementedError


def compose(*functions: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that calls all of them, the last one first."""
    # Your code here.
    raise NotImplementedError


def sort_in_place(values: list, key: Callable[[Any], Any] | None = None) -> None:
    """Sort a list by insertion: the list itself is changed, and nothing is returned."""
    # Your code here.
    raise NotImplementedError


def _less(first: Any, second: Any, key: Callable[[Any], Any] | None) -> bool:
    """Return whether the first comes before the second."""
    # Your code here.
    raise NotImplementedError


def count_into(counts: dict[str, int], words: list[str]) -> None:
    """Add 1 to the count of each word, in the dict itself."""
    # Your code here.
    raise NotImplementedError


def visit(tree: dict, seen: Callable[[str, int], None], depth: int = 0) -> None:
    """Call `seen(name, depth)` for each name of a tree of dicts, parents first."""
    # Your code here.
    raise NotImplementedError
