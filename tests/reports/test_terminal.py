"""What is said while a class is graded: on a terminal, and where lines are kept."""

import io
import re

import pytest
from rich.console import Console

from autograder.reports.terminal import ProgressReport, Stages, rate
from autograder.results import SubmissionResult


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def result(number: int, status: str = "graded") -> SubmissionResult:
    return SubmissionResult(
        submission=f"s{number:03}",
        assignment="a",
        status=status,
        score=None if status == "error" else 1.0,
        max_score=2.0,
        sandbox="none",
    )


def console(terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=80, soft_wrap=True)


def said(out: Console) -> list[str]:
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


def run(total: int, each_s: float, out: Console, kept: int = 0, workers: int = 2) -> Clock:
    clock = Clock()
    with ProgressReport(out, total, workers=workers, clock=clock) as progress:
        for number in range(total):
            clock.now += 0.0 if number < kept else each_s
            progress(result(number, "error" if number == 20 else "graded"), number < kept)
    return clock


def test_a_small_class_has_a_line_a_submission() -> None:
    out = console()
    run(50, 1.0, out, kept=1)
    assert len(said(out)) == 50
    assert said(out)[:2] == ["1/50 s000 1 (unchanged)", "2/50 s001 1"]


@pytest.mark.parametrize("each_s, lines", [(0.1, 6), (1.0, 60), (20.0, 300), (0.0, 1)])
def test_a_large_class_has_a_line_every_few_seconds(each_s: float, lines: int) -> None:
    out = console()
    run(300, each_s, out)
    assert len(said(out)) == pytest.approx(lines, abs=1)
    assert said(out)[-1].startswith("300/300")


def test_a_line_of_a_large_class_says_how_fast_and_how_long() -> None:
    out = console()
    run(300, 0.5, out)
    assert "100/300, 2.0/s, 0:01:40 left, 2 workers, 1 error" in said(out)
    assert said(out)[-1] == "300/300, 2.0/s, 2 workers, 1 error"


def test_the_rate_is_that_of_what_is_graded_and_not_of_what_was_kept() -> None:
    out = console()
    run(300, 2.5, out, kept=200)
    assert "250/300, 24.0/min, 0:02:05 left, 2 workers, 200 unchanged, 1 error" in said(out)


def test_a_quiet_report_prints_nothing() -> None:
    out = console()
    with ProgressReport(out, 300, quiet=True, clock=Clock()) as progress:
        for number in range(300):
            progress(result(number), False)
    assert said(out) == []


def test_a_terminal_shows_count_rate_time_left_and_workers_in_80_columns() -> None:
    out = console(terminal=True)
    clock = Clock()
    with ProgressReport(out, 30_000, workers=64, clock=clock) as progress:
        for number in range(12_000):
            clock.now += 0.25
            progress(result(number), False)
    plain = [
        re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", part)
        for line in said(out)
        for part in line.split("\r")
    ]
    (last,) = {line.rstrip() for line in plain if "12000/30000" in line}
    assert re.search(r"12000/30000 4\.0/s 0:50:00 left 1:15:00 64 workers", last)
    assert max(map(len, plain)) <= 80


def test_stages_are_lines_where_there_is_no_terminal() -> None:
    out = console()
    with Stages(out) as stages:
        stages("importing torch")
        stages("importing torch")
        stages("grading the [solutions]")
    assert said(out) == ["importing torch …", "grading the [solutions] …"]


def test_stages_change_a_line_on_a_terminal() -> None:
    out = console(terminal=True)
    with Stages(out) as stages:
        stages("importing torch")
        stages("opening the sandbox")
    text = "\n".join(said(out))
    assert "opening the sandbox" in text


@pytest.mark.parametrize(
    "a_second, words",
    [
        (0.0, ""),
        (-1.0, ""),
        (1 / 60, "1.0/min"),
        (0.99, "59.4/min"),
        (1.0, "1.0/s"),
        (9e3, "9000.0/s"),
    ],
)
def test_a_rate_is_in_a_unit_in_which_it_is_a_number(a_second: float, words: str) -> None:
    assert rate(a_second) == words


@pytest.mark.parametrize(
    "about, words",
    [
        ({"score": 1234.5, "max_score": 2000.0}, "1234.5"),
        ({"score": 0.0}, "0"),
        ({"score": 0.0, "status": "rejected"}, "0 rejected"),
        ({"score": None, "status": "error"}, "– error"),
    ],
)
def test_a_line_has_the_mark_and_how_it_stands(about: dict[str, object], words: str) -> None:
    out = console()
    with ProgressReport(out, 1) as progress:
        progress(result(1).model_copy(update=about), False)
    assert said(out) == [f"1/1 s001 {words}"]


def test_a_name_is_text_of_a_length_that_is_read() -> None:
    out = console()
    hostile = result(1).model_copy(update={"submission": "[red]\x1b[2J" + "x" * 100})
    with ProgressReport(out, 1) as progress:
        progress(hostile, False)
    assert said(out) == [f"1/1 [red] [2J{'x' * 50}… 1"]


def test_what_takes_hours_says_so() -> None:
    out = console()
    run(300, 60.0, out)
    assert "100/300, 1.0/min, 3:20:00 left, 2 workers, 1 error" in said(out)
    assert "200/300, 1.0/min, 1:40:00 left, 2 workers, 1 error" in said(out)
