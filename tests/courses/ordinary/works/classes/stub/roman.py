"""Roman numerals from I (1) to MMMCMXCIX (3999)."""

SIGNS = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}


def to_roman(number: int) -> str:
    """Return a number as a Roman numeral.

    Raises:
        ValueError: it is not between 1 and 3999.
    """
    # Your code here.
    raise NotImplementedError


def from_roman(numeral: str) -> int:
    """Return the number that a Roman numeral stands for.

    Raises:
        ValueError: there is a sign in it that is none.
    """
    # Your code here.
    raise NotImplementedError


def add(first: str, second: str) -> str:
    """Return the sum of two Roman numerals as a Roman numeral."""
    # Your code here.
    raise NotImplementedError
