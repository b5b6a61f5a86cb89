"""Sums of entries."""

from ..entries import Entry, Overdrawn


def total(entries: list[Entry]) -> int:
    """Return the sum of all entries in cents."""
    ### BEGIN SOLUTION
    return sum(entry.signed() for entry in entries)
    ### END SOLUTION


def balance_after(start: int, entries: list[Entry]) -> list[int]:
    """Return the balance after each entry.

    Raises:
        Overdrawn: it would be below zero.
    """
    ### BEGIN SOLUTION
    found = []
    for entry in entries:
        start += entry.signed()
        if start < 0:
            raise Overdrawn(entry.text)
        found.append(start)
    return found
    ### END SOLUTION
