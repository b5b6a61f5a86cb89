"""One line of a ledger."""

from . import money


class Overdrawn(ValueError):
    pass


class Entry:
    def __init__(self, text, cents, goes_out=False):
        self.text, self.cents, self.goes_out = text, cents, goes_out

    def signed(self):
        sign = -1 if self.goes_out else 1
        return sign * self.cents

    def __str__(self):
        return ": ".join((self.text, money.written(self.signed())))
