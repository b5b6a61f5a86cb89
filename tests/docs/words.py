"""Words of this project's own that were retired, and the usual ones.

    python -m tests.docs.words

A part of `make lint`. Prints each place where a text that people read still has one, and exits with
1 if there is any. docs/glossary.md has the terms that are used instead.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The usual word, and an expression for the retired one. These count everywhere.
RETIRED = {
    "predict": r"foret(ell|old)\w*",
    "again": "anew",
    "equal, the same": "alike",
    "except for": "but for",
    "pass": r"hand(s|ed)? (it |them )?on",
    "depend on": r"hangs? on",
    "that number of": "so many",
    "anyone who": "[Ww]hoever",
    "skipped, ignored": r"pass(es|ed) over",
    "Return whether": "[Tt]ell whether",
    "extension point": "seam",
    "the other process, the other machine": r"(far|near) side",
    "fork server": "zygote",
}
# In what students read, these too.
FOR_STUDENTS = {
    **RETIRED,
    "next to, in addition to": "beside",
    "is not a": r"(?<![Tt]here )(is|are) no",
    "by default": "unless told",
    "required": "asked for",
}
PROSE = ("*.md", "docs/*.md", "assignments/*/README.md")
CODE = ("autograder/**/*.py", "autograder/**/*.jinja", "autograder/**/*.html", "reference/*/*.py")


def retired(text: str, words: dict[str, str] = RETIRED) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the retired word and the usual one of each place in a text."""
    for number, line in enumerate(text.splitlines(), 1):
        for usual, word in words.items():
            for hit in re.finditer(rf"\b(?:{word})\b", line):
                yield number, hit.group(), usual


def main() -> int:
    """Look through the project; return the exit code."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word!r}; the usual word: {usual}"
        for pattern in (*PROSE, *CODE)
        for path in sorted(ROOT.glob(pattern))
        for number, word, usual in retired(path.read_text(encoding="utf-8"))
    ]
    if found:
        print(*found, sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
