"""Knows no subtraction."""

SIGNS = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}


def to_roman(number):
    if not 1 <= number <= 3999:
        raise ValueError("out of range")
    result = ""
    for sign, value in SIGNS.items():
        count, number = divmod(number, value)
        result += sign * count
    return result


def from_roman(numeral):
    if set(numeral) - set(SIGNS):
        raise ValueError(numeral)
    return sum(SIGNS[sign] for sign in numeral)


def add(first, second):
    return to_roman(from_roman(first) + from_roman(second))
