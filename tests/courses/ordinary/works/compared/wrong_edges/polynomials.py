"""Right but for zeros and empty lists."""


def evaluate(coefficients, x):
    result = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        result = result * x + coefficient
    return result


def derivative(coefficients):
    return [power * c for power, c in enumerate(coefficients)][1:] or [0]


def multiply(first, second):
    result = [0] * (len(first) + len(second))
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            result[i + j] += a * b
    return result[:-1]


class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = coefficients

    @property
    def degree(self):
        return len(self.coefficients) - 1

    def __call__(self, x):
        return evaluate(self.coefficients, x)
