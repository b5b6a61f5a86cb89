"""Count the words of a text.

    python word_count.py [--top N] [--out FILE] [FILE ...]

Source: handout, section 4.
"""

import argparse
import re
import sys
from collections import Counter
from pathlib import Path


def words(text: str) -> list[str]:
    """Return the words of a text in order, in lower case.

    A word is a run of letters of any alphabet; an apostrophe (') between two letters belongs to
    it, one at its beginning or end does not.
    """
    ### BEGIN SOLUTION
    return re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", text.lower())
    ### END SOLUTION


def main() -> int:
    """Count the words of the files named, or of standard input, and return the exit status.

    Prints a line "count word" for every word, the most frequent first, equally frequent ones in
    the order of the alphabet (as Python sorts strings).

    The options stand before the files. --top N: only the first N lines. --out FILE: write the lines
    to this file instead of printing them. If a file does not exist, a message with its name
    goes to standard error, nothing else is written, and the status is 1; otherwise it is 0. All
    files are UTF-8.
    """
    ### BEGIN SOLUTION
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*")
    parser.add_argument("--top", type=int)
    parser.add_argument("--out")
    options = parser.parse_args()

    counts: Counter[str] = Counter()
    for name in options.files:
        try:
            # equivalent: UTF-8 is the default where it is graded
            counts.update(words(Path(name).read_text(encoding="utf-8")))
        except FileNotFoundError:
            print(f"there is no file {name}", file=sys.stderr)
            return 1
    if not options.files:
        counts.update(words(sys.stdin.read()))

    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[: options.top]
    lines = "".join(f"{count} {word}\n" for word, count in ranked)
    if options.out is None:
        sys.stdout.write(lines)
    else:
        # equivalent: UTF-8 is the default where it is graded
        Path(options.out).write_text(lines, encoding="utf-8")
    # equivalent: the status of a program that exits with None is 0
    return 0
    ### END SOLUTION


if __name__ == "__main__":
    sys.exit(main())
