"""Marks of a course: their average, the letters for them, and who passed."""


def average(marks: list[float]) -> float:
    """Return the mean of the marks; 0.0 if there are none."""
    # Your code here.
    raise NotImplementedError


def letter(mark: float) -> str:
    """Return "A" from 90 on, "B" from 80, "C" from 70, "D" from 60, and "F" below."""
    # Your code here.
    raise NotImplementedError


def passed(marks: dict[str, float]) -> list[str]:
    """Return the names of everybody with a mark of 60 or more, in alphabetical order."""
    # Your code here.
    raise NotImplementedError


def best(marks: list[float], n: int = 3) -> list[float]:
    """Return the n highest marks, the highest first. The list itself is not changed."""
    # Your code here.
    raise NotImplementedError


def has_improved(marks: list[float]) -> bool:
    """Return whether every mark is higher than the one before it."""
    # Your code here.
    raise NotImplementedError
