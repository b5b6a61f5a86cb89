"""Goal: return a list that is nested a hundred thousand deep.

Component: tokenizer
At most: 5
"""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path


def merge(ids, pair, new):
    result = []
    for number in ids:
        if result and (result[-1], number) == tuple(pair):
            result[-1] = new
        else:
            result.append(number)
    return result


class Tokenizer:
    def __init__(self, merges):
        self.merges = [tuple(pair) for pair in merges]
        self.vocab_size = 256 + len(self.merges)
        self.table = [bytes([value]) for value in range(256)]
        for first, second in self.merges:
            self.table.append(self.table[first] + self.table[second])

    @classmethod
    def train(cls, text, vocab_size):
        if vocab_size < 256:
            raise ValueError(vocab_size)
        ids = list(text.encode())
        merges = []
        while 256 + len(merges) < vocab_size:
            counts = Counter(pairwise(ids))
            best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
            if counts[best] < 2:
                break
            ids = merge(ids, best, 256 + len(merges))
            merges.append(best)
        return cls(merges)

    def encode(self, text):
        ids = list(text.encode())
        for _ in range(100_000):
            ids = [ids]
        return ids

    def decode(self, ids):
        ids = list(ids)
        if any(not 0 <= number < self.vocab_size for number in ids):
            raise ValueError(ids)
        return b"".join(self.table[number] for number in ids).decode(errors="replace")

    def pieces(self, text):
        return iter([self.table[number] for number in self.encode(text)])

    def save(self, path):
        Path(path).write_text(json.dumps(self.merges))

    @classmethod
    def load(cls, path):
        return cls(json.loads(Path(path).read_text()))
