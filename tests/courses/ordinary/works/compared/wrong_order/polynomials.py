"""Takes the constant for the last coefficient."""


def evaluate(coefficients, x):
    result = 0
    for coefficient in coefficients:
        result = result * x + coefficient
    return result


def derivative(coefficients):
    n = len(coefficients) - 1
    return [(n - place) * c for place, c in enumerate(coefficients)][:-1]


def multiply(first, second):
    result = [0] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            result[i + j] += a * b
    return result


class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = coefficients
        self.degree = len(coefficients) - 1

    def __call__(self, x):
        return evaluate(self.coefficients, x)
