"""The demo class gets the marks that it was written for, through the command."""

import json
import subprocess
import sys
import tomllib

import pytest

from autograder.assignment import Assignment
from tests.conftest import ROOT

CLASS = ROOT / "tests" / "classes" / "transformer_block"
EXPECTED = tomllib.loads(CLASS.with_suffix(".toml").read_text())


@pytest.fixture(scope="module")
def tier() -> str:
    """The sandbox that is used; another module may choose others."""
    return "tier1"


@pytest.fixture(scope="module")
def demo(tier: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """The demo class, graded."""
    out = tmp_path_factory.mktemp(tier)
    command = [sys.executable, "-m", "autograder", "grade", str(CLASS), "--out", str(out)]
    command += ["--assignment", "transformer_block", "--sandbox", tier]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=540)
    if done.returncode == 2 and tier in done.stderr.replace("tier ", "tier"):
        pytest.skip(f"{tier} CANNOT BE TESTED HERE: {done.stderr.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"sandbox tier {tier[-1]}" in done.stdout
    rows = (out / "results.csv").read_text().splitlines()
    assert len(rows) == len(EXPECTED) + 1
    return {path.stem: json.loads(path.read_text()) for path in (out / "results").glob("*.json")}


def test_every_submission_has_a_result(demo) -> None:
    assert set(demo) == set(EXPECTED)
    assert {result["status"] for result in demo.values()} == {"graded"}


def test_the_marks_are_those_that_the_class_was_written_for(demo) -> None:
    wrong = []
    for student, expected in EXPECTED.items():
        result = demo[student]
        if "total" in expected and result["score"] != expected["total"]:
            wrong.append((student, "total", result["score"]))
        for name, component in result["components"].items():
            status = expected["status"].get(name, "graded")
            full = component["score"] == component["max_score"]
            lost = [c["id"] for c in component["criteria"] if not c["passed"]]
            if name in expected["full"] and not (full and component["status"] == "graded"):
                wrong.append((student, name, "should be full", lost, component["message"]))
            if name in expected["loses"] and (full or not component["score"]):
                wrong.append((student, name, "should lose some", component["score"]))
            if name in expected["zero"] and component["score"] != 0:
                wrong.append((student, name, "should be zero", component["score"]))
            if name in [*expected["full"], *expected["loses"], *expected["zero"]] and (
                component["status"] != status
            ):
                wrong.append((student, name, f"should be {status}", component["status"]))
    assert wrong == []


def test_a_result_file_is_as_the_contract_has_it(demo, assignment: Assignment) -> None:
    for student, result in demo.items():
        assert result["schema"] == 1
        assert result["submission"] == student
        assert result["assignment"] == "transformer_block"
        assert result["max_score"] == 100
        assert list(result["components"]) == list(assignment.totals)
        assert result["score"] == sum(c["score"] for c in result["components"].values())
        assert set(result["graded"]) == {"submission_hash", "suite_hash", "seed", "versions"}
        for name, component in result["components"].items():
            assert component["score"] == sum(c["score"] for c in component["criteria"])
            assert component["max_score"] == sum(c["max_score"] for c in component["criteria"])
            assert len(component["criteria"]) >= 8
            for criterion in component["criteria"]:
                assert criterion["id"].startswith(f"{name}.")
                assert criterion["title"]
                assert criterion["source"]
                assert criterion["passed"] is (
                    None if criterion["outcome"] == "not_run" else criterion["outcome"] == "passed"
                )
                assert criterion["passed"] or criterion["score"] == 0


def test_a_forbidden_operation_names_file_and_line(demo) -> None:
    component = demo["s18"]["components"]["layer_norm"]
    assert component["status"] == "forbidden"
    assert component["message"].startswith("torch's layer_norm was called (layer_norm.py, line ")


def test_a_hang_costs_its_component_alone(demo) -> None:
    statuses = {name: c["status"] for name, c in demo["s17"]["components"].items()}
    assert statuses.pop("attention") == "timeout"
    assert set(statuses.values()) == {"graded"}


def test_reading_the_reference_earns_nothing(demo) -> None:
    assert demo["s19"]["components"]["attention"]["score"] < 18


def test_hidden_messages_show_no_values(demo) -> None:
    for result in demo.values():
        for component in result["components"].values():
            for criterion in component["criteria"]:
                if criterion["visibility"] == "hidden" and component["status"] == "graded":
                    assert "expected [" not in criterion["message"]
                    assert "returned [" not in criterion["message"]
