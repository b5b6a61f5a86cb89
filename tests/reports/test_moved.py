"""Which marks a re-grade moved, and why."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from autograder.errors import UsageError
from autograder.reports import moved
from autograder.results import ComponentResult, CriterionResult, Graded, SubmissionResult


def result(
    student: str, scores: dict[str, tuple[float, float]], suite: str = "a", **graded: object
) -> SubmissionResult:
    criteria = [
        CriterionResult(
            id=name,
            title=name,
            score=score,
            max_score=points,
            passed=bool(score),
            outcome="passed" if score else "failed",
            visibility="public",
            source="",
        )
        for name, (score, points) in scores.items()
    ]
    total, most = (sum(pair[i] for pair in scores.values()) for i in (0, 1))
    part = ComponentResult(score=total, max_score=most, status="graded", criteria=criteria)
    known = {"submission_hash": "s", "suite_hash": suite, "seed": 1, "versions": {"torch": "2.4"}}
    return SubmissionResult(
        submission=student,
        assignment="norm",
        status="graded",
        score=total,
        max_score=most,
        components={"c": part},
        sandbox="",
        graded=Graded.model_validate({**known, **graded}),
    )


@pytest.fixture
def report(tmp_path: Path) -> Callable[..., str]:
    def run(*pairs: tuple[SubmissionResult, SubmissionResult]) -> str:
        said = io.StringIO()
        moved.report(Console(file=said, soft_wrap=True), tmp_path, pairs)
        return said.getvalue()

    return run


def test_nothing_moved_is_one_line_and_no_file(report, tmp_path: Path) -> None:
    one = result("s01", {"c.a": (1, 1)})
    assert report() == ""
    assert report((one, result("s01", {"c.a": (1, 1)}, "b"))) == "no mark moved\n"
    assert not (tmp_path / "moved.csv").exists()


def test_how_criteria_moved_and_all_the_reasons(report, tmp_path: Path) -> None:
    before = {"c.a": (1.0, 1.0), "c.b": (0.0, 2.0), "c.c": (1.0, 1.0), "c.d": (1, 1), "c.e": (1, 1)}
    after = {"c.a": (0.0, 1.0), "c.b": (2.0, 2.0), "c.c": (3, 3), "c.e": (1, 1), "c.[f]": (1, 1)}
    versions = {"versions": {"torch": "2.5"}, "submission_hash": "t"}
    text = report((result("s01", before), result("s01", after, "b", **versions)))
    assert "s01 4 of 6 -> 7 of 8: the suite changed and the submission changed and " in text
    assert "versions changed (torch 2.4 -> 2.5)" in text
    assert "  c.a lost (1 of 1 -> 0 of 1)" in text
    assert "  c.b gained (0 of 2 -> 2 of 2)" in text
    assert "  c.c points changed (1 of 1 -> 3 of 3)" in text
    assert "  c.d removed (1 of 1)" in text
    assert "  c.[f] added (1 of 1)" in text
    assert "c.e" not in text
    assert len((tmp_path / "moved.csv").read_text().splitlines()) == 2 + 5


def test_long_lists_are_capped_but_the_file_is_whole(report, tmp_path: Path) -> None:
    pairs = [
        (result(f"s{n:02}", {"c.a": (1, 1)}), result(f"s{n:02}", {"c.a": (0, 1)}, "b"))
        for n in range(30)
    ]
    text = report(*reversed(pairs))
    assert "30 marks moved" in text
    assert text.count(" -> 0: the suite changed") == 20
    assert "and 10 more submissions" in text
    assert "s00 1 -> 0" in text
    assert len((tmp_path / "moved.csv").read_text().splitlines()) == 1 + 2 * 30


def test_another_maximum_is_said_and_is_no_move(report) -> None:
    def pair(name: str, now: float) -> tuple[SubmissionResult, SubmissionResult]:
        before, after = {"c.a": (90.5, 100)}, {"c.a": (90.5, 100), "c.b": (now, 2)}
        return result(name, before), result(name, after, "b")

    assert report(pair("s01", 0)).startswith(
        "1 mark of another maximum:\ns01 90.5 of 100 -> 90.5 of 102, another maximum: the suite"
    )
    assert report(pair("s01", 0), pair("s02", 1)).startswith(
        "1 mark moved, 1 mark of another maximum:\n"
    )


def test_an_unsteady_mark_is_not_blamed_on_a_change(report) -> None:
    text = report((result("s01", {"c.a": (1, 1)}), result("s01", {"c.a": (0, 1)})))
    assert "nothing recorded changed" in text


def other(student: str, status: str, **graded: object) -> SubmissionResult:
    """Return a result without components: a rejection scores 0, a fault of the grader nothing."""
    found = result(student, {"c.a": (0, 2)}, **graded)
    score = 0.0 if status == "rejected" else None
    return found.model_copy(
        update={"status": status, "score": score, "components": {}, "graded": None}
    )


def rows(folder: Path) -> list[list[str]]:
    return list(csv.reader((folder / "moved.csv").read_text().splitlines()))


@pytest.mark.parametrize(
    "status, mark, was, now",
    [
        ("rejected", "0", "the submission was rejected", "the submission is now rejected"),
        (
            "error",
            "no mark",
            "there was a fault of the grader",
            "there is now a fault of the grader",
        ),
    ],
)
def test_a_mark_from_and_to_what_has_no_criteria_says_why_in_one_row(
    report, tmp_path: Path, status: str, mark: str, was: str, now: str
) -> None:
    whole = result("s01", {"c.a": (2, 2)})
    assert f"s01 {mark} -> 2: {was}\nWhat moved" in report((other("s01", status), whole))
    assert rows(tmp_path)[1:] == [["s01", "total", mark, "2", was]]
    assert f"s01 2 -> {mark}: {now}\nWhat moved" in report((whole, other("s01", status)))
    assert rows(tmp_path)[1:] == [["s01", "total", "2", mark, now]]


def test_between_a_fault_and_a_rejection_both_are_said(report) -> None:
    # One has no mark and the other 0: nothing of a fault's may count as one.
    text = report((other("s01", "error"), other("s01", "rejected")))
    assert (
        "s01 no mark -> 0: there was a fault of the grader and the submission is now rejected\n"
        in text
    )


def test_what_still_has_no_mark_did_not_move(report, tmp_path: Path) -> None:
    for status in ("rejected", "error"):
        assert report((other("s01", status), other("s01", status))) == "no mark moved\n"
    assert not (tmp_path / "moved.csv").exists()


def test_a_mark_out_of_other_points_moved_though_it_is_the_same_number(report) -> None:
    text = report((result("s01", {"c.a": (1, 2)}), result("s01", {"c.a": (1, 4)}, "b")))
    assert "s01 1 of 2 -> 1 of 4, another maximum: the suite changed\n" in text
    assert "  c.a lost, points changed (1 of 2 -> 1 of 4)\n" in text


def test_the_file_has_before_and_after_of_each_criterion_and_why(report, tmp_path: Path) -> None:
    before = {"c.a": (1234.5, 2000), "c.gone": (1, 1)}
    after = {"c.a": (999.25, 2000), "c.new": (0.5, 1)}
    text = report((result("s01", before), result("s01", after, "b", seed=2)))
    assert "s01 1235.5 of 2001 -> 999.75 of 2001" not in text
    assert "s01 1235.5 -> 999.75: the suite changed and the seed changed (1 -> 2)\n" in text
    assert "  c.a lost (1234.5 of 2000 -> 999.25 of 2000)\n" in text
    why = "the suite changed; the seed changed (1 -> 2)"
    assert rows(tmp_path) == [
        ["submission", "criterion", "before", "after", "why"],
        ["s01", "total", "1235.5", "999.75", why],
        ["s01", "c.a", "1234.5", "999.25", f"lost: {why}"],
        ["s01", "c.new", "", "0.5", f"added: {why}"],
        ["s01", "c.gone", "1", "", f"removed: {why}"],
    ]


def test_of_many_criteria_some_are_printed_and_all_are_in_the_file(report, tmp_path: Path) -> None:
    before = {f"c.{n:02}": (1.0, 1.0) for n in range(11)}
    text = report((result("s01", before), result("s01", dict.fromkeys(before, (0, 1)))))
    assert text.count(" lost (") == 8
    assert "  and 3 more criteria\n" in text
    assert len(rows(tmp_path)) == 2 + 11
    few = dict(list(before.items())[:8])
    assert "more criteria" not in report((result("s01", few), result("s01", {})))


def test_cases_and_criteria_worth_nothing_are_told_apart(report) -> None:
    one, two = (result("s01", {"c.a": (n, 3), "c.free": (0, 0)}) for n in (1, 2))
    for found, passed in ((one, 1), (two, 2)):
        first, free = found.components["c"].criteria
        first.cases, first.passed_cases = 3, passed
        free.passed = passed == 2
    text = report((one, two))
    assert "  c.a gained (1 of 3, 1 of 3 cases -> 2 of 3, 2 of 3 cases)\n" in text
    assert "  c.free gained (0 of 0 -> 0 of 0)\n" in text


def test_names_are_text_and_nothing_a_terminal_acts_on(report) -> None:
    name = "[red]s\x1b[31m" + "x" * 200
    versions = {"versions": {"[b]torch\x07": "2" * 2000}}
    text = report(
        (result(name, {"[i]\x1b": (1, 1)}), result(name, {"[i]\x1b": (0, 1)}, **versions))
    )
    _, mark, step, *_ = text.splitlines()
    assert mark.startswith("[red]s [31mxxx") and len(mark.partition(" -> ")[0]) <= 62
    assert "versions changed (torch 2.4 -> none, [b]torch" in mark
    assert len(mark) < 1100
    assert step == "  [i] lost (1 of 1 -> 0 of 1)"
    assert not {"\x1b", "\x07"} & set(text)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "moved.csv").mkdir()
    pair = (result("s01", {"c.a": (1, 1)}), result("s01", {"c.a": (0, 1)}))
    with pytest.raises(UsageError, match=r"moved\.csv cannot be written \(Is a directory\)"):
        moved.report(Console(file=io.StringIO()), tmp_path, [pair])


def test_components_that_trade_places_within_a_mark_are_named(report, tmp_path: Path) -> None:
    def parts(student: str, norm: float, block: float, **more: object) -> SubmissionResult:
        one, two = (
            result(student, {f"{name}.a": (score, 18)}, **more)
            for name, score in (("norm", norm), ("block", block))
        )
        both = {"norm": one.components["c"], "block": two.components["c"]}
        total = {"score": norm + block, "max_score": 36.0}
        return one.model_copy(update={"components": both, **total})

    traded = parts("s01", 0, 18), parts("s01", 18, 0, accepted={"norm": "d"})
    text = report(traded)
    assert text.startswith(
        "components moved within 1 mark:\ns01 18, norm 0 -> 18, block 18 -> 0: norm was accepted\n"
    )
    assert "  norm.a gained (0 of 18 -> 18 of 18)\n  block.a lost (18 of 18 -> 0 of 18)\n" in text
    assert [row[:4] for row in rows(tmp_path)[1:]] == [
        ["s01", "total", "18", "18"],
        ["s01", "norm.a", "0", "18"],
        ["s01", "block.a", "18", "0"],
    ]
    moved_, same = parts("s02", 18, 0), parts("s03", 18, 0)
    text = report(traded, (parts("s02", 0, 0), moved_), (same, same))
    assert text.startswith("1 mark moved, components moved within 1 mark:\n")
    # What was rejected has no components that could move.
    gone = other("s04", "rejected").model_copy(update={"max_score": 36.0})
    assert report((parts("s04", 0, 0), gone)) == "no mark moved\n"
