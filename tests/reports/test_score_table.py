"""The table of a class: it fits 80 columns, and says what results.csv says."""

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from autograder.grading.entries import Listing
from autograder.grading.store import write_table
from autograder.reports.score_table import print_left_out, print_table
from autograder.results import ComponentResult, Held, SubmissionResult
from autograder.text import points

# Points possible of a component.
MOST = 40.0
STATUSES = ("graded", "missing", "not_attempted", "import_error", "timeout", "crashed", "forbidden")


def component(score: float, status: str = "graded") -> ComponentResult:
    return ComponentResult(status=status, score=score, max_score=MOST, criteria=[])


def result(name: str, scores: dict[str, float], status: str = "graded") -> SubmissionResult:
    score = {"graded": round(sum(scores.values()), 4), "rejected": 0.0, "error": None}[status]
    return SubmissionResult(
        submission=name,
        assignment="a",
        status=status,
        score=score,
        max_score=MOST * len(scores),
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
        assert f" {points(score)} " in shown
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
# Two words, of which a column is as wide as the longer.
@example(["0000000 0000"], 14, 0)
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
    assert text.count("6.67") >= (count - 1) * len(people)


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
            numbers = (points(float(row[name])) for name in ("score", "one", "two"))
            assert line == [row["submission"], *numbers]
        else:
            assert line == [row["submission"], row["status"]]
            assert row["score"] == "0"


def lines_of(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_numbers_of_four_digits_stand_whole_beside_each_other() -> None:
    parts = {
        "one": ComponentResult(status="graded", score=1234.5, max_score=1234.5, criteria=[]),
        "two": ComponentResult(status="graded", score=4321.0, max_score=5000.0, criteria=[]),
    }
    about = {"components": parts, "score": 5555.5, "max_score": 6234.5}
    most = {"components": {}, "score": 6234.5, "max_score": 6234.5}
    people = [result("s01", {}).model_copy(update=about), result("s2", {}).model_copy(update=most)]
    text = printed(people, ["one", "two"])
    assert ["s01", "5555.5", "1234.5", "4321"] in lines_of(text)
    assert ["s2", "6234.5"] in lines_of(text)
    assert text.endswith("2 submissions: 2 graded; mean 5895.0 of 6234.5\n")
    # What belongs to a column ends where it ends.
    (head,) = [line for line in text.splitlines() if "student" in line]
    (row,) = [line for line in text.splitlines() if "s01" in line]
    assert [head.index(name) + len(name) for name in ("score", "one", "two")] == [
        row.index(number) + len(number) for number in ("5555.5", "1234.5", "4321")
    ]


def test_why_nothing_was_earned_stands_in_the_place_of_a_zero_with_a_legend() -> None:
    marks = dict(zip(STATUSES[1:], ("–", "stub", "imp", "hang", "died", "ban"), strict=True))
    for status, mark in marks.items():
        one = result("s01", {"one": 2.0, "two": 0.0})
        one.components["two"] = component(0.0, status)
        text = printed([one], ["one", "two"])
        assert ["s01", "2", "2", mark] in lines_of(text)
        (legend,) = [line for line in text.splitlines() if line.startswith(f"{mark} ")]
        assert legend.count(";") == 0
        # What earned something before it ended has a number, and nothing to explain.
        one.components["two"] = component(1.5, status)
        text = printed([one], ["one", "two"])
        assert ["s01", "2", "2", "1.5"] in lines_of(text)
        assert len(text.splitlines()) == len(
            printed([result("s01", {"one": 2.0})], ["one"]).splitlines()
        )


def test_of_a_large_class_those_without_a_mark_and_the_lowest_are_shown() -> None:
    people = [result(f"s{n:03}", {"one": float(n % 20)}) for n in range(61)]
    people[7] = people[7].model_copy(update={"status": "error", "score": None, "components": {}})
    text = printed(people, ["one"])
    assert text.startswith("The 60 lowest of 61:\n")
    shown = [line[0] for line in lines_of(text) if line and line[0].startswith("s0")]
    assert shown[:4] == ["s007", "s000", "s020", "s040"]
    assert "s019" in shown
    assert "s059" not in shown
    # The mean is that of all.
    scores = [one.score for one in people if one.score is not None]
    assert f"61 submissions: 60 graded, 1 error; mean {sum(scores) / 60:.1f} of 40\n" in text
    assert not printed(people[:60], ["one"]).startswith("The ")


def test_what_is_in_no_mean_is_counted_and_explained() -> None:
    empty = result("s02", {"one": 0.0})
    empty.components["one"] = component(0.0, "missing")
    fault = result("s03", {}, "error").model_copy(update={"message": "no [red]disk"})
    rejected = result("s04", {}, "rejected").model_copy(update={"message": "a\x1b[31m bomb"})
    text = printed([result("s01", {"one": 5.0}), empty, fault, rejected], ["one"])
    for row in (["s01", "5", "5"], ["s02", "empty", "–"], ["s03", "error"], ["s04", "rejected"]):
        assert row in lines_of(text)
    assert "s03: error: no [red]disk\ns04: rejected: a [31m bomb\n" in text
    assert text.endswith("4 submissions: 1 graded, 1 empty, 1 rejected, 1 error; mean 5.0 of 40\n")
    for words in (
        "empty: no file of the assignment, in no mean",
        "rejected: could not be taken in, in no mean",
        "error: a fault of the grader, no mark",
    ):
        assert words in text
        assert words not in printed([result("s01", {"one": 5.0})], ["one"])
    assert printed([fault], ["one"]).endswith("\n1 submission: 1 error\n")


def left_out(listing: Listing, results: list[SubmissionResult]) -> str:
    out = Console(file=io.StringIO(), width=80, soft_wrap=True)
    print_left_out(out, listing, results)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def test_what_no_mark_stands_for_is_named_and_long_lists_are_cut() -> None:
    assert left_out(Listing([]), [result("s01", {"one": 1.0}), result("s02", {}, "error")]) == ""
    rejected = [result("s02", {}, "rejected"), result("s03", {}, "rejected")]
    assert left_out(Listing([]), [result("s01", {"one": 1.0}), *rejected]) == (
        "2 of 3 submissions could not be taken in: s02, s03\n"
    )
    ignored = [f"notes{n}[b].txt" for n in range(22)]
    listed = ", ".join(ignored[:20])
    assert left_out(Listing([], ignored), []) == (
        f"ignored, no student's work: {listed} and 2 more\n"
    )
    assert "more" not in left_out(Listing([], ignored[:20]), [])
    doubled = {"[s]": ["[s]", "[s].zip", "[s].tar.gz", "[s].more"], "t": ["t", "t.zip" + "x" * 90]}
    text = left_out(Listing([], doubled=doubled), [])
    assert text.startswith(
        "not graded: [s] and [s].zip and [s].tar.gz and 1 more are all of '[s]': keep one of them "
        "and run it again\nnot graded: t and t.zipxxx"
    )
    assert len(text.splitlines()[1]) < 150


def test_an_id_is_cut_and_nothing_a_terminal_acts_on() -> None:
    text = printed([result("[red]\x1b" + "x" * 100, {"one": 1.0})], ["one"], 200)
    (row,) = [line for line in text.splitlines() if "xxx" in line]
    assert row.split()[:2] == ["[red]", "x" * 53 + "…"]


def test_what_is_held_is_marked_and_explained_apart_from_what_is_forbidden() -> None:
    one = result("s01", {"norm": 0.0, "head": 5.0})
    one.components["norm"].status = "forbidden"
    other = one.model_copy(update={"submission": "s02"})
    one.review = [Held(component="norm", file="norm.py", line=3, what="imports ctypes")]
    lines = printed([one, other], ["norm", "head"]).splitlines()
    cells = [line.split()[2] for line in lines if line.startswith((" s0", "s0"))]
    assert cells == ["held", "ban"]
    assert "ban a forbidden operation, or given text; held for review" in lines
