"""Byte-pair encoding with functions that it shares."""

from itertools import chain, pairwise
from json import dumps, loads
from pathlib import Path

from counting import counted, ranked


def merge(ids, pair, new):
    """Walk with an iterator and one id held back."""

    def walk():
        held = None
        for number in ids:
            if held is None:
                held = number
            elif (held, number) == tuple(pair):
                yield new
                held = None
            else:
                yield held
                held = number
        if held is not None:
            yield held

    return list(walk())


class Tokenizer:
    """Keeps its merges as the keys of a dictionary, in order."""

    def __init__(self, merges=()):
        self._numbers = {}
        self._pieces = tuple(bytes((value,)) for value in range(256))
        for pair in map(tuple, merges):
            self._add(pair)

    merges = property(lambda self: list(self._numbers))
    vocab_size = property(lambda self: len(self._pieces))

    def _add(self, pair):
        self._numbers[pair] = self.vocab_size
        self._pieces += (b"".join(self._pieces[number] for number in pair),)

    @classmethod
    def train(cls, text, vocab_size):
        """Learn merges."""
        if vocab_size not in range(256, 1 << 62):
            raise ValueError(vocab_size)
        self, ids = cls(), list(text.encode("utf-8"))
        for _ in range(256, vocab_size):
            counts = counted(pairwise(ids))
            best = next(iter(ranked(counts)), None)
            if counts[best] < 2:
                return self
            ids = merge(ids, best, self.vocab_size)
            self._add(best)
        return self

    def encode(self, text):
        """Merge what was learnt first, as long as there is anything to merge."""
        ids = list(text.encode("utf-8"))
        while known := [p for p in pairwise(ids) if p in self._numbers]:
            pair = min(known, key=self._numbers.get)
            ids = merge(ids, pair, self._numbers[pair])
        return ids

    def decode(self, ids):
        """Join, then decode."""
        return bytes(chain.from_iterable(map(self._piece, ids))).decode("utf-8", "replace")

    def _piece(self, number):
        if number in range(self.vocab_size):
            return self._pieces[number]
        raise ValueError(f"no id: {number}")

    def pieces(self, text):
        """Map ids to bytes."""
        return map(self._piece, self.encode(text))

    def save(self, path):
        """Write JSON with the pairs in a row."""
        Path(path).write_text(dumps(list(chain(*self._numbers))))

    @classmethod
    def load(cls, path):
        """Read it back."""
        numbers = iter(loads(Path(path).read_text()))
        return cls(zip(numbers, numbers, strict=True))
