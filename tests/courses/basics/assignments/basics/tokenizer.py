"""Byte-pair encoding: a text becomes a list of ids, and frequent pairs of ids become one.

Source: handout, section 1.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path


def merge(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """Replace the pair by the id `new` wherever it stands, from left to right.

    An id that was just replaced takes no part in the next pair: (1, 1) in [1, 1, 1] gives
    [new, 1].

    Returns:
        A new list; `ids` is left as it was.
    """
    # Your code here.
    raise NotImplementedError


class Tokenizer:
    """A byte-pair tokenizer.

    The ids 0 to 255 are the bytes; the merge number i (from 0) makes the id 256 + i.

    Attributes:
        merges: the pairs of ids that are merged, in the order in which they were learnt.
        vocab_size: the number of ids, 256 + the number of merges.
    """

    def __init__(self, merges: Iterable[tuple[int, int]]) -> None:
        """Make a tokenizer of these merges."""
        # Your code here.
        raise NotImplementedError

    @classmethod
    def train(cls, text: str, vocab_size: int) -> "Tokenizer":
        """Learn merges from the UTF-8 bytes of a text.

        Merge the most frequent pair of neighbours, again and again, until there are `vocab_size`
        ids or no pair occurs twice. Of several pairs that are equally frequent take the smallest,
        as tuples compare. Every place counts: (1, 1) occurs twice in [1, 1, 1].

        Raises:
            ValueError: `vocab_size` is less than 256.
        """
        # Your code here.
        raise NotImplementedError

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text: its UTF-8 bytes after all merges, in the order learnt."""
        # Your code here.
        raise NotImplementedError

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids; bytes that are no UTF-8 become U+FFFD (errors="replace").

        Raises:
            ValueError: an id is negative, or not less than `vocab_size`.
        """
        # Your code here.
        raise NotImplementedError

    def pieces(self, text: str) -> Iterator[bytes]:
        """Yield the bytes of every id of the encoded text, in order."""
        # Your code here.
        raise NotImplementedError

    def save(self, path: str) -> None:
        """Write the tokenizer to a file, as JSON."""
        # Your code here.
        raise NotImplementedError

    @classmethod
    def load(cls, path: str) -> "Tokenizer":
        """Read a tokenizer that `save` wrote; it works as the one that was saved."""
        # Your code here.
        raise NotImplementedError
