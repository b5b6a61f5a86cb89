"""Sorts the caller's list, and divides by zero."""


def average(marks):
    return sum(marks) / len(marks)


def letter(mark):
    return "A" if mark >= 90 else "B" if mark >= 80 else "C" if mark >= 70 else "DF"[mark < 60]


def passed(marks):
    return [name for name in marks if marks[name] >= 60]


def best(marks, n=3):
    marks.sort(reverse=True)
    return marks[:n]


def has_improved(marks):
    return all(first <= second for first, second in zip(marks, marks[1:], strict=False))
