"""Result files and the table."""

import csv
import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.errors import UsageError
from autograder.grading import store
from autograder.results import ComponentResult, CriterionResult, SubmissionResult
from tests.reports.exports import made


def result(submission: str = "s01", status: str = "graded", score: float | None = 3.5):
    components = {}
    if status == "graded":
        part = ComponentResult(score=score, max_score=2000, status="graded", criteria=[])
        components = {"layer_norm": part}
    return SubmissionResult(
        submission=submission,
        assignment="norm",
        status=status,
        score=score,
        max_score=2000,
        components=components,
        sandbox="tier 1",
    )


def test_a_result_reads_back_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    store.write(tmp_path, result())
    assert store.read(tmp_path, "s01") == result()
    assert json.loads((tmp_path / "results" / "s01.json").read_text())["schema"] == 1


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"schema": 7}'])
def test_a_damaged_result_counts_as_none(tmp_path: Path, damage: str) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "s01.json").write_text(damage)
    assert store.read(tmp_path, "s01") is None


def test_the_table_leaves_an_error_empty_and_gives_a_rejection_zero(tmp_path: Path) -> None:
    found = [result(), result("s02", "rejected", 0.0), result("s03", "error", None)]
    path = store.write_table(tmp_path, found, ["layer_norm"])
    assert path.read_text() == (
        "submission,status,score,max_score,layer_norm,remarks\n"
        "s01,graded,3.5,2000,3.5,\n"
        "s02,rejected,0,2000,0,rejected\n"
        "s03,error,,2000,,error\n"
    )


def test_the_table_says_why_a_zero_is_one(tmp_path: Path) -> None:
    def of(*statuses: str, message: str = "", status: str = "graded") -> SubmissionResult:
        names = [f"part_{number}" for number in range(len(statuses))]
        parts = {
            name: ComponentResult(score=0, max_score=5, status=found, criteria=[])
            for name, found in zip(names, statuses, strict=True)
        }
        more = {"status": status, "components": parts, "message": message, "score": 0.0}
        return result().model_copy(update=more)

    found = [
        of("not_attempted", "import_error"),
        of("missing", "forbidden"),
        of("missing", "missing"),
        of("graded", "graded"),
        of(status="rejected", message="=s05.zip is a \x1b[31mdamaged\narchive"),
    ]
    path = store.write_table(tmp_path, found, ["part_0", "part_1"])
    assert [row["remarks"] for row in csv.DictReader(path.read_text().splitlines())] == [
        "part_0 not_attempted; part_1 import_error",
        "part_0 missing; part_1 forbidden",
        "empty",
        "",
        "rejected: =s05.zip is a [31mdamaged archive",
    ]
    assert [one.standing for one in found] == ["graded", "graded", "empty", "graded", "rejected"]


def test_a_table_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "results.csv").mkdir()
    with pytest.raises(UsageError, match=r"results\.csv cannot be written \(Is a directory\)"):
        store.write_table(tmp_path, [], [])
    assert [path.name for path in tmp_path.iterdir()] == ["results.csv"]


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_a_failing_disk_leaves_the_old_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    (tmp_path / "results").mkdir()
    store.write(tmp_path, result())
    before = store.path_of(tmp_path, "s01").read_bytes()

    def fail(*arguments: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(step, fail)
        with pytest.raises(UsageError, match="Input/output error"):
            store.write(tmp_path, result(score=0.0))
    assert store.path_of(tmp_path, "s01").read_bytes() == before
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["s01.json"]


def test_what_another_run_is_writing_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    other = subprocess.Popen(["sleep", "60"])
    try:
        theirs = folder / f".{other.pid}.{'ab' * 16}.tmp"
        old = [place / f".{os.getpid()}.{'ab' * 16}.tmp" for place in (folder, tmp_path)]
        for path in [theirs, *old, folder / ".notes.tmp"]:
            path.write_text("")
        store.sweep(tmp_path)
        assert {path.name for path in folder.iterdir()} == {theirs.name, ".notes.tmp"}
        assert not old[1].exists()
    finally:
        other.kill()
        other.wait()
    store.sweep(tmp_path)
    assert not theirs.exists()


TEXT = st.text(max_size=30) | st.sampled_from(
    ['{"id":', '"criteria":[', '\n{"id":"', '"components":{"']
)
CRITERIA = st.builds(
    CriterionResult,
    id=TEXT,
    title=TEXT,
    score=st.sampled_from([0.0, 0.5, 1.0]),
    max_score=st.just(1.0),
    passed=st.sampled_from([True, False, None]),
    outcome=st.sampled_from(["passed", "failed", "not_run"]),
    visibility=st.sampled_from(["public", "hidden"]),
    source=TEXT,
    cases=st.integers(1, 3),
    passed_cases=st.integers(0, 3),
    facts=st.lists(TEXT, max_size=2),
    hints=st.lists(TEXT, max_size=1),
    causes=st.lists(TEXT, max_size=1),
    message=TEXT,
)


@given(criteria=st.lists(CRITERIA, max_size=4), note=TEXT)
def test_whatever_stands_in_a_result_reads_back(criteria: list[CriterionResult], note: str) -> None:
    parts = {note: ComponentResult(score=1, max_score=4, status="graded", criteria=criteria)}
    found = result().model_copy(update={"components": parts, "message": note})
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "results").mkdir()
        store.write(Path(folder), found)
        assert store.read(Path(folder), "s01") == found
        plain = json.loads(store.path_of(Path(folder), "s01").read_text())
    for one in plain["components"][note]["criteria"]:
        # What others rely on is always there.
        assert CriterionResult.model_fields.keys() == one.keys()


