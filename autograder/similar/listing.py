"""Pairs as a person reads them: a table, `similar.csv`, and a page with both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import jinja2
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from autograder import private
from autograder.assignment import Assignment
from autograder.errors import UsageError
from autograder.grading.tables import table
from autograder.reports.terminal import safe
from autograder.similar.blocks import sides
from autograder.similar.comparing import Class, Comparison, Pair
from autograder.similar.reading import Read
from autograder.text import clean

# A page is read by a person: these many pairs side by side, the others by name.
SIDE_BY_SIDE = 30
_ROWS = 40
_LISTED = 1000
_NAMED = 20
_ID = 60
_WIDTH = 80


@dataclass(frozen=True)
class Findings:
    """A class, as it was read and compared."""

    assignment: Assignment
    read: Read
    compared: Class
    found: Comparison
    threshold: float

    def id(self, place: int) -> str:
        """Return whose submission is at a place."""
        return self.read.works[place].id

    def summary(self) -> str:
        """Say in one sentence what was found."""
        count, pairs = len(self.read.works), len(self.found.pairs)
        what = (
            f"{pairs} similar {'pair' if pairs == 1 else 'pairs'}" if pairs else "no similar pair"
        )
        return f"{what} among {count} submissions, from {self.threshold:g} % of a component on"

    def notes(self) -> list[str]:
        """Say what was left out, or should be known beside the pairs; nothing is escaped."""
        notes = []
        if self.found.common >= 0.005:
            share = f"{100 * self.found.common:.0f} %"
            notes.append(f"left out, since a third of the class has it: {share} of what is theirs")
        like = [self.id(place) for place in self.found.like_solution]
        if like:
            notes.append(f"largely the reference solution, word for word: {_named(like)}")
        notes += [
            f"not compared: {clean(name, _ID)}: {clean(why)}"
            for name, why in self.read.left_out.items()
        ]
        notes += [
            f"compared in part, for its size: {clean(name, _ID)}: {clean(which)}"
            for name, which in self.read.in_part.items()
        ]
        return notes


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(clean(name, _ID) for name in names[:_NAMED]) + more


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def where(pair: Pair, most: int = _NAMED) -> str:
    """Say in which components a pair is alike; of many, name the first."""
    if not pair.striking:
        return f"small parts of {len(pair.parts)}"
    named = pair.parts[: min(most, pair.striking)]
    words = ", ".join(f"{part.name} {_percent(part.share)}" for part in named)
    more = pair.striking - len(named)
    return f"{words} and {more} more" if more else words


def print_pairs(console: Console, findings: Findings) -> None:
    """Print a row a pair, in at most 80 columns, and what else should be known."""
    pairs = findings.found.pairs
    if pairs:
        grid = Table(header_style="bold", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
        for name in ("first", "second"):
            grid.add_column(name, overflow="fold", max_width=18)
        for name in ("most", "all", "words"):
            grid.add_column(name, justify="right", no_wrap=True)
        grid.add_column("where", overflow="fold")
        for pair in pairs[:_ROWS]:
            ids = [safe(findings.id(place), _ID) for place in (pair.first, pair.second)]
            shares = (_percent(pair.most), _percent(pair.share))
            grid.add_row(*ids, *shares, str(pair.words), safe(where(pair, 2), 200))
        console.print(grid, width=min(_WIDTH, console.width), soft_wrap=False)
        if len(pairs) > _ROWS:
            console.print(f"and {len(pairs) - _ROWS} pairs more", highlight=False)
        console.print(
            "most: of the component that is most alike; all: of everything. Names, comments, texts "
            "and layout do not count, and the handout, the solution and what a third of the class "
            "has are left out. This helps whoever looks at both sides, and proves nothing.",
            highlight=False,
            width=min(_WIDTH, console.width),
            soft_wrap=False,
        )
    for note in findings.notes():
        console.print(safe(note, 2000), highlight=False)
    console.print(findings.summary(), highlight=False)


def write(findings: Findings, out: Path) -> list[Path]:
    """Write `similar.csv` and `similar.html` into a folder and return their paths.

    Raises:
        UsageError: they cannot be written.
    """
    made = {"similar.csv": _csv(findings), "similar.html": _page(findings).encode()}
    try:
        private.make_folder(out)
        for name, data in made.items():
            private.write_file(out / name, data)
    except OSError as error:
        raise UsageError(
            f"--out {out} cannot be written ({error.strerror}): give a folder you can write to"
        ) from error
    return [out / name for name in made]


def _csv(findings: Findings) -> bytes:
    names = list(findings.assignment.totals)
    rows: list[list[str | float | None]] = [
        ["first", "second", "most", "all", "words", *names, "other files"]
    ]
    for pair in findings.found.pairs:
        shares = {part.name: round(100 * part.share, 1) for part in pair.parts}
        others = "; ".join(clean(name, _ID) for name in shares if name not in names)
        ids = [findings.id(place) for place in (pair.first, pair.second)]
        numbers = [round(100 * pair.most, 1), round(100 * pair.share, 1), float(pair.words)]
        rows.append([*ids, *numbers, *(shares.get(n, 0.0) for n in names), clean(others) or None])
    return table(rows)


def _page(findings: Findings) -> str:
    rows = []
    pairs = findings.found.pairs
    for number, pair in enumerate(pairs[:_LISTED]):
        first, second = (clean(findings.id(place), _ID) for place in (pair.first, pair.second))
        both = None
        if number < SIDE_BY_SIDE:
            both = list(
                zip(
                    (first, second),
                    sides(findings.read.works, findings.compared, pair),
                    strict=True,
                )
            )
        rows.append(
            {
                "first": first,
                "second": second,
                "most": _percent(pair.most),
                "whole": _percent(pair.share),
                "words": pair.words,
                "where": clean(where(pair)),
                "sides": both,
            }
        )
    notes = findings.notes()
    if len(pairs) > SIDE_BY_SIDE:
        notes.append(
            f"Side by side are the first {SIDE_BY_SIDE}; similar.csv has all {len(pairs)}."
        )
    text = resources.files(__package__).joinpath("templates/similar.html.jinja").read_text("utf-8")
    template = jinja2.Environment(autoescape=True, trim_blocks=True).from_string(text)
    found: str = template.render(
        title=clean(findings.assignment.title),
        summary=findings.summary(),
        notes=notes,
        rows=rows,
    )
    return found
