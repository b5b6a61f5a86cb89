"""Words."""

from rectangle import diagonal


def count_words(text: str) -> dict[str, int]:
    """Count the words of a text."""
    counts = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def longest(words):
    """Return the longest word."""
    return max(words, key=len)


def reach(words):
    return diagonal(len(words), len(words))
