"""Takes any number, and gives an empty numeral for what is too small."""

SIGNS = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
PAIRS = {"CM": 900, "CD": 400, "XC": 90, "XL": 40, "IX": 9, "IV": 4}


def to_roman(number):
    result = ""
    for sign, value in sorted({**SIGNS, **PAIRS}.items(), key=lambda item: -item[1]):
        while number >= value:
            number -= value
            result += sign
    return result


def from_roman(numeral):
    total = 0
    for sign, after in zip(numeral, numeral[1:] + "I"):
        value = SIGNS[sign]
        total += -value if value < SIGNS[after] else value
    return total


def add(first, second):
    return to_roman(from_roman(first) + from_roman(second))
