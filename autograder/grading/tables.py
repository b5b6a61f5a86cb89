"""Tables as CSV, in which no cell is a formula.

A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@`, also behind a space or a quote.
Such a text gets an apostrophe in front, and so does one that begins with an apostrophe itself:
a reader takes one leading apostrophe off, and has the text as it was. Where commas are no
separators, a cell begins elsewhere: behind a semicolon or a tab such a sign gets one, too.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

_MARK = "'"
# What a spreadsheet takes for the beginning of a formula, full-width forms among it.
_FORMULA = ("=", "+", "-", "@", "|", "%", "＝", "＋", "－", "＠", "\t", "\r", "\n", "\0")
# What some of them pass over before it.
_PASSED_OVER = " \"'`\u00a0\u200b\ufeff"


_AHEAD = f"(?=[{re.escape(_PASSED_OVER)}]*[{re.escape(''.join(_FORMULA))}])"
_ELSEWHERE = re.compile(f"(?<=[;\t]){_AHEAD}")
_DEFUSED = re.compile(f"(?<=[;\t]){_MARK}{_AHEAD}")


def defused(text: str) -> str:
    """Return a text as a cell that no spreadsheet runs."""
    begins = text.lstrip(_PASSED_OVER)
    risky = text.startswith(_MARK) or begins.startswith(_FORMULA)
    cell = _ELSEWHERE.sub(_MARK, text)
    return _MARK + cell if risky else cell


def raw(cell: str) -> str:
    """Return the text of a cell that `defused` made."""
    return _DEFUSED.sub("", cell.removeprefix(_MARK))


def table(rows: Iterable[Sequence[str | float | None]]) -> bytes:
    """Write rows as CSV: texts defused, numbers with four decimals at most, nothing for None."""
    return "".join(map(_line, rows)).encode()


def _line(row: Sequence[str | float | None]) -> str:
    text = io.StringIO()
    # Ended as it is here, a cell is quoted that holds either of the two.
    csv.writer(text, lineterminator="\r\n").writerow([_cell(value) for value in row])
    return text.getvalue().removesuffix("\r\n") + "\n"


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    return defused(value) if isinstance(value, str) else f"{round(value, 4):.10g}"
