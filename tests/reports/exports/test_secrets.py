"""What students must not see is in no file that they read, and in none of a gradebook."""

from __future__ import annotations

import json

import pytest

from autograder.reports.exports import FORMATS
from autograder.settings import Feedback
from tests.reports.exports.made import NOTHING, OUTCOMES, marked, written

# Those that say more than a mark.
TELLING = ["junit", "markdown", "github-annotations", "gradescope", "classroom50", "json"]
NUMBERS = ["71.625", "72.625", "73.625", "74.625", "918273645"]


def students(name: str, setting: Feedback) -> str:
    """Return what a student is given of a file: Gradescope keeps hidden tests to itself."""
    text = written(name, marked(), setting)
    if name == "gradescope":
        found = json.loads(text)
        found["tests"] = [t for t in found["tests"] if t["visibility"] == "visible"]
        # Where one test is hidden, so is the total.
        text = json.dumps(found)
    return text


@pytest.mark.parametrize("setting", [OUTCOMES, NOTHING], ids=["outcomes", "nothing"])
@pytest.mark.parametrize("name", FORMATS)
def test_what_is_the_instructors_is_in_no_file(name: str, setting: Feedback) -> None:
    whole = written(name, marked(), setting)
    assert "SECRET" not in whole
    assert "timeout" not in whole
    for number in NUMBERS:
        assert number not in whole


@pytest.mark.parametrize("name", FORMATS)
def test_with_nothing_shown_hidden_criteria_are_not_there(name: str) -> None:
    assert "HIDDEN" not in students(name, NOTHING)
    assert "1.0625" not in students(name, NOTHING)


@pytest.mark.parametrize("name", ["autolab", "canvas", "nbgrader"])
def test_a_gradebook_has_marks_and_no_words(name: str) -> None:
    for setting in (OUTCOMES, NOTHING):
        found = written(name, marked(), setting)
        assert "HIDDEN" not in found
        assert "2.5625" in found


@pytest.mark.parametrize("name", TELLING)
def test_what_may_be_shown_is(name: str) -> None:
    """The tests above could fail: the words are there where they may be."""
    for setting in (OUTCOMES, NOTHING):
        for word in ("PUBLICtitle", "PUBLICfact", "PUBLIChint"):
            assert word in students(name, setting)
    for word in ("HIDDENtitle", "HIDDENcause", "17 of 32"):
        if name == "json" and "17" in word:
            assert '"passed_cases": 17' in students(name, OUTCOMES)
        else:
            assert word in students(name, OUTCOMES)


def test_what_a_student_is_shown_of_a_passed_component_names_no_other_that_lost() -> None:
    assert "HIDDENpart" in students("json", OUTCOMES)
    assert "graded with a working" not in students("json", NOTHING)
