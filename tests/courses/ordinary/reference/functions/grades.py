"""Marks of a course: their average, the letters for them, and who passed."""


def average(marks: list[float]) -> float:
    """Return the mean of the marks; 0.0 if there are none."""
    ### BEGIN SOLUTION
    return sum(marks) / len(marks) if marks else 0.0
    ### END SOLUTION


def letter(mark: float) -> str:
    """Return "A" from 90 on, "B" from 80, "C" from 70, "D" from 60, and "F" below."""
    ### BEGIN SOLUTION
    for least, name in ((90, "A"), (80, "B"), (70, "C"), (60, "D")):
        if mark >= least:
            return name
    return "F"
    ### END SOLUTION


def passed(marks: dict[str, float]) -> list[str]:
    """Return the names of everybody with a mark of 60 or more, in alphabetical order."""
    ### BEGIN SOLUTION
    return sorted(name for name, mark in marks.items() if mark >= 60)
    ### END SOLUTION


def best(marks: list[float], n: int = 3) -> list[float]:
    """Return the n highest marks, the highest first. The list itself is not changed."""
    ### BEGIN SOLUTION
    return sorted(marks, reverse=True)[:n]
    ### END SOLUTION


def has_improved(marks: list[float]) -> bool:
    """Return whether every mark is higher than the one before it."""
    ### BEGIN SOLUTION
    return all(first < second for first, second in zip(marks, marks[1:], strict=False))
    ### END SOLUTION
