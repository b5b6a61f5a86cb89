"""With properties and a helper, and the message made when it is asked for."""

from warnings import warn


class AccountError(Exception):
    pass


class NotEnough(AccountError):
    def __init__(self, balance, amount):
        super().__init__(balance, amount)
        self.balance = balance

    @property
    def missing(self):
        balance, amount = self.args
        return amount - balance

    def __str__(self):
        return f"{self.missing} missing"


def parse_amount(text):
    try:
        amount = int(text)
    except ValueError:
        amount = 0
    if amount <= 0:
        raise ValueError("not an amount: " + repr(text))
    return amount


class Account:
    def __init__(self, balance=0):
        if balance < 0:
            raise AccountError(balance)
        self._balance = balance

    @property
    def balance(self):
        return self._balance

    def withdraw(self, amount):
        left = self._balance - amount
        if left < 0:
            raise NotEnough(self._balance, amount)
        self._balance = left
        return left

    def pay(self, text):
        try:
            return self.withdraw(parse_amount(text))
        except ValueError as error:
            raise AccountError(text) from error

    def take(self, amount):
        warn("please use withdraw", DeprecationWarning, stacklevel=1)
        return self.withdraw(amount)
