"""Functions that take functions, and functions that change what they are given."""

from collections.abc import Callable
from typing import Any


def apply_all(function: Callable[[Any], Any], values: list) -> list:
    """Return what the function makes of each value, in order."""
    ### BEGIN SOLUTION
    return [function(value) for value in values]
    ### END SOLUTION


def retry(function: Callable[[], Any], times: int) -> Any:
    """Call a function until it raises nothing, `times` times at most, and return its result.

    Raises:
        whatever the last call raised.
    """
    ### BEGIN SOLUTION
    for _ in range(times - 1):
        try:
            return function()
        except Exception:
            continue
    return function()
    ### END SOLUTION


def compose(*functions: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that calls all of them, the last one first."""
    ### BEGIN SOLUTION

    def composed(value: Any) -> Any:
        for function in reversed(functions):
            value = function(value)
        return value

    return composed
    ### END SOLUTION


def sort_in_place(values: list, key: Callable[[Any], Any] | None = None) -> None:
    """Sort a list by insertion: the list itself is changed, and nothing is returned."""
    ### BEGIN SOLUTION
    for end in range(1, len(values)):
        place = end
        while place and _less(values[place], values[place - 1], key):
            values[place - 1], values[place] = values[place], values[place - 1]
            place -= 1
    ### END SOLUTION


def _less(first: Any, second: Any, key: Callable[[Any], Any] | None) -> bool:
    """Return whether the first comes before the second."""
    ### BEGIN SOLUTION
    return first < second if key is None else key(first) < key(second)
    ### END SOLUTION


def count_into(counts: dict[str, int], words: list[str]) -> None:
    """Add 1 to the count of each word, in the dict itself."""
    ### BEGIN SOLUTION
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    ### END SOLUTION


def visit(tree: dict, seen: Callable[[str, int], None], depth: int = 0) -> None:
    """Call `seen(name, depth)` for each name of a tree of dicts, parents first."""
    ### BEGIN SOLUTION
    for name, below in tree.items():
        seen(name, depth)
        visit(below, seen, depth + 1)
    ### END SOLUTION
