"""What a student sees of a result follows from what the assignment says, and from nothing more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.reports.shown import Shown, component_page, shown
from autograder.results import HIDDEN_WORDS, ComponentResult, CriterionResult
from autograder.settings import Feedback
from tests.reports.exports.made import (
    NOTHING,
    NOW,
    OUTCOMES,
    component,
    criterion,
    fault,
    marked,
    rejected,
    result,
)


def test_of_a_hidden_criterion_four_things_are_shown() -> None:
    seen = shown(marked(), OUTCOMES, NOW).components["norm"].criteria[2]
    assert seen.model_dump(exclude_defaults=True) == {
        "title": "HIDDENtitle",
        "score": 1.0625,
        "max_score": 2.0,
        "passed": False,
        "hidden": True,
        "cases": 32,
        "passed_cases": 17,
        "facts": [HIDDEN_WORDS],
        "causes": ["HIDDENcause"],
    }


def lost(**more: object) -> Shown:
    """Return what is shown of a hidden criterion that earned nothing, for a reason."""
    hidden = criterion("b", 0, 1, True, passed=False, **more)
    return shown(result({"norm": component([criterion("a", 1, 1), hidden])}), OUTCOMES, NOW)


def test_how_a_hidden_criterion_was_lost_is_not_shown() -> None:
    ways = [
        lost(cases=3, facts=["raised ValueError"]),
        lost(cases=3, outcome="timeout", source="page 9"),
        lost(cases=3, outcome="crashed", hints=["look again"], message="died"),
        # One that is not run has one case, whatever it would have had.
        lost(outcome="not_run").model_copy(),
    ]
    assert all(way == ways[0] for way in ways)
    not_run = criterion("b", 0, 1, True).model_copy(update={"passed": None, "outcome": "not_run"})
    assert shown(
        result({"norm": component([criterion("a", 1, 1), not_run])}), OUTCOMES, NOW
    ) == lost(cases=2)


hidden_parts = st.lists(
    st.builds(
        CriterionResult,
        id=st.text(max_size=3),
        title=st.text(max_size=3),
        score=st.sampled_from([0.0, 0.5, 1.0]),
        max_score=st.just(1.0),
        passed=st.sampled_from([True, False, None]),
        outcome=st.sampled_from(["passed", "failed", "student_error", "timeout", "not_run"]),
        visibility=st.just("hidden"),
        source=st.just(""),
        cases=st.integers(1, 3),
        facts=st.lists(st.text(max_size=3), max_size=1),
        causes=st.lists(st.text(max_size=3), max_size=1),
    ),
    min_size=1,
    max_size=3,
)


def with_hidden(
    hidden: list[CriterionResult], status: str, cause: list[str], stand_in: bool
) -> Shown:
    public = [
        criterion("a", 1, 1, facts=["graded with a working part"] if stand_in else []),
        criterion("b", 0, 1, facts=["off by 1"], causes=cause),
    ]
    part: ComponentResult = component(
        [*public, *hidden],
        status=status,
        causes=cause,
        misconceptions=cause,
        stand_ins=["part"] if stand_in else [],
        notes=[
            *(["graded with a working part"] if stand_in else []),
            *([status] * (status != "graded")),
        ],
    )
    return shown(result({"norm": part}), NOTHING, NOW)


@given(
    hidden=hidden_parts,
    status=st.sampled_from(["graded", "timeout", "crashed"]),
    cause=st.lists(st.text(max_size=5), max_size=1),
    stand_in=st.booleans(),
)
def test_with_nothing_shown_all_that_is_shown_follows_from_public_criteria(
    hidden: list[CriterionResult], status: str, cause: list[str], stand_in: bool
) -> None:
    plain = with_hidden([criterion("h", 1, 1, True)], "graded", [], False)
    assert with_hidden(hidden, status, cause, stand_in) == plain
    assert (plain.score, plain.max_score) == (1.0, 2.0)


def test_a_death_in_a_public_criterion_is_shown_always() -> None:
    died = criterion("a", 0, 1, outcome="crashed", facts=["its process died"])
    part = component([died], status="crashed", notes=["what came after was not run"])
    for setting in (OUTCOMES, NOTHING):
        seen = shown(result({"norm": part}), setting, NOW).components["norm"]
        assert seen.status == "crashed"
        assert seen.notes == ["what came after was not run"]
        assert seen.criteria[0].outcome == "crashed"


def test_with_nothing_shown_no_other_component_is_said_to_have_lost() -> None:
    died = criterion("a", 0, 1, outcome="timeout")
    notes = ["graded with a working part", "it took too long"]
    part = component([died], status="timeout", notes=notes, stand_ins=["part"])
    seen = [shown(result({"norm": part}), setting, NOW) for setting in (OUTCOMES, NOTHING)]
    assert [one.components["norm"].notes for one in seen] == [notes, notes[1:]]


@pytest.mark.parametrize("status", ["missing", "not_attempted", "import_error", "forbidden"])
def test_why_a_whole_component_earns_nothing_is_shown_always(status: str) -> None:
    part = component([criterion("a", 0, 1)], status=status, notes=["the reason"])
    for setting in (OUTCOMES, NOTHING):
        seen = shown(result({"norm": part}), setting, NOW).components["norm"]
        assert (seen.status, seen.notes) == (status, ["the reason"])


UNTIL = datetime(2026, 12, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("setting", "now", "outcomes"),
    [
        (Feedback(hidden_until=UNTIL), UNTIL - timedelta(microseconds=1), False),
        (Feedback(hidden_until=UNTIL), UNTIL, True),
        (Feedback(hidden_until=UNTIL), UNTIL.astimezone(timezone(timedelta(hours=5))), True),
        (Feedback(hidden="nothing", hidden_until=UNTIL), UNTIL, False),
        (Feedback(), NOW, True),
    ],
)
def test_hidden_criteria_are_shown_from_their_moment_on(
    setting: Feedback, now: datetime, outcomes: bool
) -> None:
    seen = shown(result(), setting, now)
    assert any(c.hidden for c in seen.components["norm"].criteria) == outcomes
    assert (seen.score, seen.withheld == "") == ((4.75, True) if outcomes else (3.25, False))


def test_what_is_withheld_says_until_when_where_there_is_an_end() -> None:
    later = Feedback(hidden_until=UNTIL)
    assert shown(result(), later, NOW).withheld.endswith(", before 2026-12-01 12:00 UTC.")
    never = Feedback(hidden="nothing", hidden_until=UNTIL)
    assert shown(result(), never, NOW).withheld.endswith("not in these points.")


def test_of_a_result_without_components_its_reason_is_shown() -> None:
    seen = shown(rejected(), NOTHING, NOW)
    assert (seen.score, seen.max_score) == (0, 8)
    assert seen.message.endswith("hand it in again")
    broken = shown(fault(), OUTCOMES, NOW)
    assert (broken.score, "SECRET" in broken.message) == (None, False)


def test_a_feedback_page_is_made_of_what_is_shown() -> None:
    seen = shown(marked(), NOTHING, NOW)
    page = component_page(seen.components["norm"], seen.withheld)
    assert "HIDDEN" not in page
    assert "SECRET" not in page
    assert "1.5 of 2 points" in page
    assert "There are hidden checks, too" in page
    whole = component_page(shown(marked(), OUTCOMES, NOW).components["norm"])
    assert "HIDDENtitle (17 of 32 cases)" in whole
    assert "SECRET" not in whole
    assert "⧗" not in whole
