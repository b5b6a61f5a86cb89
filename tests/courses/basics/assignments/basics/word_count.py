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
    # Your code here.
    raise NotImplementedError


def main() -> int:
    """Count the words of the files named, or of standard input, and return the exit status.

    Prints a line "count word" for every word, the most frequent first, equally frequent ones in
    the order of the alphabet (as Python sorts strings).

    The options stand before the files. --top N: only the first N lines. --out FILE: write the lines
    to this file instead of printing them. If a file does not exist, a message with its name
    goes to standard error, nothing else is written, and the status is 1; otherwise it is 0. All
    files are UTF-8.
    """
    # Your code here.
    raise NotImplementedError


if __name__ == "__main__":
    sys.exit(main())
