"""Result files and the table."""

import json
from pathlib import Path

import pytest

from autograder import results
from autograder.results import ComponentResult, SubmissionResult


def result(submission: str = "s01", status: str = "graded", score: float | None = 3.5):
    components = {}
    if status == "graded":
        part = ComponentResult(score=score, max_score=5, status="graded", criteria=[])
        components = {"layer_norm": part}
    return SubmissionResult(
        submission=submission,
        assignment="norm",
        status=status,
        score=score,
        max_score=5,
        components=components,
        sandbox="tier 1",
    )


def test_a_result_reads_back_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    results.write(tmp_path, result())
    assert results.read(tmp_path, "s01") == result()
    assert json.loads((tmp_path / "results" / "s01.json").read_text())["schema"] == 1


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"schema": 7}'])
def test_a_damaged_result_counts_as_none(tmp_path: Path, damage: str) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "s01.json").write_text(damage)
    assert results.read(tmp_path, "s01") is None


def test_a_failed_write_leaves_the_old_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "results").mkdir()
    results.write(tmp_path, result())

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space"):
        results.write(tmp_path, result(score=0.0))
    assert results.read(tmp_path, "s01") == result()
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["s01.json"]


def test_the_table_leaves_an_error_empty_and_gives_a_rejection_zero(tmp_path: Path) -> None:
    found = [result(), result("s02", "rejected", 0.0), result("s03", "error", None)]
    path = results.write_table(tmp_path, found, ["layer_norm"])
    assert path.read_text() == (
        "submission,status,score,max_score,layer_norm\n"
        "s01,graded,3.5,5,3.5\n"
        "s02,rejected,0,5,0\n"
        "s03,error,,5,\n"
    )