def test_a_passed_criterion_takes_a_line_and_little_room(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    part = made.component([made.criterion("norm.mean", 1, 1)] * 3)
    store.write(tmp_path, made.result({"norm": part}, submission="s01"))
    lines = store.path_of(tmp_path, "s01").read_text().splitlines()
    ours = [line for line in lines if line.startswith('{"id":"norm.mean"')]
    assert len(ours) == 3
    assert max(map(len, ours[:2])) < 260


def test_stored_results_are_read_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    ids = ["s01", "s02", "s03"]
    for name in ids:
        store.write(tmp_path, result(name))
    found = store.stored({name: store.path_of(tmp_path, name) for name in ids})
    store.path_of(tmp_path, "s03").unlink()
    assert (len(found), [name for name, _ in found.keys]) == (3, ids)
    assert [one.submission for one in found[:2]] == ["s01", "s02"]
    assert found[1] == result("s02")
    with pytest.raises(UsageError, match=r"s03\.json .*: it is gone or damaged: grade s03 again"):
        found[2]


def test_the_file_of_another_submission_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    store.write(tmp_path, result("s01"))
    store.path_of(tmp_path, "s01").rename(store.path_of(tmp_path, "s02"))
    assert store.read(tmp_path, "s02") is None
    assert store.read(tmp_path, "s01") is None


def test_a_remark_of_the_table_is_a_line_of_a_length_that_is_read(tmp_path: Path) -> None:
    long = result("s01", "rejected", 0.0).model_copy(update={"message": "no\n" * 10_000})
    text = store.write_table(tmp_path, [long], []).read_text()
    (row,) = csv.DictReader(text.splitlines())
    assert row["remarks"].startswith("rejected: no no")
    assert (len(row["remarks"]), row["remarks"][-1]) == (500, "…")


@pytest.mark.parametrize(
    "score, cell", [(1234.0, "1234"), (1234.5, "1234.5"), (33.3333, "33.3333"), (0.005, "0.005")]
)
def test_the_table_has_numbers_as_they_are(tmp_path: Path, score: float, cell: str) -> None:
    text = store.write_table(tmp_path, [result(score=score)], ["layer_norm"]).read_text()
    assert text.splitlines()[1] == f"s01,graded,{cell},2000,{cell},"


def test_what_somebody_elses_run_is_writing_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(pid: int, signal: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "kill", denied)
    theirs = tmp_path / f".{os.getpid() + 1}.{'ab' * 16}.tmp"
    theirs.write_text("")
    store.sweep(tmp_path)
    assert theirs.exists()


def test_a_folder_for_results_is_tried_and_left_empty(tmp_path: Path) -> None:
    store.make_writable(tmp_path / "new" / "out")
    assert [p.name for p in (tmp_path / "new" / "out").rglob("*")] == ["results"]
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match=r"file cannot hold results \(Not a directory\): give"):
        store.make_writable(tmp_path / "file")


def test_what_has_no_component_at_all_is_not_empty_but_as_it_stands() -> None:
    assert result().model_copy(update={"components": {}}).standing == "graded"
    assert result("s02", "error", None).standing == "error"
    missing = ComponentResult(score=0, max_score=5, status="missing", criteria=[])
    both = {"layer_norm": missing, "other": missing}
    assert result().model_copy(update={"components": both}).standing == "empty"
