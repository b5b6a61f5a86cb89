"""Polynomials as lists of coefficients, the constant first: [1, 0, 2] is 1 + 2x²."""


def evaluate(coefficients: list[float], x: float) -> float:
    """Return the value at x."""
    # Your code here.
    raise NotImplementedError


def derivative(coefficients: list[float]) -> list[float]:
    """Return the derivative; that of a constant is []."""
    # Your code here.
    raise NotImplementedError


def multiply(first: list[float], second: list[float]) -> list[float]:
    """Return the product. With [] it is []."""
    # Your code here.
    raise NotImplementedError


class Polynomial:
    """A polynomial that can be called."""

    def __init__(self, coefficients: list[float]) -> None:
        """Keep the coefficients."""
        # Your code here.
        raise NotImplementedError

    @property
    def degree(self) -> int:
        """The highest power whose coefficient is not 0; -1 if there is none."""
        # Your code here.
        raise NotImplementedError

    def __call__(self, x: float) -> float:
        """Return the value at x."""
        # Your code here.
        raise NotImplementedError
