"""A savings purse is no purse, a stack holds a list, change is a dict."""

import enum


class Currency(str, enum.Enum):
    EUR = "euro"
    CHF = "franc"

    @property
    def symbol(self):
        return self[0].upper()


Change = dict


class Money:
    def __init__(self, cents, currency="EUR"):
        self.cents = cents
        self.currency = currency

    @property
    def amount(self):
        return self.cents / 100

    @classmethod
    def parse(cls, text):
        return text.split()

    def __add__(self, other):
        if self.currency != other.currency:
            raise ValueError("the currencies differ")
        self.cents += other.cents
        return self

    def __mul__(self, factor):
        return Money(self.cents * factor, self.currency)

    __rmul__ = __mul__

    def __eq__(self, other):
        return self.cents == other.cents and self.currency == other.currency

    def __lt__(self, other):
        return self.cents < other.cents

    def __repr__(self):
        return f"<Money {self.cents}>"

    def change(self, coin):
        return {"coins": self.cents // coin, "rest": self.cents % coin}


class Stack:
    def __init__(self, items=()):
        self.items = list(items)

    def push(self, item):
        self.items.append(item)

    def peek(self):
        return self.items[-1]

    def pop(self):
        return self.items.pop()

    def __len__(self):
        return len(self.items)


class Purse(list):
    def __init__(self, *money):
        super().__init__(money)

    put = list.append


class SavingsPurse(list):
    def total(self):
        return 1.5 * sum(money.amount for money in self)


def instalments(total, count):
    for _ in range(count):
        yield total / count
