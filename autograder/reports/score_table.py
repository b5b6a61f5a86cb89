"""What `grade` prints when it is done: the table of a class, or the points of one submission."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.grading import accepted
from autograder.grading.entries import Listing, doubled_words
from autograder.reports.shown import LATE, Shown
from autograder.reports.terminal import Printer, named
from autograder.results import ComponentStanding, Standing, SubmissionResult
from autograder.text import clean, counted, out_of, points

_ID = 60
# A longer id may go on in the next line.
_LEAST = 10
_ANY = 10_000
_ROWS = 60
# Short enough for a table of seven components in 80 columns; a legend follows the table.
_MARKS: dict[ComponentStanding, tuple[str, str]] = {
    "missing": ("–", "no file"),
    "not_attempted": ("stub", "not attempted"),
    "import_error": ("imp", "cannot be imported"),
    "timeout": ("hang", "took too long"),
    "crashed": ("died", "its process died"),
    "forbidden": ("ban", "a forbidden operation, or given text"),
    "held": ("held", "for review"),
}
_STANDINGS: dict[Standing, str] = {
    "empty": "no file of the assignment, in no mean",
    "rejected": "could not be taken in, in no mean",
    "doubled": "several entries of one id, no mark",
    "error": "a fault of the grader, no mark",
}


def print_table(
    console: Console, results: Sequence[SubmissionResult], components: Sequence[str]
) -> None:
    """Print a row for each submission; of a large batch, the lowest scores only.

    Where the names of the components do not fit, they are numbered.
    """
    line = Printer(console).line
    shown = list(results)
    if len(results) > _ROWS:
        shown = heapq.nsmallest(_ROWS, results, key=lambda r: (r.score is not None, r.score or 0.0))
        line(f"The {_ROWS} lowest of {len(results)}:")
    heads = {name: name.replace("_", "\n") for name in components}
    tables = _tables(console, shown, heads)
    if len(tables) > 1:
        heads = {name: str(number) for number, name in enumerate(components, start=1)}
        tables = _tables(console, shown, heads)
    for table in tables:
        console.print(table, soft_wrap=False)
    if heads and "1" in heads.values():
        numbered = "; ".join(f"{number} {clean(name, _ID)}" for name, number in heads.items())
        console.print(Text(numbered, style="dim"), soft_wrap=False, width=console.width)
    used = {
        result.component_standing(name)
        for result in shown
        for name, component in result.components.items()
        if not component.score
    }
    # Each may be read again when it is asked for.
    found = [(result.standing, result.score or 0.0) for result in results]
    standings = Counter(standing for standing, _ in found)
    legend = [f"{sign} {words}" for status, (sign, words) in _MARKS.items() if status in used]
    legend += [f"{name}: {words}" for name, words in _STANDINGS.items() if standings[name]]
    if legend:
        line("; ".join(legend))
    for result in shown:
        if result.status != "graded":
            line(f"{clean(result.submission, _ID)}: {result.status}: {clean(result.message)}")
    scores = [score for standing, score in found if standing == "graded"]
    names = ("graded", *_STANDINGS)
    words = ", ".join(f"{standings[name]} {name}" for name in names if standings[name])
    mean = ""
    if scores:
        mean = f"; mean {sum(scores) / len(scores):.1f} of {points(shown[0].max_score)}"
    line(f"{counted(len(results), 'submission')}: {words}{mean}")


def _tables(
    console: Console, results: Sequence[SubmissionResult], heads: Mapping[str, str]
) -> list[Table]:
    """Return a table whose components have these heads, or several where one is too wide."""
    table = Table(header_style="bold", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0))
    table.add_column("student", overflow="fold", min_width=7)
    for head in ("score", *heads.values()):
        table.add_column(head, justify="right", no_wrap=True)
    for result in results:
        cells = (_cell(result, name) for name in heads)
        table.add_row(Text(clean(result.submission, _ID)), _total(result), *cells)
    least = console.measure(table, options=console.options.update(width=_ANY)).minimum
    words = (word for result in results for word in clean(result.submission, _ID).split())
    longest = max(map(len, words), default=0)
    if least - max(longest - _LEAST, 0) <= console.width or len(heads) < 2:
        return [table]
    names = list(heads)
    halves = names[: len(names) // 2], names[len(names) // 2 :]
    return [t for half in halves for t in _tables(console, results, {n: heads[n] for n in half})]


def _total(result: SubmissionResult) -> Text:
    if result.standing != "graded" or result.score is None:
        return Text(result.standing, "red")
    return Text(points(result.score), "green" if result.score == result.max_score else "bold")


def _cell(result: SubmissionResult, name: str) -> Text:
    component = result.components.get(name)
    if component is None:
        return Text()
    if component.score == component.max_score:
        return Text(points(component.score), "green")
    if component.status in _MARKS and not component.score:
        return Text(_MARKS[result.component_standing(name)][0], "dim")
    return Text(points(component.score), "yellow")


def print_left_out(console: Console, listing: Listing, results: Sequence[SubmissionResult]) -> None:
    """Say last what has no mark: what was ignored, what has two owners, what is rejected."""
    line = Printer(console).line
    if listing.ignored:
        line(f"ignored, no student's work: {named(listing.ignored)}")
    for name, names in listing.doubled.items():
        line(f"not graded: {doubled_words(name, names)}")
    rejected = [result.submission for result in results if result.standing == "rejected"]
    if rejected:
        count = f"{len(rejected)} of {len(results)} submissions"
        line(f"{count} could not be taken in: {named(rejected)}")


def print_held(console: Console, out: Path, results: Sequence[SubmissionResult]) -> None:
    """Say which submissions are held for review, where to read why, and how to accept one."""
    held = [result.submission for result in results if result.held]
    if held:
        count = "1 submission is" if len(held) == 1 else f"{len(held)} submissions are"
        typed = clean(accepted.command(out, held[0]), 1000)
        Printer(console).line(
            f"{count} held for review: {named(held)}; {clean(str(out / 'results.csv'), 500)} says "
            f"why (remarks); accept with `{typed}`, then grade again"
        )


def print_single(console: Console, found: Shown) -> None:
    """Print the points of one submission, and the reasons for each that is lost."""
    line = Printer(console).line
    if found.late:
        line(LATE)
    if found.status != "graded":
        line(f"{found.submission}: {found.status}: {found.message}")
        return
    for name, component in found.components.items():
        line(f"{name}: {out_of(component.score, component.max_score)}")
        for words in (*component.said, *component.causes):
            line(words, "  ")
        for criterion in component.criteria if not component.whole else ():
            if criterion.score < criterion.max_score:
                worth = out_of(criterion.score, criterion.max_score)
                line(f"{worth}: {criterion.title}", "  ")
                for told in criterion.lines(component.causes):
                    line(told.text, "    ")
    if found.withheld:
        line(found.withheld)
    line(f"{found.submission}: {out_of(found.score or 0.0, found.max_score)} points")
