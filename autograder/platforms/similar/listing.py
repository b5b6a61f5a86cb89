"""Pairs as a person reads them: a table, `similar.csv`, and a page with both sides."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

import jinja2
from markupsafe import Markup
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from autograder import private
from autograder.errors import UsageError
from autograder.grading.tables import table
from autograder.platforms.similar.comparing import ID, File, Findings, Pair, named
from autograder.reports.terminal import Printer, safe
from autograder.text import clean

# A person reads so many pairs side by side, so many in the terminal, so many in the page's table.
SIDE_BY_SIDE, _ROWS, _LISTED = 30, 40, 1000
_WIDTH = 80
# Lines around what is shared that are shown, too.
_AROUND = 3
_LEGEND = (
    "most: of the component that is most alike; all: of everything; shared: characters, without "
    "names, comments, texts and layout. The handout, the solution and what a third of the class "
    "has are left out. This helps whoever looks at both sides, and proves nothing."
)
_MARK = Markup('<mark title="shared part {0}"><span class="n">{0} </span>{1}</mark>')


def summary(found: Findings) -> str:
    """Say in one sentence what was found."""
    number = len(found.pairs)
    what = f"{number or 'no'} similar pair{'s' * (number > 1)}"
    return (
        f"{what} among {found.compared} submissions, from {found.threshold:g} % of a component on"
    )


def where(pair: Pair, most: int = 20) -> str:
    """Say in which components a pair is alike; of many, name the first."""
    if not pair.striking:
        return f"small parts of {len(pair.parts)}"
    return named([f"{part.name} {part.share:.0%}" for part in pair.parts[: pair.striking]], most)


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
            shares = (f"{pair.most:.0%}", f"{pair.whole.share:.0%}", str(pair.whole.size))
            ids = (safe(pair.first.id, ID), safe(pair.second.id, ID))
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
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__), autoescape=True, trim_blocks=True
    )
    environment.filters |= {"clean": clean, "where": where}
    page = environment.get_template("similar.html.jinja").render(
        found=found, summary=summary(found), listed=_LISTED, most=SIDE_BY_SIDE, sides=sides, ID=ID
    )
    try:
        private.make_folder(out)
        private.write_file(out / "similar.csv", _csv(found))
        private.write_file(out / "similar.html", page.encode())
    except OSError as error:
        raise UsageError(
            f"--out {out} cannot be written ({error.strerror}): give a folder you can write to"
        ) from error
    return [out / "similar.csv", out / "similar.html"]


def _csv(found: Findings) -> bytes:
    names = list(found.assignment.totals)
    rows: list[list[str | float | None]] = [
        ["first", "second", "most", "all", "shared", *names, "other files"]
    ]
    for pair in found.pairs:
        shares = {part.name: round(100 * part.share, 1) for part in pair.parts}
        others = "; ".join(clean(name, ID) for name in shares if name not in names)
        most, whole = round(100 * pair.most, 1), round(100 * pair.whole.share, 1)
        ids = (pair.first.id, pair.second.id)
        columns = (shares.get(name, 0.0) for name in names)
        rows.append([*ids, most, whole, pair.whole.size, *columns, clean(others) or None])
    return table(rows)


def sides(pair: Pair) -> list[tuple[str, list[tuple[str, Markup]]]]:
    """Return both submissions of a pair by id: the name of each file, and the shared parts in it.

    A part has the same number on both sides.
    """
    both, numbers = pair.first.own & pair.second.own, dict[int, int]()
    return [
        (
            work.id,
            [
                (name, _marked(file, both, numbers))
                for name, file in work.files.items()
                if both & file.runs.keys()
            ],
        )
        for work in (pair.first, pair.second)
    ]


def _marked(file: File, both: Set[int], numbers: dict[int, int]) -> Markup:
    """Return a file with what is shared marked, and of the rest some lines around it.

    `numbers` are those of what is shared, by run: the second side has those of the first.
    """
    text = "".join(c if c.isprintable() or c in "\t\n" else "\ufffd" for c in file.text)
    html, done = Markup(), 0
    at = {place: run for run in both & file.runs.keys() for place in file.runs[run]}
    for start, end in file.passages(both):
        number = numbers.get(at[start], max(numbers.values(), default=0) + 1)
        for place in range(start, end):
            numbers.setdefault(at.get(place, 0), number)
        begin, done_ = file.places[start], file.places[end - 1] + 1
        html += _around(text[done:begin]) + _MARK.format(number, text[begin:done_])
        done = done_
    return html + _around(text[done:])


def _around(text: str) -> str:
    """Return a text that is not shared without what lies in its middle."""
    lines = text.split("\n")
    if len(lines) <= 2 * _AROUND + 2:
        return text
    return "\n".join([*lines[: _AROUND + 1], "", "...", "", *lines[-_AROUND - 1 :]])
