"""Which marks a re-grade moved, and why."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

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


def test_an_unsteady_mark_is_not_blamed_on_a_change(report) -> None:
    text = report((result("s01", {"c.a": (1, 1)}), result("s01", {"c.a": (0, 1)})))
    assert "nothing recorded changed" in text
