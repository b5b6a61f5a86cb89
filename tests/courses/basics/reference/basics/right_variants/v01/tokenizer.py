"""Byte-pair encoding with a dataclass and plain loops."""

import json
from dataclasses import dataclass, field


def merge(ids, pair, new):
    """Replace a pair by looking back at what was written last."""
    out = []
    for number in ids:
        if out and (out[-1], number) == tuple(pair):
            out[-1] = new
        else:
            out.append(number)
    return out


@dataclass
class Tokenizer:
    """The merges, and a dictionary of the bytes of every id."""

    merges: list
    table: dict = field(init=False, repr=False)

    def __post_init__(self):
        self.merges = [(a, b) for a, b in self.merges]
        self.table = {}
        for value in range(256):
            self.table[value] = bytes([value])
        for a, b in self.merges:
            self.table[len(self.table)] = self.table[a] + self.table[b]

    @property
    def vocab_size(self):
        """Count the ids."""
        return len(self.table)

    @classmethod
    def train(cls, text, vocab_size):
        """Learn merges."""
        if vocab_size < 256:
            raise ValueError("too small a vocabulary")
        ids = list(text.encode())
        merges = []
        while len(merges) + 256 < vocab_size:
            counts = {}
            for index in range(len(ids) - 1):
                pair = (ids[index], ids[index + 1])
                counts[pair] = counts.get(pair, 0) + 1
            best = None
            for pair in sorted(counts):
                if best is None or counts[pair] > counts[best]:
                    best = pair
            if best is None or counts[best] == 1:
                break
            ids = merge(ids, best, 256 + len(merges))
            merges.append(best)
        return cls(merges)

    def encode(self, text):
        """Apply the merges in order."""
        ids = list(text.encode())
        for index in range(len(self.merges)):
            ids = merge(ids, self.merges[index], 256 + index)
        return ids

    def decode(self, ids):
        """Join the bytes, then decode them."""
        data = bytearray()
        for number in ids:
            if number not in self.table:
                raise ValueError(number)
            data.extend(self.table[number])
        return data.decode(errors="replace")

    def pieces(self, text):
        """Give an iterator over the bytes."""
        return iter([self.table[number] for number in self.encode(text)])

    def save(self, path):
        """Write a list of lists."""
        with open(path, "w") as file:
            json.dump(self.merges, file)

    @classmethod
    def load(cls, path):
        """Read a list of lists."""
        with open(path) as file:
            return cls(json.load(file))
