"""What the tokenizer and the word counter share: counting and ranking."""

from collections import defaultdict
from functools import reduce


def counted(items):
    """Return how often every item occurs."""

    def add(counts, item):
        counts[item] += 1
        return counts

    return reduce(add, items, defaultdict(int))


def ranked(counts):
    """Return the items, the most frequent first, equally frequent ones sorted."""
    return sorted(counts, key=lambda item: (-counts[item], item))
