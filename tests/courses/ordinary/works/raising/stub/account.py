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
        # Your code here.
        raise NotImplementedError


def parse_amount(text: str) -> int:
    """Return the amount in a text, a whole number above 0.

    Raises:
        ValueError: it is none; the message is "not an amount: " with the text in quotes.
    """
    # Your code here.
    raise NotImplementedError


class Account:
    """An account with a balance, in whole cents."""

    def __init__(self, balance: int = 0) -> None:
        """Open an account.

        Raises:
            AccountError: the balance is below 0.
        """
        # Your code here.
        raise NotImplementedError

    def withdraw(self, amount: int) -> int:
        """Take an amount out, and return the new balance.

        Raises:
            NotEnough: there is less; the balance stays as it was.
            TypeError: the amount is not a whole number.
        """
        # Your code here.
        raise NotImplementedError

    def pay(self, text: str) -> int:
        """Take out the amount in a text, and return the new balance.

        Raises:
            AccountError: the text has no amount; its `__cause__` is the ValueError.
        """
        # Your code here.
        raise NotImplementedError

    def take(self, amount: int) -> int:
        """Do what `withdraw` does, with a DeprecationWarning that says "use withdraw"."""
        # Your code here.
        raise NotImplementedError
