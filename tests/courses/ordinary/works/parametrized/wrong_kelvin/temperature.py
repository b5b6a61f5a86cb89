"""Kelvin begins at -273, and absolute zero is impossible."""


def to_celsius(fahrenheit):
    return (fahrenheit - 32) * 5 / 9


def convert(value, source, target):
    celsius = {"C": value, "F": to_celsius(value), "K": value - 273}[source]
    return {"C": celsius, "F": celsius * 9 / 5 + 32, "K": celsius + 273}[target]


def is_possible(value, unit="C"):
    return convert(value, unit, "K") > 0


def table(values, source, target):
    return {value: convert(value, source, target) for value in values}
