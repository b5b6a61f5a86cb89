"""Temperatures in three units: "C" (Celsius), "F" (Fahrenheit) and "K" (Kelvin)."""


def to_celsius(fahrenheit: float) -> float:
    """Return a temperature in degrees Fahrenheit in degrees Celsius."""
    ### BEGIN SOLUTION
    return (fahrenheit - 32) * 5 / 9
    ### END SOLUTION


def convert(value: float, source: str, target: str) -> float:
    """Return a temperature in the unit `target` that is `value` in the unit `source`."""
    ### BEGIN SOLUTION
    celsius = {"C": value, "F": to_celsius(value), "K": value - 273.15}[source]
    return {"C": celsius, "F": celsius * 9 / 5 + 32, "K": celsius + 273.15}[target]
    ### END SOLUTION


def is_possible(value: float, unit: str = "C") -> bool:
    """Return whether a temperature is at or above absolute zero."""
    ### BEGIN SOLUTION
    return convert(value, unit, "K") >= 0
    ### END SOLUTION


def table(values: list[float], source: str, target: str) -> dict[float, float]:
    """Return each value with what `convert` makes of it."""
    ### BEGIN SOLUTION
    return {value: convert(value, source, target) for value in values}
    ### END SOLUTION
