"""A tokenizer with one mistake in it, or several; with none in force it is right."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

# Name: what to tell the student, and where the course treats it.
MISCONCEPTIONS = {
    "characters": (
        "you started from the numbers of the characters (ord); the ids 0 to 255 are the bytes of "
        "the UTF-8 text",
        "handout, section 1",
    ),
    "first_of_a_tie": (
        "of equally frequent pairs you took the first that came along; the smallest is merged",
        "handout, section 1",
    ),
    "never_stops": (
        "you went on merging pairs that occur only once; training ends there",
        "handout, section 1",
    ),
    "bytes_not_counted": (
        "you learnt vocab_size merges; the 256 bytes count too, so there are vocab_size - 256",
        "handout, section 1",
    ),
    "overlapping": (
        "you replaced pairs that share an id; what was just replaced takes no part in the next",
        "handout, section 1",
    ),
    "longest_first": (
        "you took the longest id that fits at each place of the text; the merges are applied one "
        "after the other, in the order learnt",
        "handout, section 1",
    ),
    "decoded_apart": (
        "you decoded every id for itself; a character may be spread over several ids, so join the "
        "bytes first",
        "handout, section 1",
    ),
    "strict": (
        'your decode fails for bytes that are no UTF-8; use errors="replace"',
        "handout, section 1",
    ),
    "unchecked_ids": (
        "your decode takes negative ids, which count from the end of a list; they are a ValueError",
        "handout, section 1",
    ),
    "small_vocabulary": (
        "your train takes a vocab_size of less than 256 without a word; it is a ValueError",
        "handout, section 1",
    ),
    "lists_after_loading": (
        "JSON makes lists of tuples: after loading, no merge equals a pair of ids any more",
        "handout, section 1",
    ),
    "ids_for_pieces": (
        "your pieces yields ids; it should yield the bytes of each",
        "handout, section 1",
    ),
    "from_the_start_again": (
        "after every replacement your merge begins at the start again, so its time grows with the "
        "square of the length",
        "handout, section 1",
    ),
}
# The mistakes in force.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Tell whether this mistake is in force."""
    return name in WRONG


def merge(ids, pair, new):
    """Replace the pair by the id `new` wherever it stands."""
    if wrong("from_the_start_again"):
        return merge_slowly(list(ids), pair, new)
    result = []
    index = 0
    while index < len(ids):
        if index + 1 < len(ids) and (ids[index], ids[index + 1]) == pair:
            result.append(new)
            index += 1 if wrong("overlapping") else 2
            if wrong("overlapping") and index == len(ids) - 1:
                break
        else:
            result.append(ids[index])
            index += 1
    return result


def merge_slowly(ids, pair, new):
    """Look for the pair from the start, as often as it is there."""
    found = True
    while found:
        found = False
        for index in range(len(ids) - 1):
            if ids[index] == pair[0] and ids[index + 1] == pair[1]:
                ids[index : index + 2] = [new]
                found = True
                break
    return ids


def numbers(text):
    """Return what merging starts from."""
    return [ord(c) for c in text] if wrong("characters") else list(text.encode("utf-8"))


class Tokenizer:
    """A byte-pair tokenizer."""

    def __init__(self, merges):
        self.merges = [tuple(pair) for pair in merges]
        self.vocab_size = 256 + len(self.merges)
        self.table = [bytes([value]) for value in range(256)]
        for pair in self.merges:
            # The number of a character may be no id at all.
            parts = (number if number < len(self.table) else 0 for number in pair)
            self.table.append(b"".join(self.table[part] for part in parts))

    @classmethod
    def train(cls, text, vocab_size):
        """Learn merges from a text."""
        if vocab_size < 256 and not wrong("small_vocabulary"):
            raise ValueError(f"{vocab_size} is less than 256")
        ids = numbers(text)
        merges = []
        for number in range(vocab_size if wrong("bytes_not_counted") else vocab_size - 256):
            counts = Counter(pairwise(ids))
            if not counts:
                break
            if wrong("first_of_a_tie"):
                best = counts.most_common(1)[0][0]
            else:
                best = min(counts, key=lambda pair: (-counts[pair], pair))
            if counts[best] < 2 and not wrong("never_stops"):
                break
            ids = merge(ids, best, 256 + number)
            merges.append(best)
        return cls(merges)

    def encode(self, text):
        """Return the ids of a text."""
        if wrong("longest_first"):
            return self.longest(text.encode("utf-8"))
        ids = numbers(text)
        for number, pair in enumerate(self.merges):
            ids = merge(ids, pair, 256 + number)
        return ids

    def longest(self, data):
        """Return at each place the longest id that fits."""
        ids = []
        while data:
            fitting = [i for i, piece in enumerate(self.table) if data.startswith(piece)]
            ids.append(max(fitting, key=lambda i: len(self.table[i])))
            data = data[len(self.table[ids[-1]]) :]
        return ids

    def decode(self, ids):
        """Return the text of ids."""
        ids = list(ids)
        for number in ids:
            if number >= self.vocab_size or (number < 0 and not wrong("unchecked_ids")):
                raise ValueError(f"there is no id {number}")
        parts = [self.table[number] for number in ids]
        errors = "strict" if wrong("strict") else "replace"
        if wrong("decoded_apart"):
            return "".join(part.decode("utf-8", errors) for part in parts)
        return b"".join(parts).decode("utf-8", errors)

    def pieces(self, text):
        """Yield the bytes of every id."""
        for number in self.encode(text):
            yield number if wrong("ids_for_pieces") else self.table[number]

    def save(self, path):
        """Write the tokenizer to a file."""
        Path(path).write_text(json.dumps(self.merges), encoding="utf-8")

    @classmethod
    def load(cls, path):
        """Read a tokenizer from a file."""
        result = cls(json.loads(Path(path).read_text(encoding="utf-8")))
        if wrong("lists_after_loading"):
            result.merges = [list(pair) for pair in result.merges]
        return result
