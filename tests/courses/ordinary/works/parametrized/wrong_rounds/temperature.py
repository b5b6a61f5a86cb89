"""Rounds every result to a whole number."""


def to_celsius(fahrenheit):
    return round((fahrenheit - 32) * 5 / 9)


def convert(value, source, target):
    celsius = {"C": value, "F": to_celsius(value), "K": value - 273.15}[source]
    return round({"C": celsius, "F": celsius * 9 / 5 + 32, "K": celsius + 273.15}[target])


def is_possible(value, unit="C"):
    return convert(value, unit, "K") >= 0


def table(values, source, target):
    return {value: convert(value, source, target) for value in values}
