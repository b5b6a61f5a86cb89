"""The table of a class that `grade` prints when it is done, and what it says beside it."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.grading import accepted
from autograder.grading.entries import Listing
from autograder.reports.terminal import safe
from autograder.results import ComponentStanding, Standing, SubmissionResult

# An id that is longer than this may go on in the next line.
_LEAST_ID = 10
_ID = 60
_ROWS = 60
_NAMED = 20
# Short enough for a table of seven components in 80 columns; a legend follows the table.
_MARKS: dict[ComponentStanding, tuple[str, str]] = {
    "missing": ("–", "no file"),
    "not_attempted": ("stub", "not attempted"),
    "import_error": ("imp", "cannot be imported"),
    "timeout": ("hang", "took too long"),
    "crashed": ("died", "its process died"),
    "forbidden": ("ban", "a forbidden operation"),
    "held": ("held", "for review"),
}
_STANDINGS: dict[Standing, str] = {
    "empty": "no file of the assignment, in no mean",
    "rejected": "could not be taken in, in no mean",
    "error": "a fault of the grader, no mark",
}


def print_table(
    console: Console, results: Sequence[SubmissionResult], components: Sequence[str]
) -> None:
    """Print a row a submission; of a large batch, the lowest scores only.

    It fits the console: what is too wide is numbered, and what is still too wide follows below.
    """
    if len(results) > _ROWS:
        shown = heapq.nsmallest(_ROWS, results, key=_by_score)
        console.print(f"The {_ROWS} lowest of {len(results)}:")
    else:
        shown = list(results)
    tables, numbered = _tables(shown, components, console.width)
    for table in tables:
        console.print(table)
    used = {
        result.component_standing(name)
        for result in shown
        for name, component in result.components.items()
        if not component.score
    }
    if numbered:
        numbers = (f"{n} {safe(name, _ID)}" for n, name in enumerate(components, start=1))
        words = f"[dim]{'; '.join(numbers)}[/dim]"
        console.print(words, highlight=False, soft_wrap=False, width=console.width)
    legend = [f"{mark} {words}" for status, (mark, words) in _MARKS.items() if status in used]
    # Each may be read anew when it is asked for.
    found = [(result.standing, result.score or 0.0) for result in results]
    standings = Counter(standing for standing, _ in found)
    legend += [f"{name}: {words}" for name, words in _STANDINGS.items() if standings[name]]
    if legend:
        console.print(f"[dim]{'; '.join(legend)}[/dim]", highlight=False)
    for result in shown:
        if result.status != "graded":
            console.print(
                f"{safe(result.submission, _ID)}: {result.status}: {safe(result.message)}"
            )
    counted = [score for standing, score in found if standing == "graded"]
    names = ("graded", *_STANDINGS)
    words = ", ".join(f"{standings[name]} {name}" for name in names if standings[name])
    mean = ""
    if counted:
        mean = f"; mean {sum(counted) / len(counted):.1f} of {shown[0].max_score:g}"
    console.print(f"{len(results)} submissions: {words}{mean}", highlight=False)


def _by_score(result: SubmissionResult) -> tuple[bool, float]:
    return result.score is not None, result.score or 0.0


def _tables(
    results: Sequence[SubmissionResult], components: Sequence[str], width: int
) -> tuple[list[Table], bool]:
    """Return the table, and whether its components are numbered, for their names are too wide.

    These are several, one below the other, where it is still too wide for a console.
    """
    ids = [safe(result.submission, _ID) for result in results]
    totals = [_total(result) for result in results]
    rows = [_cells(result, components) for result in results]
    heads = [name.replace("_", "\n") for name in components]

    def widths() -> list[int]:
        return [
            _widest([*head.split("\n"), *(row[place] for row in rows)]) + 1
            for place, head in enumerate(heads)
        ]

    beside = width - _widest(["score", *totals]) - 3
    room = beside - min(_widest(["student", *ids]), _LEAST_ID)
    numbered = sum(widths()) > room
    if numbered:
        heads = [str(number) for number in range(1, len(components) + 1)]
    wide = widths()
    left = list(range(len(components)))
    tables: list[Table] = []
    while left or not tables:
        taken: list[int] = []
        # One is always taken, or it would never end.
        while left and (not taken or sum(wide[i] for i in [*taken, left[0]]) <= room):
            taken.append(left.pop(0))
        most = max(_LEAST_ID, beside - sum(wide[i] for i in taken))
        table = Table(header_style="bold", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0))
        table.add_column("student", overflow="fold", max_width=most)
        table.add_column("score", justify="right", no_wrap=True)
        for place in taken:
            table.add_column(heads[place], justify="right", no_wrap=True)
        for name, total, cells in zip(ids, totals, rows, strict=True):
            table.add_row(name, total, *(cells[place] for place in taken))
        tables.append(table)
    return tables, numbered


def _widest(cells: Sequence[str]) -> int:
    return max((cell_len(Text.from_markup(cell).plain) for cell in cells), default=0)


def _total(result: SubmissionResult) -> str:
    if result.standing != "graded":
        return f"[red]{result.standing}[/red]"
    style = "green" if result.score == result.max_score else "bold"
    return f"[{style}]{result.score:g}[/{style}]"


def _cells(result: SubmissionResult, components: Sequence[str]) -> list[str]:
    cells = []
    for name in components:
        component = result.components.get(name)
        if component is None:
            cells.append("")
        elif component.score == component.max_score:
            cells.append(f"[green]{component.score:g}[/green]")
        elif component.status in _MARKS and not component.score:
            cells.append(f"[dim]{_MARKS[result.component_standing(name)][0]}[/dim]")
        else:
            cells.append(f"[yellow]{component.score:g}[/yellow]")
    return cells


def print_left_out(console: Console, listing: Listing, results: Sequence[SubmissionResult]) -> None:
    """Say last what no mark stands for: what was ignored, what has two owners, what is rejected."""
    if listing.ignored:
        names = _named(listing.ignored)
        console.print(f"ignored, no student's work: {names}", highlight=False)
    for name, paths in listing.doubled.items():
        both = " and ".join(safe(path, _ID) for path in paths[:3])
        console.print(
            f"not graded: {both} are both of {safe(repr(name), _ID)}: keep one of them "
            "and run it again",
            highlight=False,
        )
    rejected = [result.submission for result in results if result.status == "rejected"]
    if rejected:
        count = f"{len(rejected)} of {len(results)} submissions"
        console.print(f"{count} could not be taken in: {_named(rejected)}", highlight=False)


def print_held(console: Console, out: Path, results: Sequence[SubmissionResult]) -> None:
    """Say which submissions are held for review, where to read why, and how to accept one."""
    held = [result.submission for result in results if result.held]
    if held:
        count = "1 submission is" if len(held) == 1 else f"{len(held)} submissions are"
        typed = safe(accepted.command(out, held[0]), 1000)
        table = safe(str(out / "results.csv"), 500)
        console.print(
            f"{count} held for review: {_named(held)}; {table} says why (remarks); "
            f"accept with `{typed}`, then grade again",
            highlight=False,
        )


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(safe(name, _ID) for name in names[:_NAMED]) + more
