"""Every unit is a straight line over Kelvin."""

LINES = {"K": (1.0, 0.0), "C": (1.0, -273.15), "F": (9 / 5, -459.67)}


def to_celsius(fahrenheit):
    return convert(fahrenheit, "F", "C")


def convert(value, source, target):
    slope, shift = LINES[source]
    kelvin = (value - shift) / slope
    slope, shift = LINES[target]
    return slope * kelvin + shift


def is_possible(value, unit="C"):
    return not value < LINES[unit][1]


def table(values, source, target):
    return dict(zip(values, [convert(value, source, target) for value in values], strict=True))
