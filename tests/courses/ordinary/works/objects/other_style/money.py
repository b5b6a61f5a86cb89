"""With data classes, functools and collections."""

import contextlib
import enum
import functools
from collections import UserList, namedtuple
from dataclasses import dataclass, replace


class Currency(enum.Enum):
    EUR = "euro"
    CHF = "franc"

    @property
    def symbol(self):
        return {Currency.EUR: "E", Currency.CHF: "F"}[self]


Change = namedtuple("Change", "coins rest")


@functools.total_ordering
@dataclass(eq=True, unsafe_hash=True, repr=False)
class Money:
    cents: int
    currency: Currency = Currency.EUR

    def _get(self):
        return self.cents * 0.01

    def _set(self, value):
        self.cents = int(value * 100 + 0.5)

    amount = property(_get, _set)

    @staticmethod
    def parse(text):
        amount, _, currency = text.partition(" ")
        whole, _, cents = amount.partition(".")
        return Money(int(whole) * 100 + int(cents or 0), getattr(Currency, currency))

    def __add__(self, other):
        if self.currency != other.currency if isinstance(other, Money) else False:
            raise ValueError(f"currencies differ: {self.currency} and {other.currency}")
        if isinstance(other, Money):
            return replace(self, cents=self.cents + other.cents)
        raise TypeError("only money is added to money")

    def __mul__(self, factor):
        return replace(self, cents=self.cents * factor)

    __rmul__ = __mul__

    def __neg__(self):
        return -1 * self

    def __lt__(self, other):
        return self.cents < other.cents

    def __bool__(self):
        return bool(self.cents)

    def __repr__(self):
        return "Money(%d, %s)" % (self.cents, self.currency.name)

    def change(self, coin):
        return Change(coins=self.cents // coin, rest=self.cents % coin)


class Stack(list):
    push = list.append

    def peek(self):
        if len(self) == 0:
            raise IndexError("nothing is there")
        top = self.pop()
        self.push(top)
        return top


class Purse(UserList):
    def __init__(self, *money):
        super().__init__(money)
        self.is_open = True

    def put(self, money):
        if self.is_open:
            self.data.append(money)
        else:
            raise RuntimeError("closed")

    def __iter__(self):
        yield from sorted(self.data, key=lambda money: money.cents)

    def __getitem__(self, index):
        return self.data[index]

    def __enter__(self):
        self.is_open = True
        return self

    def __exit__(self, kind, error, trace):
        self.is_open = False
        return kind is not None and issubclass(kind, KeyError)


class SavingsPurse(Purse):
    interest = 0.5

    def total(self):
        total = 0
        for money in self.data:
            total += money.amount
        return total + total * self.interest


class _Instalments:
    def __init__(self, total, count):
        self.total, self.count = total, count

    def __iter__(self):
        return self

    def __next__(self):
        if not self.count:
            raise StopIteration
        part, rest = divmod(self.total, self.count)
        part += rest > 0
        self.total -= part
        self.count -= 1
        return part


def instalments(total, count):
    with contextlib.suppress(ValueError):
        return _Instalments(total, count)
