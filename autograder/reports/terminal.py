"""How text reaches a terminal: nothing runs of it, and what goes on is said while it does."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Self

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

from autograder.errors import UsageError
from autograder.results import SubmissionResult
from autograder.text import clean, counted, points

_COUNTING = "grading"
# A person reads a line for each of this number of submissions, and no more.
_EACH = 50
_EVERY_S = 5.0
# How far back the rate looks: results that were kept from an earlier run come fast.
_LATELY_S = 30.0
_BAR = 10
_LINE = 4000
# Of a name in a list, in characters.
_NAME = 60


def safe(text: str, limit: int = 300) -> str:
    """Make text from outside safe for rich and for a terminal."""
    return escape(clean(text, limit))


def named(names: Sequence[str], most: int = 20) -> str:
    """Return the first names, which are safe, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(clean(name, _NAME) for name in names[:most]) + more


def plain(stderr: bool = False) -> Console:
    """Return a console that wraps no line and colours nothing by itself."""
    return Console(stderr=stderr, soft_wrap=True, highlight=False)


class Printer:
    """Prints text from outside: no markup, no control characters, one line a line."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def line(self, text: str, indent: str = "") -> None:
        """Print one line."""
        self._console.print(f"{indent}{safe(text, _LINE)}", highlight=False)

    def block(self, title: str, lines: Sequence[str]) -> None:
        """Print a title and lines under it; nothing where there are none."""
        if lines:
            self.line(f"{title}:")
            for line in lines:
                self.line(line, "    ")


def say(text: str, indent: str = "", stderr: bool = False) -> None:
    """Print one line of text from outside."""
    Printer(plain(stderr)).line(text, indent)


def say_error(error: UsageError, stderr: bool = False) -> None:
    """Print what is wrong with what the user gave."""
    first, *others = error.lines
    say(f"autograder: {first}", stderr=stderr)
    for line in others:
        say(line, "  ", stderr)


class _Live:
    """Something that changes on a terminal while it is entered; elsewhere lines are printed."""

    def __init__(self, console: Console, live: Status | Progress) -> None:
        self._lines = Printer(console)
        self._changes = console.is_terminal
        self._live = live

    def __enter__(self) -> Self:
        if self._changes:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._changes:
            self._live.stop()


class Stages(_Live):
    """Says what is being done before there is anything to count."""

    def __init__(self, console: Console) -> None:
        self._status = console.status("", spinner="line")
        self._said = ""
        super().__init__(console, self._status)

    def __call__(self, words: str) -> None:
        """Say what is being done now."""
        if self._changes:
            self._status.update(safe(words))
        elif words != self._said:
            self._lines.line(f"{clean(words)} …")
        self._said = words


def rate(a_second: float) -> str:
    """Say how many are done in a second, or in a minute where these are few; nothing for 0."""
    if a_second <= 0:
        return ""
    return f"{a_second:.1f}/s" if a_second >= 1 else f"{60 * a_second:.1f}/min"


class ProgressReport(_Live):
    """A bar with count, rate, time left and workers on a terminal, plain lines elsewhere.

    These are one line for each submission; of many, one every few seconds with the same numbers;
    none with `quiet`. `workers` grade side by side; of 0 nothing is said.
    """

    def __init__(
        self,
        console: Console,
        total: int,
        quiet: bool = False,
        workers: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._quiet, self._total, self._clock = quiet, total, clock
        self._others: Counter[str] = Counter()
        self._workers = counted(workers, "worker") if workers else ""
        self._begun = self._said = clock()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(_BAR),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            *((TextColumn(self._workers),) if workers else ()),
            console=console,
            get_time=clock,
            speed_estimate_period=_LATELY_S,
        )
        self._id = self._bar.add_task(_COUNTING, total=total, rate="")
        self._task = self._bar.tasks[0]
        super().__init__(console, self._bar)

    def tell(self, words: str) -> None:
        """Say what is being done before there is anything to count."""
        self._bar.update(self._id, description=safe(words))
        if not self._changes:
            self._lines.line(f"{clean(words)} …")

    def __call__(self, result: SubmissionResult, kept: bool) -> None:
        """Note one more submission."""
        self._bar.update(self._id, description=_COUNTING, advance=1)
        self._bar.update(self._id, rate=rate(self._task.speed or 0.0))
        if self._changes or self._quiet:
            return
        if self._total <= _EACH:
            score = "–" if result.score is None else points(result.score)
            notes = ["(unchanged)"] if kept else []
            notes += [result.status] if result.status != "graded" else []
            words = [f"{self._task.completed:g}/{self._total}", clean(result.submission, 60), score]
            self._lines.line(" ".join([*words, *notes]))
            return
        self._others[result.status] += result.status != "graded"
        self._others["unchanged"] += kept
        if self._clock() - self._said >= _EVERY_S or self._task.finished:
            self._said = self._clock()
            self._say_how_far()

    def _say_how_far(self) -> None:
        done = int(self._task.completed)
        elapsed = self._said - self._begun
        # Where submissions take longer than the rate looks back, all of them make it.
        a_second = self._task.speed or (done / elapsed if elapsed else 0.0)
        words = [f"{done}/{self._total}", rate(a_second)]
        if a_second and done < self._total:
            words.append(f"{timedelta(seconds=round((self._total - done) / a_second))} left")
        words.append(self._workers)
        words += [f"{count} {status}" for status, count in self._others.items() if count]
        self._lines.line(", ".join(word for word in words if word))
