"""Count words with functions that it shares."""

import re
import sys
from argparse import ArgumentParser
from itertools import chain

from counting import counted, ranked

WORD = re.compile(r"(?:[^\W\d_]|(?<=[^\W\d_])'(?=[^\W\d_]))+")


def words(text):
    """Find words one by one."""
    return (match[0] for match in WORD.finditer(text.lower()))


def text_of(name):
    """Read a file, or end the program."""
    try:
        return open(name, encoding="utf-8").read()
    except FileNotFoundError:
        print("not found:", name, file=sys.stderr)
        raise SystemExit(1) from None


def main():
    """Read everything first, then count, then write."""
    parser = ArgumentParser()
    parser.add_argument("--top", type=int, default=sys.maxsize)
    parser.add_argument("--out")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    texts = [text_of(name) for name in asked.names] if asked.names else sys.stdin
    counts = counted(chain.from_iterable(map(words, texts)))
    rows = [f"{counts[word]} {word}" for word in ranked(counts)[: asked.top]]
    text = "\n".join([*rows, ""])
    if asked.out:
        with open(asked.out, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
