"""Returns lists of fifty million numbers, wide dicts and long texts."""


class Counter:
    total = "9" * 10**8
    add = lambda self, word: {number: number for number in range(10**7)}
    __iter__ = lambda self: iter(["cup"] * 10**7)


rescale = lambda values: [0.0] * (5 * 10**7)
count = lambda text: "4" * 10**8
apply = lambda function, values: values.extend(range(10**7)) or values
load = lambda path: ["two", "one"] * 10**7
