"""Roman numerals from I (1) to MMMCMXCIX (3999)."""

SIGNS = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}


def to_roman(number: int) -> str:
    """Return a number as a Roman numeral.

    Raises:
        ValueError: it is not between 1 and 3999.
    """
    ### BEGIN SOLUTION
    if not 1 <= number <= 3999:
        raise ValueError(f"no Roman numeral for {number}")
    pairs = {"CM": 900, "CD": 400, "XC": 90, "XL": 40, "IX": 9, "IV": 4}
    result = ""
    for sign, value in sorted({**SIGNS, **pairs}.items(), key=lambda item: -item[1]):
        count, number = divmod(number, value)
        result += sign * count
    return result
    ### END SOLUTION


def from_roman(numeral: str) -> int:
    """Return the number that a Roman numeral stands for.

    Raises:
        ValueError: there is a sign in it that is none.
    """
    ### BEGIN SOLUTION
    values = []
    for sign in numeral:
        if sign not in SIGNS:
            raise ValueError(f"no Roman sign: {sign}")
        values.append(SIGNS[sign])
    following = [*values[1:], 0]
    pairs = zip(values, following, strict=True)
    return sum(-value if value < after else value for value, after in pairs)
    ### END SOLUTION


def add(first: str, second: str) -> str:
    """Return the sum of two Roman numerals as a Roman numeral."""
    ### BEGIN SOLUTION
    return to_roman(from_roman(first) + from_roman(second))
    ### END SOLUTION
