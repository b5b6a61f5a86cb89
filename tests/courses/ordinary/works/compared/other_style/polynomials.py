"""With sums over powers and a class that holds a dict."""


def evaluate(coefficients, x):
    return sum(coefficient * x**power for power, coefficient in enumerate(coefficients))


def derivative(coefficients):
    result = []
    for power in range(1, len(coefficients)):
        result.append(coefficients[power] * power)
    return result


def multiply(first, second):
    powers = range(len(first) + len(second) - 1) if first and second else ()
    return [
        sum(first[i] * second[p - i] for i in range(len(first)) if 0 <= p - i < len(second))
        for p in powers
    ]


class Polynomial:
    def __init__(self, coefficients):
        self.terms = {power: c for power, c in enumerate(coefficients) if c != 0}
        self.degree = max([-1, *self.terms])

    def __call__(self, x):
        total = 0
        for power, coefficient in self.terms.items():
            total += coefficient * x**power
        return total
