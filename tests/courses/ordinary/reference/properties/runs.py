"""Run lengths: a text becomes pairs of a letter and how often it follows itself."""


def encode(text: str) -> list[tuple[str, int]]:
    """Return the runs of a text: encode("aab") is [("a", 2), ("b", 1)]."""
    ### BEGIN SOLUTION
    runs: list[tuple[str, int]] = []
    for letter in text:
        if runs and runs[-1][0] == letter:
            runs[-1] = (letter, runs[-1][1] + 1)
        else:
            runs.append((letter, 1))
    return runs
    ### END SOLUTION


def decode(runs: list[tuple[str, int]]) -> str:
    """Return the text with these runs."""
    ### BEGIN SOLUTION
    return "".join(letter * count for letter, count in runs)
    ### END SOLUTION


def join(first: list[tuple[str, int]], second: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the runs of two texts, one after the other, without making the texts."""
    ### BEGIN SOLUTION
    if not first or not second or first[-1][0] != second[0][0]:
        return first + second
    letter, count = first[-1]
    return [*first[:-1], (letter, count + second[0][1]), *second[1:]]
    ### END SOLUTION


def longest(runs: list[tuple[str, int]]) -> int:
    """Return the length of the longest run; 0 if there is none."""
    ### BEGIN SOLUTION
    return max((count for _, count in runs), default=0)
    ### END SOLUTION
