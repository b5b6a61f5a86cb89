"""Money, purses, and a stack of coins."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import NamedTuple


class Currency(enum.Enum):
    """The currencies that there are."""

    EUR = "euro"
    CHF = "franc"

    @property
    def symbol(self) -> str:
        """Its first letter as a capital: "E" or "F"."""
        # Your code here.
        raise NotImplementedError


class Change(NamedTuple):
    """What somebody gets back."""

    coins: int
    rest: int


class Money:
    """An amount of whole cents in a currency.

    Attributes:
        cents: the amount.
        currency: its currency.
    """

    def __init__(self, cents: int, currency: Currency = Currency.EUR) -> None:
        """Keep both."""
        # Your code here.
        raise NotImplementedError

    @property
    def amount(self) -> float:
        """The amount in euros or francs. To set it sets the cents, rounded."""
        # Your code here.
        raise NotImplementedError

    @amount.setter
    def amount(self, value: float) -> None:
        # Your code here.
        raise NotImplementedError

    @classmethod
    def parse(cls, text: str) -> Money:
        """Return the money that a text like "2.50 CHF" names."""
        # Your code here.
        raise NotImplementedError

    def __add__(self, other: Money) -> Money:
        """Return the sum.

        Raises:
            ValueError: the currencies differ.
        """
        # Your code here.
        raise NotImplementedError

    def __mul__(self, factor: int) -> Money:
        # Your code here.
        raise NotImplementedError

    def __rmul__(self, factor: int) -> Money:
        # Your code here.
        raise NotImplementedError

    def __neg__(self) -> Money:
        # Your code here.
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        """Return whether amount and currency are equal; other things are never equal."""
        # Your code here.
        raise NotImplementedError

    def __lt__(self, other: Money) -> bool:
        # Your code here.
        raise NotImplementedError

    def __hash__(self) -> int:
        """Return the same for equal money."""
        # Your code here.
        raise NotImplementedError

    def __bool__(self) -> bool:
        """Return whether it is more or less than nothing."""
        # Your code here.
        raise NotImplementedError

    def __repr__(self) -> str:
        """Return a text like "Money(250, CHF)"."""
        # Your code here.
        raise NotImplementedError

    def change(self, coin: int) -> Change:
        """Return how many coins of so many cents it is, and what is left."""
        # Your code here.
        raise NotImplementedError


class Stack(list):
    """A list that is used from its end."""

    def push(self, item: object) -> None:
        """Put an item on top."""
        # Your code here.
        raise NotImplementedError

    def peek(self) -> object:
        """Return what is on top, without taking it.

        Raises:
            IndexError: nothing is there.
        """
        # Your code here.
        raise NotImplementedError


class Purse:
    """Some money, piece by piece. In a with block, what is put in afterwards is an error."""

    def __init__(self, *money: Money) -> None:
        """Put the money in, in this order."""
        # Your code here.
        raise NotImplementedError

    def put(self, money: Money) -> None:
        """Put one more in.

        Raises:
            RuntimeError: the purse is closed.
        """
        # Your code here.
        raise NotImplementedError

    def __len__(self) -> int:
        # Your code here.
        raise NotImplementedError

    def __getitem__(self, index: int | slice) -> Money | list[Money]:
        # Your code here.
        raise NotImplementedError

    def __setitem__(self, index: int, money: Money) -> None:
        # Your code here.
        raise NotImplementedError

    def __delitem__(self, index: int) -> None:
        # Your code here.
        raise NotImplementedError

    def __iter__(self) -> Iterator[Money]:
        """Iterate over the money, the smallest first."""
        # Your code here.
        raise NotImplementedError

    def __contains__(self, money: Money) -> bool:
        # Your code here.
        raise NotImplementedError

    def __enter__(self) -> Purse:
        """Return the purse itself, open."""
        # Your code here.
        raise NotImplementedError

    def __exit__(self, *exception: object) -> bool:
        """Close the purse; a KeyError ends here."""
        # Your code here.
        raise NotImplementedError


class SavingsPurse(Purse):
    """A purse that gives interest."""

    interest = 0.5

    def total(self) -> float:
        """Return the amounts of all money together, with interest: half as much again."""
        # Your code here.
        raise NotImplementedError


def instalments(total: int, count: int) -> Iterator[int]:
    """Yield `count` whole numbers that add up to the total and differ by 1 at most.

    The larger ones come first. No number is computed before it is asked for.
    """
    # Your code here.
    raise NotImplementedError
