"""NotEnough is no AccountError, amounts are changed before they are looked at, and nothing warns."""


class AccountError(Exception):
    pass


class NotEnough(Exception):
    def __init__(self, balance, amount):
        super().__init__(f"{amount - balance} missing")
        self.balance = balance
        self.missing = amount - balance


def parse_amount(text):
    return int(text)


class Account:
    def __init__(self, balance=0):
        assert balance >= 0
        self.balance = balance

    def withdraw(self, amount):
        before = self.balance
        self.balance -= amount
        if self.balance < 0:
            raise NotEnough(before, amount)
        return self.balance

    def pay(self, text):
        return self.withdraw(parse_amount(text))

    def take(self, amount):
        return self.withdraw(amount)
