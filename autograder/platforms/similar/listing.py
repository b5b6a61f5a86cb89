"""Pairs as a person reads them: a table, `similar.csv`, and a page with both sides."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from copydetect.utils import highlight_overlap
from markupsafe import Markup
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from autograder import private
from autograder.errors import repairable
from autograder.grading.tables import table
from autograder.platforms.similar.comparing import ID, NAMED, RUN, Findings, Pair, shared
from autograder.reports.terminal import Printer, safe
from autograder.text import clean, counted

# A page is read by a person: these many pairs side by side, the others by name.
SIDE_BY_SIDE = 30
_ROWS, _LISTED = 40, 1000
_WIDTH = 80
# Lines around what is shared that are shown, too.
_AROUND = 3
_LEGEND = (
    "most: of the most similar component; all: of everything; shared: characters, without "
    "names, comments, texts and layout. The handout, the solution and what a third of the class "
    "has are left out. This helps a person who looks at both sides, and proves nothing."
)
_MARK = '<mark title="shared part {0}"><span class="n">{0} </span>'


def summary(found: Findings) -> str:
    """Say in one sentence what was found."""
    what = counted(len(found.pairs), "similar pair") if found.pairs else "no similar pair"
    among = counted(found.compared, "submission")
    return f"{what} among {among}, from {found.threshold:g} % of a component on"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def where(pair: Pair, most: int = NAMED) -> str:
    """Say in which components a pair is similar; of many, name the first."""
    if pair.given:
        names = ", ".join(part.name for part in pair.given[:most])
        more = f" and {len(pair.given) - most} more" if len(pair.given) > most else ""
        rest = f"; {_where(pair, most)}" if pair.striking else ""
        return f"{names}{more}: given text handed in as own work{rest}"
    return _where(pair, most)


def _where(pair: Pair, most: int) -> str:
    if not pair.striking:
        return f"small parts of {len(pair.parts)}"
    named = pair.parts[: min(most, pair.striking)]
    words = ", ".join(f"{part.name} {_percent(part.share)}" for part in named)
    more = pair.striking - len(named)
    return f"{words} and {more} more" if more else words


def print_pairs(console: Console, found: Findings) -> None:
    """Print a row for each pair, in at most 80 columns, and what else should be known."""
    line, width = Printer(console).line, min(_WIDTH, console.width)
    if found.pairs:
        grid = Table(header_style="bold", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
        for name in ("first", "second"):
            grid.add_column(name, overflow="fold", max_width=18)
        for name in ("most", "all", "shared"):
            grid.add_column(name, justify="right", no_wrap=True)
        grid.add_column("where", overflow="fold")
        for pair in found.pairs[:_ROWS]:
            ids = (safe(pair.first.id, ID), safe(pair.second.id, ID))
            shares = (_percent(pair.most), _percent(pair.whole.share), str(pair.whole.size))
            grid.add_row(*ids, *shares, safe(where(pair, 2), 200))
        console.print(grid, width=width, soft_wrap=False)
        if len(found.pairs) > _ROWS:
            line(f"and {len(found.pairs) - _ROWS} pairs more")
        console.print(_LEGEND, highlight=False, width=width, soft_wrap=False)
    for words in (*found.notes, summary(found)):
        line(words)


def write(found: Findings, out: Path) -> list[Path]:
    """Write `similar.csv` and `similar.html` into a folder and return their paths.

    Raises:
        UsageError: they cannot be written.
    """
    made = {"similar.csv": _csv(found), "similar.html": _page(found).encode()}
    with repairable(f"--out {out} cannot be written", "give a folder you can write to"):
        private.make_folder(out)
        for name, data in made.items():
            private.write_file(out / name, data)
    return [out / name for name in made]


def _csv(found: Findings) -> bytes:
    names = list(found.assignment.totals)
    rows: list[list[str | float | None]] = [
        ["first", "second", "most", "all", "shared", *names, "other files", "given text"]
    ]
    for pair in found.pairs:
        shares = {part.name: round(100 * part.share, 1) for part in pair.parts}
        others = "; ".join(clean(name, ID) for name in shares if name not in names)
        ids = (pair.first.id, pair.second.id)
        numbers = (round(100 * pair.most, 1), round(100 * pair.whole.share, 1), pair.whole.size)
        given = clean("; ".join(clean(part.name, ID) for part in pair.given))
        parts = (shares.get(name, 0.0) for name in names)
        rows.append([*ids, *numbers, *parts, clean(others) or None, given or None])
    return table(rows)


def _page(found: Findings) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__), autoescape=True, trim_blocks=True
    )
    environment.filters |= {"percent": _percent, "clean": clean, "where": where}
    return environment.get_template("similar.html.jinja").render(
        found=found,
        summary=summary(found),
        pairs=found.pairs[:_LISTED],
        most=SIDE_BY_SIDE,
        sides=sides,
        ID=ID,
    )


def sides(pair: Pair) -> list[tuple[str, list[tuple[str, Markup]]]]:
    """Return both submissions of a pair by id: the name of each file, and the shared parts in it.

    A part has the same number on both sides.
    """
    both = pair.first.hashes & pair.second.hashes
    numbers: dict[int, int] = {}
    found = []
    for work in (pair.first, pair.second):
        files = ((name, prints) for name, prints in work.files.items() if prints.hashes & both)
        found.append((work.id, [(name, _marked(prints, both, numbers)) for name, prints in files]))
    return found


def _marked(prints: Any, both: set[int], blocks: dict[int, int]) -> Markup:
    """Return a file with what is shared marked, and of the rest some lines around it.

    `blocks` are the numbers of what is shared, by hash: the second side has those of the first.
    """
    at = {place: h for h in prints.hashes & both for place in prints.hash_idx[h]}
    slices = shared(prints, both).astype(int)
    numbers = []
    for start, end in slices.T.tolist():
        hashes = [at[place] for place in range(start, end - RUN + 1) if place in at]
        new = max(blocks.values(), default=0) + 1
        numbers.append(next((blocks[h] for h in hashes if h in blocks), new))
        blocks.update((h, numbers[-1]) for h in hashes if h not in blocks)
    # As copydetect finds them in the text itself.
    row = np.searchsorted(prints.offsets[:, 0], slices).clip(0, len(prints.offsets) - 1)
    text = "".join(c if c.isprintable() or c in "\t\n" else "\ufffd" for c in prints.raw_code)
    slices += prints.offsets[:, 1][row]
    slices = np.maximum.accumulate(slices.T.ravel()).reshape(-1, 2).T
    html = highlight_overlap(text, slices, "\0", "</mark>", truncate=_AROUND, escape_html=True)[0]
    left = iter(numbers)
    # Escaped by copydetect, and no text has a NUL any more.
    return Markup(re.sub("\0", lambda _: _MARK.format(next(left)), html))  # noqa: S704
