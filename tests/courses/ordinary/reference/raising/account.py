"""A bank account that refuses what it cannot do, and says why."""

import warnings


class AccountError(Exception):
    """Anything that an account refuses."""


class NotEnough(AccountError):
    """More was to be taken out than there is.

    Attributes:
        balance: what there is.
        missing: how much more would have been needed.
    """

    def __init__(self, balance: int, amount: int) -> None:
        """Keep the numbers; the message is "<missing> missing"."""
        ### BEGIN SOLUTION
        super().__init__(f"{amount - balance} missing")
        self.balance = balance
        self.missing = amount - balance
        ### END SOLUTION


def parse_amount(text: str) -> int:
    """Return the amount in a text, a whole number above 0.

    Raises:
        ValueError: it is none; the message is "not an amount: " with the text in quotes.
    """
    ### BEGIN SOLUTION
    if not text.isdecimal() or int(text) == 0:
        raise ValueError(f"not an amount: {text!r}")
    return int(text)
    ### END SOLUTION


class Account:
    """An account with a balance, in whole cents."""

    def __init__(self, balance: int = 0) -> None:
        """Open an account.

        Raises:
            AccountError: the balance is below 0.
        """
        ### BEGIN SOLUTION
        if balance < 0:
            raise AccountError("an account cannot begin with debts")
        self.balance = balance
        ### END SOLUTION

    def withdraw(self, amount: int) -> int:
        """Take an amount out, and return the new balance.

        Raises:
            NotEnough: there is less; the balance stays as it was.
            TypeError: the amount is not a whole number.
        """
        ### BEGIN SOLUTION
        if not isinstance(amount, int):
            raise TypeError(f"an amount is a whole number, not {type(amount).__name__}")
        if amount > self.balance:
            raise NotEnough(self.balance, amount)
        self.balance -= amount
        return self.balance
        ### END SOLUTION

    def pay(self, text: str) -> int:
        """Take out the amount in a text, and return the new balance.

        Raises:
            AccountError: the text has no amount; its `__cause__` is the ValueError.
        """
        ### BEGIN SOLUTION
        try:
            amount = parse_amount(text)
        except ValueError as error:
            raise AccountError(f"cannot pay {text}") from error
        return self.withdraw(amount)
        ### END SOLUTION

    def take(self, amount: int) -> int:
        """Do what `withdraw` does, with a DeprecationWarning that says "use withdraw"."""
        ### BEGIN SOLUTION
        warnings.warn("take is old: use withdraw", DeprecationWarning, stacklevel=2)
        return self.withdraw(amount)
        ### END SOLUTION
