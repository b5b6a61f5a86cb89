"""The schema of results, and what builds on a broken component."""

import json

import pytest
from pydantic import ValidationError

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


NO_POINTS = [-1, float("nan"), float("inf"), 2.01, "many", [1]]


@pytest.mark.parametrize("score", NO_POINTS)
@pytest.mark.parametrize("where", ["submission", "component", "criterion"])
def test_what_is_no_number_of_points_is_refused(where: str, score: object) -> None:
    result = made.result({"norm": made.component([made.criterion("a", 2, 2)])})
    data = json.loads(result.model_dump_json(by_alias=True))
    component = data["components"]["norm"]
    places = {"submission": data, "component": component, "criterion": component["criteria"][0]}
    assert SubmissionResult.model_validate_json(json.dumps(data)) == result
    places[where]["score"] = score
    with pytest.raises(ValidationError, match="score"):
        SubmissionResult.model_validate_json(json.dumps(data))


@pytest.mark.parametrize(("status", "score"), [("graded", None), ("error", 0)])
def test_only_a_fault_of_the_grader_has_no_score(status: str, score: float | None) -> None:
    with pytest.raises(ValidationError, match=f"status {status} with the score"):
        SubmissionResult(
            submission="s01", assignment="n", status=status, score=score, max_score=2, sandbox=""
        )


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
    assert found.components["norm"].criteria == []
    part = found.components["norm"]
    assert (part.notes, part.message, part.views) == ([], "", [])
    assert (part.score, part.max_score, part.causes) == (0.25, 2, ["a known mistake"])
    assert found.components["norm"].misconceptions == ["norm.biased"]
    assert len(found.model_dump_json()) < len(result.model_dump_json()) / 4
    # The whole one is as it was.
    assert result.components["norm"].criteria == [named, unnamed]
