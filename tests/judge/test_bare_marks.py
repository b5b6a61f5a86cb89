"""Without a diagnosis the marks are the same, and the first death is the last."""

import pytest

from tests.sources import HANGS, SAMPLE, block

pytestmark = pytest.mark.slow


def test_marks_are_the_same_and_nothing_is_said_of_causes(grade) -> None:
    files = {"layer_norm.py": SAMPLE}
    whole = grade(files, only=["layer_norm"])["layer_norm"]
    bare = grade(files, only=["layer_norm"], diagnose=False)["layer_norm"]
    assert whole.misconceptions
    assert whole.views
    assert (bare.misconceptions, bare.views, bare.causes) == ([], [], [])
    outcomes = [
        [(criterion.id, criterion.outcome, criterion.score) for criterion in result.criteria]
        for result in (whole, bare)
    ]
    assert outcomes[0] == outcomes[1]


def test_only_the_components_asked_for_are_graded(grade) -> None:
    files = {"layer_norm.py": SAMPLE, "transformer_block.py": block()}
    assert list(grade(files, only=["layer_norm"], diagnose=False)) == ["layer_norm"]


@pytest.mark.release
def test_the_first_hang_ends_a_component(grade) -> None:
    files = {"layer_norm.py": HANGS}
    outcomes = [
        [c.outcome for c in grade(files, only=["layer_norm"], diagnose=way)["layer_norm"].criteria]
        for way in (True, False)
    ]
    assert outcomes[0].count("timeout") == 3
    assert outcomes[1].count("timeout") == 1
    assert set(outcomes[1]) == {"timeout", "not_run"}
