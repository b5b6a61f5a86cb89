"""What is said while something is being done; how it is written that nothing runs of it."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from types import TracebackType
from typing import Generic, Self, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.status import Status
from rich.text import Text

from autograder.results import SubmissionResult
from autograder.text import clean

L = TypeVar("L", Status, Progress)

_COUNTING = "grading"
# Up to this many a line each is no more than a person reads.
_EACH = 50
_EVERY_S = 5.0
# How far back the rate looks: what was kept from an earlier run came fast, and says little.
_LATELY_S = 30.0
_BAR = 10


def safe(text: str, limit: int = 300) -> str:
    """Make text from outside safe for rich and for a terminal."""
    return escape(clean(text, limit))


def plain(stderr: bool = False) -> Console:
    """Return a console that wraps no line and colours nothing by itself."""
    return Console(stderr=stderr, soft_wrap=True, highlight=False)


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


class _Rate(ProgressColumn):
    """How many are done in a time."""

    def render(self, task: Task) -> Text:
        """Return the rate, or nothing where it is not known yet."""
        return Text(rate(task.finished_speed or task.speed or 0.0))


def rate(a_second: float) -> str:
    """Say how many are done in a second, or in a minute where these are few; nothing for 0."""
    if a_second <= 0:
        return ""
    return f"{a_second:.1f}/s" if a_second >= 1 else f"{60 * a_second:.1f}/min"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


class ProgressReport(_Live[Progress]):
    """A bar with count, rate, time left and workers on a terminal, plain lines elsewhere.

    These are a line a submission; of many, a line every few seconds with the same numbers.

    Args:
        console: where.
        total: how many submissions there are.
        quiet: print no lines where there is no terminal.
        workers: how many grade side by side; 0 says nothing of them.
        clock: the time in seconds, from any beginning.
    """

    def __init__(
        self,
        console: Console,
        total: int,
        quiet: bool = False,
        workers: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._quiet = quiet
        self._total = total
        self._clock = clock
        self._done = 0
        self._others: Counter[str] = Counter()
        self._workers = f"{workers} worker{'s' * (workers != 1)}" if workers else ""
        self._said = clock()
        self._lately = deque([(self._said, 0)])
        bar: Progress | None = None
        if console.is_terminal:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(_BAR),
                MofNCompleteColumn(),
                _Rate(),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
            )
            who = (TextColumn(self._workers),) if workers else ()
            period = _LATELY_S
            bar = Progress(
                *columns, *who, console=console, get_time=clock, speed_estimate_period=period
            )
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
        elif self._quiet:
            pass
        elif self._total > _EACH:
            self._others[result.status] += result.status != "graded"
            self._others["unchanged"] += kept
            self._say_how_far()
        else:
            score = "–" if result.score is None else f"{result.score:g}"
            note = " (unchanged)" if kept else ""
            note += f" {result.status}" if result.status != "graded" else ""
            count = f"{self._done}/{self._total}"
            name = safe(result.submission, 60)
            self._console.print(f"{count} {name} {score}{note}", highlight=False)

    def _say_how_far(self) -> None:
        """Print a line, if the last one is long enough ago or this is the end."""
        now = self._clock()
        self._lately.append((now, self._done))
        while len(self._lately) > 2 and self._lately[1][0] <= now - _LATELY_S:
            self._lately.popleft()
        if now - self._said < _EVERY_S and self._done < self._total:
            return
        self._said = now
        since, before = self._lately[0]
        a_second = (self._done - before) / (now - since) if now > since else 0.0
        words = [f"{self._done}/{self._total}", rate(a_second)]
        if a_second and self._done < self._total:
            words.append(f"{_clock((self._total - self._done) / a_second)} left")
        words.append(self._workers)
        words += [f"{count} {status}" for status, count in self._others.items() if count]
        self._console.print(", ".join(word for word in words if word), highlight=False)
