"""What `grade` prints: progress while it runs, a table when it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import Generic, Self, TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.status import Status
from rich.table import Table

from autograder.grading.entries import Listing
from autograder.results import Standing, SubmissionResult
from autograder.text import clean

L = TypeVar("L", Status, Progress)

_ROWS = 60
_NAMED = 20
_COUNTING = "grading"
# Short enough for a table of seven components in 80 columns; a legend follows the table.
_MARKS = {
    "missing": "–",
    "not_attempted": "stub",
    "import_error": "imp",
    "timeout": "hang",
    "crashed": "died",
    "forbidden": "ban",
}
_MEANINGS = {
    "missing": "no file",
    "not_attempted": "not attempted",
    "import_error": "cannot be imported",
    "timeout": "took too long",
    "crashed": "its process died",
    "forbidden": "a forbidden operation",
}

_STANDINGS: dict[Standing, str] = {
    "empty": "no file of the assignment, in no mean",
    "rejected": "could not be taken in, in no mean",
    "error": "a fault of the grader, no mark",
}


def safe(text: str, limit: int = 300) -> str:
    """Make text from outside safe for rich and for a terminal."""
    return escape(clean(text, limit))


class _Live(Generic[L]):
    """What changes on a terminal, while it is entered; `live` is None where there is none."""

    def __init__(self, console: Console, live: L | None) -> None:
        self._console = console
        self._live: L | None = live

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def _say(self, words: str) -> None:
        self._console.print(f"{safe(words)} …", highlight=False)


class Stages(_Live[Status]):
    """Says what is being done before there is anything to count.

    A line that changes on a terminal; elsewhere a line a stage.
    """

    def __init__(self, console: Console) -> None:
        spinner = console.status("", spinner="line") if console.is_terminal else None
        super().__init__(console, spinner)
        self._said = ""

    def __call__(self, words: str) -> None:
        """Say what is being done now."""
        if self._live is not None:
            self._live.update(safe(words))
        elif words != self._said:
            self._say(words)
        self._said = words


class ProgressReport(_Live[Progress]):
    """A bar with counts and time left on a terminal, a plain line a submission elsewhere.

    Elsewhere nothing, if it is to be `quiet`.
    """

    def __init__(self, console: Console, total: int, quiet: bool = False) -> None:
        self._quiet = quiet
        self._total = total
        self._done = 0
        bar: Progress | None = None
        if console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
            bar = Progress(*columns, *times, console=console)
            self._task = bar.add_task(_COUNTING, total=total)
        super().__init__(console, bar)

    def tell(self, words: str) -> None:
        """Say what is being done before there is anything to count."""
        if self._live is not None:
            self._live.update(self._task, description=safe(words))
        else:
            self._say(words)

    def __call__(self, result: SubmissionResult, kept: bool) -> None:
        """Note one more submission."""
        self._done += 1
        if self._live is not None:
            self._live.update(self._task, description=_COUNTING, advance=1)
            return
        if self._quiet:
            return
        score = "–" if result.score is None else f"{result.score:g}"
        note = " (unchanged)" if kept else ""
        note += f" {result.status}" if result.status != "graded" else ""
        count = f"{self._done}/{self._total}"
        self._console.print(f"{count} {safe(result.submission, 60)} {score}{note}", highlight=False)


def print_table(
    console: Console, results: Sequence[SubmissionResult], components: Sequence[str]
) -> None:
    """Print a row a submission; of a large batch, the lowest scores only."""
    shown = list(results)
    if len(shown) > _ROWS:
        shown = sorted(shown, key=lambda result: (result.score is not None, result.score or 0.0))
        shown = shown[:_ROWS]
        console.print(f"The {_ROWS} lowest of {len(results)}:")
    table = Table(header_style="bold", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0))
    table.add_column("student", overflow="fold")
    table.add_column("score", justify="right")
    for component in components:
        table.add_column(component.replace("_", "\n"), justify="right")
    for result in shown:
        table.add_row(safe(result.submission, 60), _total(result), *_cells(result, components))
    console.print(table)
    used = {
        status: mark
        for status, mark in _MARKS.items()
        for result in shown
        if any(c.status == status and not c.score for c in result.components.values())
    }
    legend = [f"{mark} {_MEANINGS[status]}" for status, mark in used.items()]
    standings = Counter(result.standing for result in results)
    legend += [f"{name}: {words}" for name, words in _STANDINGS.items() if standings[name]]
    if legend:
        console.print(f"[dim]{'; '.join(legend)}[/dim]", highlight=False)
    for result in shown:
        if result.status != "graded":
            console.print(f"{safe(result.submission, 60)}: {result.status}: {safe(result.message)}")
    counted = [result.score or 0.0 for result in results if result.standing == "graded"]
    names = ("graded", *_STANDINGS)
    words = ", ".join(f"{standings[name]} {name}" for name in names if standings[name])
    mean = ""
    if counted:
        mean = f"; mean {sum(counted) / len(counted):.1f} of {results[0].max_score:g}"
    console.print(f"{len(results)} submissions: {words}{mean}", highlight=False)


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
            cells.append(f"[dim]{_MARKS[component.status]}[/dim]")
        else:
            cells.append(f"[yellow]{component.score:g}[/yellow]")
    return cells


def print_left_out(console: Console, listing: Listing, results: Sequence[SubmissionResult]) -> None:
    """Say last what no mark stands for: what was ignored, what has two owners, what is rejected."""
    if listing.ignored:
        names = _named(listing.ignored)
        console.print(f"ignored, no student's work: {names}", highlight=False)
    for name, paths in listing.doubled.items():
        both = " and ".join(safe(path, 60) for path in paths[:3])
        console.print(
            f"not graded: {both} are both of {safe(name, 60)!r}: keep one of them and run it again",
            highlight=False,
        )
    rejected = [result.submission for result in results if result.status == "rejected"]
    if rejected:
        count = f"{len(rejected)} of {len(results)} submissions"
        console.print(f"{count} could not be taken in: {_named(rejected)}", highlight=False)


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(safe(name, 60) for name in names[:_NAMED]) + more
