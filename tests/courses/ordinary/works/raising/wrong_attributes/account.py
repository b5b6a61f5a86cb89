"""The exception has the numbers the wrong way round, and pay loses the cause."""

import warnings


class AccountError(Exception):
    pass


class NotEnough(AccountError):
    def __init__(self, balance, amount):
        self.balance = amount
        self.missing = balance - amount
        super().__init__(f"{self.missing} missing")


def parse_amount(text):
    if not text.isdecimal() or text == "0":
        raise ValueError(f"not an amount: {text!r}")
    return int(text)


class Account:
    def __init__(self, balance=0):
        if balance < 0:
            raise AccountError
        self.balance = balance

    def withdraw(self, amount):
        if amount > self.balance:
            raise NotEnough(self.balance, amount)
        self.balance -= amount
        return self.balance

    def pay(self, text):
        if not text.isdecimal():
            raise AccountError(text)
        return self.withdraw(int(text))

    def take(self, amount):
        warnings.warn("use withdraw", DeprecationWarning, stacklevel=2)
        return self.withdraw(amount)
