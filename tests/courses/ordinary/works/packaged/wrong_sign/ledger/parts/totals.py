"""Sums of entries."""

from ..entries import Entry, Overdrawn


def total(entries: list[Entry]) -> int:
    """Return the sum of all entries in cents."""
    # Your code here.
    return sum(entry.signed() for entry in entries)


def balance_after(start: int, entries: list[Entry]) -> list[int]:
    """Return the balance after each entry.

    Raises:
        Overdrawn: it would be below zero.
    """
    # Your code here.
    return [start + entry.signed() for entry in entries]
