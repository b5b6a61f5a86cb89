"""The table of a class: it fits 80 columns, and says what results.csv says."""

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from autograder.grading.store import write_table
from autograder.reports.score_table import print_table
from autograder.results import ComponentResult, SubmissionResult

STATUSES = ("graded", "missing", "not_attempted", "import_error", "timeout", "crashed", "forbidden")


def component(score: float, status: str = "graded") -> ComponentResult:
    return ComponentResult(status=status, score=score, max_score=20.0, criteria=[])


def result(name: str, scores: dict[str, float], status: str = "graded") -> SubmissionResult:
    return SubmissionResult(
        submission=name,
        assignment="a",
        status=status,
        score=round(sum(scores.values()), 4) if status == "graded" else 0.0,
        max_score=20.0 * len(scores),
        components={n: component(s) for n, s in scores.items()} if status == "graded" else {},
        sandbox="none",
    )


def printed(results: list[SubmissionResult], names: list[str], width: int = 80) -> str:
    out = Console(file=io.StringIO(), width=width, soft_wrap=True)
    print_table(out, results, names)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def table_of(text: str) -> list[str]:
    """Return the lines of the tables, without what is said below them."""
    lines = text.splitlines()
    last = max(n for n, line in enumerate(lines) if line.startswith((" s", " ─")) or "─" in line)
    return [line.rstrip() for line in lines[: last + 1]]


LONG = [f"a_component_{number}_with_an_unreasonably_long_name" for number in range(12)]


@pytest.mark.parametrize("count", [1, 7, 12, 40])
@pytest.mark.parametrize("names", ["short", "long"])
def test_a_table_fits_80_columns_whole(count: int, names: str) -> None:
    wanted = [f"part_{n}" for n in range(count)] if names == "short" else (LONG * 4)[:count]
    wanted = list(dict.fromkeys(f"{name}{n}" for n, name in enumerate(wanted)))
    scores = {name: 10.0 + n / 3 for n, name in enumerate(wanted)}
    # As long as a table shows one.
    people = [
        result("a-student-with-a-very-long-name" + "-as-long-as-it-is-shown" + "-" * 5, scores),
        result("b", scores),
    ]
    people.append(result("c", scores, "rejected"))
    text = printed(people, wanted)
    before = text.partition("c: rejected")[0].splitlines()
    tables = [line for line in before if not re.match(r"(\d+ \w+; |rejected: )", line)]
    assert max(map(len, tables)) <= 80
    assert "…" not in "".join(tables)
    shown = re.sub(r"\s+", " ", text)
    for score in scores.values():
        assert f" {score:g} " in shown
    for name in wanted:
        assert name in text.replace("\n", "") or all(part in text for part in name.split("_"))


def test_names_that_are_too_wide_are_numbered_below() -> None:
    text = printed([result("s", dict.fromkeys(LONG, 5.0))], LONG)
    flat = re.sub(r"\s+", " ", text)
    assert flat.count("student") == 1
    for number, name in enumerate(LONG, start=1):
        assert f"{number} {name}" in flat


def test_seven_components_of_a_usual_length_keep_their_names() -> None:
    names = ["layer_norm", "positional_encoding", "attention", "multi_head_attention"]
    names += ["feed_forward", "transformer_block", "lm_head"]
    text = printed([result("s01", dict.fromkeys(names, 18.0))], names)
    assert "positional" in text
    assert "1 layer_norm" not in text


@given(
    st.lists(st.text(max_size=70), min_size=1, max_size=4, unique=True),
    st.integers(1, 15),
    st.integers(0, 6),
)
def test_any_id_and_any_status_leave_the_table_whole(
    ids: list[str], count: int, status: int
) -> None:
    names = [f"component_{n}" for n in range(count)]
    people = [result(name, dict.fromkeys(names, 20 / 3)) for name in ids]
    for person in people:
        person.components[names[0]] = component(0.0, STATUSES[status])
    text = printed(people, names)
    flat = [line for line in text.splitlines() if "─" in line]
    assert flat
    assert max(map(len, flat)) <= 80
    assert text.count("6.66667") >= (count - 1) * len(people)


def test_table_and_csv_agree(tmp_path: Path) -> None:
    names = ["one", "two"]
    people = [
        result("s1", {"one": 20.0, "two": 6.6667}),
        result("s2", {"one": 0.1 + 0.2, "two": 0.0}),
        result("s3", {"one": 0.0, "two": 0.0}, "rejected"),
    ]
    text = printed(people, names)
    written = csv.DictReader(io.StringIO(write_table(tmp_path, people, names).read_text()))
    for row, person in zip(written, people, strict=True):
        (line,) = [
            words for words in map(str.split, text.splitlines()) if words[:1] == [row["submission"]]
        ]
        if person.status == "graded":
            assert line == [row["submission"], row["score"], row["one"], row["two"]]
        else:
            assert line == [row["submission"], row["status"]]
            assert row["score"] == "0"
