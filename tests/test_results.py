"""The schema of results, and what builds on a broken component."""

from autograder.results import (
    ComponentResult,
    CriterionResult,
    SubmissionResult,
    light,
    losing_points,
)


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
    whole = {
        "title": "a title",
        "max_score": 1.0,
        "outcome": "failed",
        "visibility": "public",
        "source": "page 1",
        "message": "x" * 1000,
        "facts": ["x" * 1000],
    }
    named = CriterionResult(id="a", score=0.25, passed=False, causes=["a known mistake"], **whole)
    unnamed = CriterionResult(id="b", score=0, passed=False, **whole)
    part = ComponentResult(
        score=0.25,
        max_score=2,
        status="crashed",
        criteria=[named, unnamed],
        misconceptions=["norm.biased"],
        causes=["a known mistake"],
        views=[{"kind": "table"}],
    )
    result = SubmissionResult(
        submission="s01",
        assignment="norm",
        status="graded",
        score=0.25,
        max_score=2,
        components={"norm": part},
        sandbox="",
    )
    found = light(result)
    assert (found.score, found.standing, found.remarks) == (0.25, "graded", "norm crashed")
    (mine,) = found.components["norm"].criteria
    assert (mine.score, mine.max_score, mine.causes) == (0.25, 1.0, ["a known mistake"])
    assert found.components["norm"].misconceptions == ["norm.biased"]
    assert len(found.model_dump_json()) < len(result.model_dump_json()) / 4
    # The whole one is as it was.
    assert result.components["norm"].criteria == [named, unnamed]
