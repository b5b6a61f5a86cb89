"""The schema of results, and what builds on a broken component."""

from autograder.results import ComponentResult, SubmissionResult, light, losing_points
from tests.reports.exports import made


def component(score: float) -> ComponentResult:
    return ComponentResult(score=score, max_score=2, status="graded", criteria=[])


def test_what_lost_points_is_found_in_the_order_asked() -> None:
    components = {"norm": component(1.5), "attention": component(2), "block": component(0)}
    assert losing_points(components, ["block", "attention", "norm", "other"]) == ["block", "norm"]
    assert losing_points({}, ["block"]) == []


def test_a_result_says_which_schema_it_has() -> None:
    result = SubmissionResult(
        submission="s01", assignment="norm", status="rejected", score=0, max_score=2, sandbox=""
    )
    assert result.model_dump(by_alias=True)["schema"] == 1
    assert SubmissionResult.model_validate_json(result.model_dump_json(by_alias=True)) == result


def test_a_light_result_keeps_what_lists_of_a_class_show() -> None:
    long = {"message": "x" * 1000, "facts": ["x" * 1000], "hints": ["x" * 1000]}
    named = made.criterion("a", 0.25, 1, causes=["a known mistake"], **long)
    unnamed = made.criterion("b", 0, 1, **long)
    part = made.component(
        [named, unnamed],
        status="crashed",
        notes=["its process died"],
        message="its process died",
        misconceptions=["norm.biased"],
        causes=["a known mistake"],
        views=[{"kind": "table"}],
    )
    result = made.result({"norm": part})
    found = light(result)
    assert (found.score, found.standing, found.remarks) == (0.25, "graded", "norm crashed")
    (mine,) = found.components["norm"].criteria
    assert (mine.facts, mine.hints, mine.message) == ([], [], "")
    part = found.components["norm"]
    assert (part.notes, part.message, part.views) == ([], "", [])
    assert (mine.score, mine.max_score, mine.causes) == (0.25, 1.0, ["a known mistake"])
    assert found.components["norm"].misconceptions == ["norm.biased"]
    assert len(found.model_dump_json()) < len(result.model_dump_json()) / 4
    # The whole one is as it was.
    assert result.components["norm"].criteria == [named, unnamed]
