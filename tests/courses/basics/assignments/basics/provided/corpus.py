"""The text that comes with the assignment."""

from pathlib import Path


def text() -> str:
    """Return the whole text of data/corpus.txt."""
    return Path("data/corpus.txt").read_text(encoding="utf-8")
