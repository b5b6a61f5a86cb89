"""The schema of results, and what builds on a broken component."""

from autograder.results import ComponentResult, SubmissionResult, losing_points


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
