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
    ### BEGIN SOLUTION
    result = []
    index = 0
    while index < len(ids):
        if tuple(ids[index : index + 2]) == pair:
            result.append(new)
            index += 2
        else:
            result.append(ids[index])
            index += 1
    return result
    ### END SOLUTION


class Tokenizer:
    """A byte-pair tokenizer.

    The ids 0 to 255 are the bytes; the merge number i (from 0) makes the id 256 + i.

    Attributes:
        merges: the pairs of ids that are merged, in the order in which they were learnt.
        vocab_size: the number of ids, 256 + the number of merges.
    """

    def __init__(self, merges: Iterable[tuple[int, int]]) -> None:
        """Make a tokenizer of these merges."""
        ### BEGIN SOLUTION
        # equivalent: merges are pairs of whole numbers as they come
        self.merges = [(int(first), int(second)) for first, second in merges]
        self.vocab_size = 256 + len(self.merges)
        self._bytes = [bytes([value]) for value in range(256)]
        for first, second in self.merges:
            self._bytes.append(self._bytes[first] + self._bytes[second])
        ### END SOLUTION

    @classmethod
    def train(cls, text: str, vocab_size: int) -> "Tokenizer":
        """Learn merges from the UTF-8 bytes of a text.

        Merge the most frequent pair of neighbours, again and again, until there are `vocab_size`
        ids or no pair occurs twice. Of several pairs that are equally frequent take the smallest,
        as tuples compare. Every place counts: (1, 1) occurs twice in [1, 1, 1].

        Raises:
            ValueError: `vocab_size` is less than 256.
        """
        ### BEGIN SOLUTION
        if vocab_size < 256:
            raise ValueError(f"vocab_size must be at least 256, not {vocab_size}")
        # equivalent: `merge` reads bytes alike, and UTF-8 is the default
        ids = list(text.encode("utf-8"))
        merges: list[tuple[int, int]] = []
        while 256 + len(merges) < vocab_size:
            counts = Counter(pairwise(ids))
            best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
            # equivalent: a Counter counts None 0 times
            if best is None or counts[best] < 2:
                break
            ids = merge(ids, best, 256 + len(merges))
            merges.append(best)
        return cls(merges)
        ### END SOLUTION

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text: its UTF-8 bytes after all merges, in the order learnt."""
        ### BEGIN SOLUTION
        # equivalent: UTF-8 is the default
        ids = list(text.encode("utf-8"))
        for number, pair in enumerate(self.merges):
            ids = merge(ids, pair, 256 + number)
        return ids
        ### END SOLUTION

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids; bytes that are no UTF-8 become U+FFFD (errors="replace").

        Raises:
            ValueError: an id is negative, or not less than `vocab_size`.
        """
        ### BEGIN SOLUTION
        parts = []
        for number in ids:
            if not 0 <= number < self.vocab_size:
                raise ValueError(f"there is no id {number}")
            parts.append(self._bytes[number])
        # equivalent: UTF-8 is the default
        return b"".join(parts).decode("utf-8", errors="replace")
        ### END SOLUTION

    def pieces(self, text: str) -> Iterator[bytes]:
        """Yield the bytes of every id of the encoded text, in order."""
        ### BEGIN SOLUTION
        for number in self.encode(text):
            yield self._bytes[number]
        ### END SOLUTION

    def save(self, path: str) -> None:
        """Write the tokenizer to a file, as JSON."""
        ### BEGIN SOLUTION
        # equivalent: JSON is written in ASCII
        Path(path).write_text(json.dumps({"merges": self.merges}), encoding="utf-8")
        ### END SOLUTION

    @classmethod
    def load(cls, path: str) -> "Tokenizer":
        """Read a tokenizer that `save` wrote; it works as the one that was saved."""
        ### BEGIN SOLUTION
        # equivalent: JSON is written in ASCII
        return cls(json.loads(Path(path).read_text(encoding="utf-8"))["merges"])
        ### END SOLUTION
