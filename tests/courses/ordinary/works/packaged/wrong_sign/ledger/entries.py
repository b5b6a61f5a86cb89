"""One line of a ledger."""

from ledger import money


class Overdrawn(ValueError):
    """More went out than there was."""


class Entry:
    """An amount in cents that came in, or went out."""

    def __init__(self, text: str, cents: int, goes_out: bool = False) -> None:
        self.text = text
        self.cents = cents
        self.goes_out = goes_out

    def signed(self) -> int:
        """Return the amount, below zero where it went out."""
        # Your code here.
        return self.cents

    def __str__(self) -> str:
        return f"{self.text}: {money.written(self.signed())}"
