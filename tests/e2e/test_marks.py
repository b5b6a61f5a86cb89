"""What a class of three gets through nbgrader's own commands is what our own command gives it."""

from __future__ import annotations

from typing import Any

from tests.e2e.conftest import Autograded
from tests.e2e.submissions import HAND_IN


def test_marks_are_those_of_the_grader_to_the_cent(
    autograded: Autograded, expected: dict[str, Any]
) -> None:
    for student in HAND_IN:
        components = expected[student]["components"]
        marks = autograded.after.of(student)
        found = {name: marks[name].auto for name in components}
        assert found == {name: result["score"] for name, result in components.items()}
        assert [marks[name].score for name in components] == list(found.values())
    assert expected["s01"]["score"] == 100
    assert 0 < expected["s02"]["score"] < 100


def test_the_courses_own_result_files_say_the_same(
    autograded: Autograded, expected: dict[str, Any]
) -> None:
    results = autograded.course.results()
    assert results.keys() == expected.keys()
    for student, result in results.items():
        for name, component in result["components"].items():
            same = expected[student]["components"][name]
            assert component["criteria"] == same["criteria"], (student, name)


def test_written_answers_wait_for_a_person_and_empty_ones_get_nothing(
    autograded: Autograded,
) -> None:
    questions = [name for _, name, _, kind in autograded.before.cells if kind == "markdown"]
    assert questions
    for name in questions:
        right, answered = autograded.after.of("s01")[name], autograded.after.of("s02")[name]
        assert (right.auto, right.waits) == (0, False)
        assert (answered.auto, answered.waits, answered.score) == (None, True, 0)
