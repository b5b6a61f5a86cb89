"""Polynomials as lists of coefficients, the constant first: [1, 0, 2] is 1 + 2x²."""


def evaluate(coefficients: list[float], x: float) -> float:
    """Return the value at x."""
    ### BEGIN SOLUTION
    result = 0.0
    for coefficient in reversed(coefficients):
        result = result * x + coefficient
    return result
    ### END SOLUTION


def derivative(coefficients: list[float]) -> list[float]:
    """Return the derivative; that of a constant is []."""
    ### BEGIN SOLUTION
    return [power * coefficient for power, coefficient in enumerate(coefficients)][1:]
    ### END SOLUTION


def multiply(first: list[float], second: list[float]) -> list[float]:
    """Return the product. With [] it is []."""
    ### BEGIN SOLUTION
    if not first or not second:
        return []
    result = [0.0] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            result[i + j] += a * b
    return result
    ### END SOLUTION


class Polynomial:
    """A polynomial that can be called."""

    def __init__(self, coefficients: list[float]) -> None:
        """Keep the coefficients."""
        ### BEGIN SOLUTION
        self.coefficients = list(coefficients)
        ### END SOLUTION

    @property
    def degree(self) -> int:
        """The highest power whose coefficient is not 0; -1 if there is none."""
        ### BEGIN SOLUTION
        return max((p for p, c in enumerate(self.coefficients) if c), default=-1)
        ### END SOLUTION

    def __call__(self, x: float) -> float:
        """Return the value at x."""
        ### BEGIN SOLUTION
        return evaluate(self.coefficients, x)
        ### END SOLUTION
