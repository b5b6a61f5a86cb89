"""Digit by digit, and from the end."""

SIGNS = dict(I=1, V=5, X=10, L=50, C=100, D=500, M=1000)
DIGITS = ["", "1", "11", "111", "15", "5", "51", "511", "5111", "10"]
PLACES = ["IVX", "XLC", "CDM", "M"]


def digit(value, place):
    one, *rest = PLACES[place]
    text = DIGITS[value].replace("10", "1t")
    for mark, sign in zip("5t", rest):
        text = text.replace(mark, sign)
    return text.replace("1", one)


def to_roman(number):
    if number < 1 or number >= 4000:
        raise ValueError(number)
    places = enumerate(reversed(str(number)))
    return "".join(reversed([digit(int(value), place) for place, value in places]))


def from_roman(numeral):
    total = highest = 0
    try:
        for sign in reversed(numeral):
            value = SIGNS[sign]
            total += value if value >= highest else -value
            highest = max(highest, value)
    except KeyError as error:
        raise ValueError(f"unknown: {error}") from None
    return total


def add(*numerals):
    return to_roman(sum(map(from_roman, numerals)))
