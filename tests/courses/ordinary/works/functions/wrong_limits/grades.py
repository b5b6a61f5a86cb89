"""The limits belong to the worse letter."""


def average(marks):
    return sum(marks) / len(marks) if marks else 0.0


def letter(mark):
    for least, name in ((90, "A"), (80, "B"), (70, "C"), (60, "D")):
        if mark > least:
            return name
    return "F"


def passed(marks):
    return sorted(name for name, mark in marks.items() if mark > 60)


def best(marks, n=3):
    return sorted(marks, reverse=True)[:n]


def has_improved(marks):
    return all(first < second for first, second in zip(marks, marks[1:], strict=False))
