"""Run lengths: a text becomes pairs of a letter and how often it follows itself."""


def encode(text: str) -> list[tuple[str, int]]:
    """Return the runs of a text: encode("aab") is [("a", 2), ("b", 1)]."""
    # Your code here.
    raise NotImplementedError


def decode(runs: list[tuple[str, int]]) -> str:
    """Return the text with these runs."""
    # Your code here.
    raise NotImplementedError


def join(first: list[tuple[str, int]], second: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the runs of two texts, one after the other, without making the texts."""
    # Your code here.
    raise NotImplementedError


def longest(runs: list[tuple[str, int]]) -> int:
    """Return the length of the longest run; 0 if there is none."""
    # Your code here.
    raise NotImplementedError
