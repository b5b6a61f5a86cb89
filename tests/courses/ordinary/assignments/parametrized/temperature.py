"""Temperatures in three units: "C" (Celsius), "F" (Fahrenheit) and "K" (Kelvin)."""


def to_celsius(fahrenheit: float) -> float:
    """Return a temperature in degrees Fahrenheit in degrees Celsius."""
    # Your code here.
    raise NotImplementedError


def convert(value: float, source: str, target: str) -> float:
    """Return a temperature in the unit `target` that is `value` in the unit `source`."""
    # Your code here.
    raise NotImplementedError


def is_possible(value: float, unit: str = "C") -> bool:
    """Return whether a temperature is at or above absolute zero."""
    # Your code here.
    raise NotImplementedError


def table(values: list[float], source: str, target: str) -> dict[float, float]:
    """Return each value with what `convert` makes of it."""
    # Your code here.
    raise NotImplementedError
