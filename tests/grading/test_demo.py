"""The demo class gets the marks that it was written for, through the command."""

import json
import tomllib

import pytest

from autograder.assignment import load_assignment
from tests.conftest import CLASSES, ROOT

# Two classes with two large assignments; tests/judge/test_small_course.py has a small one.
pytestmark = pytest.mark.slow
# Of both assignments `make test-e2e` has the selftest; the class of one is enough beside it.
NAMES = [
    pytest.param(name, marks=() if name == "transformer_block" else pytest.mark.release)
    for name in sorted(path.stem for path in CLASSES.glob("*.toml"))
]


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """The assignment of the class; another module may choose one."""
    return request.param


@pytest.fixture(scope="module")
def expected(name: str) -> dict[str, dict]:
    """What each submission of the class must get."""
    return tomllib.loads((CLASSES / f"{name}.toml").read_text())


@pytest.fixture(scope="module")
def tier() -> str:
    """The sandbox that is used; another module may choose others."""
    return "tier1"


@pytest.fixture(scope="module")
def demo(name: str, expected, tier: str, graded_class):
    """The class, graded."""
    out, said = graded_class(name, tier)
    assert f"sandbox tier {tier[-1]}" in said
    rows = (out / "results.csv").read_text().splitlines()
    assert len(rows) == len(expected) + 1
    return {path.stem: json.loads(path.read_text()) for path in (out / "results").glob("*.json")}


def test_every_submission_has_a_result(demo, expected) -> None:
    assert set(demo) == set(expected)
    assert {result["status"] for result in demo.values()} == {"graded"}


def test_the_marks_are_those_that_the_class_was_written_for(demo, expected) -> None:
    wrong = []
    for student, about in expected.items():
        result = demo[student]
        if "total" in about and result["score"] != about["total"]:
            wrong.append((student, "total", result["score"]))
        for name, component in result["components"].items():
            status = about["status"].get(name, "graded")
            full = component["score"] == component["max_score"]
            lost = [c["id"] for c in component["criteria"] if not c["passed"]]
            if name in about["full"] and not (full and component["status"] == "graded"):
                wrong.append((student, name, "should be full", lost, component["message"]))
            if name in about["loses"] and (full or not component["score"]):
                wrong.append((student, name, "should lose some", component["score"]))
            if name in about["zero"] and component["score"] != 0:
                wrong.append((student, name, "should be zero", component["score"]))
            if name in [*about["full"], *about["loses"], *about["zero"]] and (
                component["status"] != status
            ):
                wrong.append((student, name, f"should be {status}", component["status"]))
    assert wrong == []


def test_a_result_file_is_as_the_contract_has_it(demo, name: str) -> None:
    assignment = load_assignment(ROOT, name)
    for student, result in demo.items():
        assert result["schema"] == 1
        assert result["submission"] == student
        assert result["assignment"] == name
        assert result["max_score"] == 100
        assert list(result["components"]) == list(assignment.totals)
        assert result["score"] == sum(c["score"] for c in result["components"].values())
        about = {"submission_hash", "suite_hash", "seed", "versions", "accepted"}
        assert set(result["graded"]) == about
        for part, component in result["components"].items():
            assert component["score"] == sum(c["score"] for c in component["criteria"])
            assert component["max_score"] == sum(c["max_score"] for c in component["criteria"])
            assert len(component["criteria"]) >= 8
            for criterion in component["criteria"]:
                assert criterion["id"].startswith(f"{part}.")
                assert criterion["title"]
                assert criterion["source"]
                assert criterion["passed"] is (
                    None if criterion["outcome"] == "not_run" else criterion["outcome"] == "passed"
                )
                earned = criterion["score"] / criterion["max_score"]
                assert criterion["passed"] is not True or earned == 1
                shared = criterion["passed_cases"] / criterion["cases"]
                assert criterion["passed"] or earned <= shared + 1e-4


def test_a_message_says_what_the_class_was_written_for(demo, expected) -> None:
    for student, about in expected.items():
        for part, begins in about.get("message", {}).items():
            assert demo[student]["components"][part]["message"].startswith(begins)


def test_hidden_messages_show_no_values(demo) -> None:
    for result in demo.values():
        for component in result["components"].values():
            for criterion in component["criteria"]:
                if criterion["visibility"] == "hidden" and component["status"] == "graded":
                    assert "expected [" not in criterion["message"]
                    assert "returned [" not in criterion["message"]
