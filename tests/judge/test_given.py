"""Given text that is handed in as a component earns nothing, and takes nothing from others."""

import pytest

from autograder.assignment import Assignment
from tests.conftest import ROOT

pytestmark = pytest.mark.slow


def test_the_text_of_a_stand_in_earns_nothing(assignment: Assignment, grade) -> None:
    files = {path.name: path.read_text() for path in assignment.secret.glob("*.py")}
    given = assignment.stand_in("feed_forward").read_text()
    found = grade({**files, "feed_forward.py": given}, only=["feed_forward", "transformer_block"])
    part = found["feed_forward"]
    assert (part.score, part.status) == (0, "forbidden")
    assert part.message == (
        "FeedForward is the text of the stand-in for feed_forward, handed in as your own; "
        "it scores 0"
    )
    assert found["transformer_block"].score == 16


def test_what_is_not_given_keeps_its_points(assignment: Assignment, grade) -> None:
    folder = ROOT / "reference" / "transformer_block" / "right_variants" / "v01"
    files = {path.name: path.read_text() for path in folder.glob("*.py")}
    found = grade(files, only=["feed_forward", "lm_head"])
    assert [part.score for part in found.values()] == [12, 10]


def test_the_empty_stub_is_not_attempted(assignment: Assignment, grade) -> None:
    stub = (assignment.public / "feed_forward.py").read_text()
    found = grade({"feed_forward.py": f"{stub}\n# mine\n"}, only=["feed_forward"])
    assert found["feed_forward"].status == "not_attempted"
