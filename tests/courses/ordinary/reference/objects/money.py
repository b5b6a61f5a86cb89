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
        ### BEGIN SOLUTION
        return self.value[0].upper()
        ### END SOLUTION


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
        ### BEGIN SOLUTION
        self.cents = cents
        self.currency = currency
        ### END SOLUTION

    @property
    def amount(self) -> float:
        """The amount in euros or francs. To set it sets the cents, rounded."""
        ### BEGIN SOLUTION
        return self.cents / 100
        ### END SOLUTION

    @amount.setter
    def amount(self, value: float) -> None:
        ### BEGIN SOLUTION
        self.cents = round(100 * value)
        ### END SOLUTION

    @classmethod
    def parse(cls, text: str) -> Money:
        """Return the money that a text like "2.50 CHF" names."""
        ### BEGIN SOLUTION
        amount, currency = text.split()
        return cls(round(100 * float(amount)), Currency[currency])
        ### END SOLUTION

    def __add__(self, other: Money) -> Money:
        """Return the sum.

        Raises:
            ValueError: the currencies differ.
        """
        ### BEGIN SOLUTION
        if not isinstance(other, Money):
            return NotImplemented
        if self.currency is not other.currency:
            raise ValueError("the currencies differ")
        return Money(self.cents + other.cents, self.currency)
        ### END SOLUTION

    def __mul__(self, factor: int) -> Money:
        ### BEGIN SOLUTION
        return Money(self.cents * factor, self.currency)
        ### END SOLUTION

    def __rmul__(self, factor: int) -> Money:
        ### BEGIN SOLUTION
        return self * factor
        ### END SOLUTION

    def __neg__(self) -> Money:
        ### BEGIN SOLUTION
        return self * -1
        ### END SOLUTION

    def __eq__(self, other: object) -> bool:
        """Return whether amount and currency are equal; other things are never equal."""
        ### BEGIN SOLUTION
        if not isinstance(other, Money):
            return NotImplemented
        return (self.cents, self.currency) == (other.cents, other.currency)
        ### END SOLUTION

    def __lt__(self, other: Money) -> bool:
        ### BEGIN SOLUTION
        return self.cents < other.cents
        ### END SOLUTION

    def __hash__(self) -> int:
        """Return the same for equal money."""
        ### BEGIN SOLUTION
        return hash((self.cents, self.currency))
        ### END SOLUTION

    def __bool__(self) -> bool:
        """Return whether it is more or less than nothing."""
        ### BEGIN SOLUTION
        return self.cents != 0
        ### END SOLUTION

    def __repr__(self) -> str:
        """Return a text like "Money(250, CHF)"."""
        ### BEGIN SOLUTION
        return f"Money({self.cents}, {self.currency.name})"
        ### END SOLUTION

    def change(self, coin: int) -> Change:
        """Return how many coins of so many cents it is, and what is left."""
        ### BEGIN SOLUTION
        return Change(*divmod(self.cents, coin))
        ### END SOLUTION


class Stack(list):
    """A list that is used from its end."""

    def push(self, item: object) -> None:
        """Put an item on top."""
        ### BEGIN SOLUTION
        self.append(item)
        ### END SOLUTION

    def peek(self) -> object:
        """Return what is on top, without taking it.

        Raises:
            IndexError: nothing is there.
        """
        ### BEGIN SOLUTION
        return self[-1]
        ### END SOLUTION


class Purse:
    """Some money, piece by piece. In a with block, what is put in afterwards is an error."""

    def __init__(self, *money: Money) -> None:
        """Put the money in, in this order."""
        ### BEGIN SOLUTION
        self._money = list(money)
        self.is_open = True
        ### END SOLUTION

    def put(self, money: Money) -> None:
        """Put one more in.

        Raises:
            RuntimeError: the purse is closed.
        """
        ### BEGIN SOLUTION
        if not self.is_open:
            raise RuntimeError("the purse is closed")
        self._money.append(money)
        ### END SOLUTION

    def __len__(self) -> int:
        ### BEGIN SOLUTION
        return len(self._money)
        ### END SOLUTION

    def __getitem__(self, index: int | slice) -> Money | list[Money]:
        ### BEGIN SOLUTION
        return self._money[index]
        ### END SOLUTION

    def __setitem__(self, index: int, money: Money) -> None:
        ### BEGIN SOLUTION
        self._money[index] = money
        ### END SOLUTION

    def __delitem__(self, index: int) -> None:
        ### BEGIN SOLUTION
        del self._money[index]
        ### END SOLUTION

    def __iter__(self) -> Iterator[Money]:
        """Iterate over the money, the smallest first."""
        ### BEGIN SOLUTION
        return iter(sorted(self._money))
        ### END SOLUTION

    def __contains__(self, money: Money) -> bool:
        ### BEGIN SOLUTION
        return money in self._money
        ### END SOLUTION

    def __enter__(self) -> Purse:
        """Return the purse itself, open."""
        ### BEGIN SOLUTION
        self.is_open = True
        return self
        ### END SOLUTION

    def __exit__(self, *exception: object) -> bool:
        """Close the purse; a KeyError ends here."""
        ### BEGIN SOLUTION
        self.is_open = False
        return isinstance(exception[1], KeyError)
        ### END SOLUTION


class SavingsPurse(Purse):
    """A purse that gives interest."""

    interest = 0.5

    def total(self) -> float:
        """Return the amounts of all money together, with interest: half as much again."""
        ### BEGIN SOLUTION
        return sum(money.amount for money in self) * (1 + self.interest)
        ### END SOLUTION


def instalments(total: int, count: int) -> Iterator[int]:
    """Yield `count` whole numbers that add up to the total and differ by 1 at most.

    The larger ones come first. No number is computed before it is asked for.
    """
    ### BEGIN SOLUTION
    for left in range(count, 0, -1):
        part = -(-total // left)
        total -= part
        yield part
    ### END SOLUTION
