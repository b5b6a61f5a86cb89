"""Results made for tests of what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from autograder.reports.exports import FORMATS, export
from autograder.reports.shown import About
from autograder.results import (
    ComponentResult,
    CriterionResult,
    Graded,
    Held,
    SubmissionResult,
    Usage,
)
from autograder.settings import Feedback

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
OUTCOMES = Feedback()
NOTHING = Feedback(hidden="nothing")
ONE = [name for name, known in FORMATS.items() if known.takes != "class"]
CLASS = [name for name, known in FORMATS.items() if known.takes == "class"]
RUNNER = {
    "CLASSROOM": "cs1",
    "ASSIGNMENT": "norm",
    "USERNAME": "ada",
    "SUBMISSION_TAG": "submit/2026-08-16T08-39-48Z-ec48f2d",
    "COMMIT_URL": "https://example.org/commit/1",
    "RELEASE_URL": "https://example.org/release/1",
}


def criterion(name: str, score: float, most: float, hidden: bool = False, **more: Any) -> Any:
    passed = more.pop("passed", score == most)
    about: dict[str, Any] = {
        "id": name,
        "title": f"{name} holds",
        "source": "page 1",
        "outcome": "passed" if passed else "failed",
        "passed_cases": int(bool(passed)),
        **more,
    }
    seen = "hidden" if hidden else "public"
    return CriterionResult(score=score, max_score=most, passed=passed, visibility=seen, **about)


def component(criteria: Sequence[CriterionResult], **more: Any) -> ComponentResult:
    return ComponentResult(
        score=sum(c.score for c in criteria),
        max_score=sum(c.max_score for c in criteria),
        criteria=list(criteria),
        **{"status": "graded", **more},
    )


def result(parts: Mapping[str, ComponentResult] | None = None, **more: Any) -> SubmissionResult:
    """Return a result of two components; by default it loses something public and hidden."""
    if parts is None:
        parts = {
            "norm": component(
                [
                    criterion("shape", 1, 1),
                    criterion(
                        "values",
                        0.25,
                        1.5,
                        facts=["raised ValueError (norm.py, line 7): no", "in norm(1)"],
                        hints=["look again"],
                        causes=["you forgot eps"],
                        source="page 2",
                    ),
                    criterion("random", 1, 3, True, cases=3, passed_cases=1, passed=False),
                ],
                causes=["you forgot eps"],
            ),
            "head": component([criterion("logits", 2, 2), criterion("float", 0.5, 0.5, True)]),
        }
    about: dict[str, Any] = {
        "submission": "s01",
        "assignment": "norm",
        "status": "graded",
        "score": sum(part.score for part in parts.values()),
        "max_score": sum(part.max_score for part in parts.values()),
        "sandbox": "tier 1",
        **more,
    }
    return SubmissionResult(components=dict(parts), **about)


def standing(
    status: str, criteria: Sequence[CriterionResult], beside: ComponentResult | None = None
) -> SubmissionResult:
    """Return a result whose component `norm` stands so, maybe with `head` beside it.

    What it notes is `note(status)`.
    """
    held = status == "held"
    said = f"held for review: {note(status)} (and 1 more)" if held else note(status)
    part = component(criteria, status="forbidden" if held else status, notes=[said])
    places = [HELD, HELD.model_copy(update={"line": 9})] if held else []
    parts = {"norm": part} if beside is None else {"norm": part, "head": beside}
    return result(parts, review=places)


HELD = Held(component="norm", file="norm.py", line=3, what="imports ctypes", digest="d1")


def note(status: str) -> str:
    """Return what `standing` notes of a component; of one that is held, the first place."""
    return HELD.words if status == "held" else "NOTE"


def rejected() -> SubmissionResult:
    why = "s02.zip is a damaged archive; hand it in again"
    about = {"submission": "s02", "status": "rejected", "score": 0.0, "max_score": 8.0}
    return result({}, message=why, **about)


def fault() -> SubmissionResult:
    about = {"submission": "s03", "status": "error", "score": None, "max_score": 8.0}
    return result({}, message="SECRETfault", **about)


def context(feedback: Feedback = OUTCOMES, **more: Any) -> About:
    about: dict[str, Any] = {
        "title": "Norms",
        "assignment": "norm",
        "components": {"norm": 5.5, "head": 2.5},
        "feedback": feedback,
        "now": NOW,
        "environment": RUNNER,
        **more,
    }
    return About(**about)


def written(name: str, of: SubmissionResult, feedback: Feedback = OUTCOMES, **more: Any) -> str:
    """Return one result in a format, as a class of one where that is wanted."""
    more = {"of_class": FORMATS[name].takes == "class", **more}
    text = export(FORMATS[name], [of], context(feedback, **more)).text
    assert text is not None
    return text


SECRETS = {
    *("path", "sandbox", "hash", "suite", "version", "message", "part", "mistake", "id", "source"),
    *("fact", "hint", "words"),
}


def marked() -> SubmissionResult:
    """Return a result with a word of its own in every field that has words.

    `SECRET...` is in what no student ever sees, `HIDDEN...` in what hidden criteria come to,
    `PUBLIC...` in what everyone may see.
    """
    hidden = criterion(
        "SECRETid",
        1.0625,
        2.0,
        True,
        title="HIDDENtitle",
        outcome="timeout",
        source="SECRETsource",
        cases=32,
        passed_cases=17,
        passed=False,
        facts=["SECRETfact"],
        hints=["SECREThint"],
        causes=["HIDDENcause"],
        message="SECRETwords",
    )
    public = criterion(
        "PUBLICid",
        0.5,
        1.0,
        title="PUBLICtitle",
        source="PUBLICsource",
        facts=["PUBLICfact (norm.py, line 3)"],
        hints=["PUBLIChint"],
        causes=["HIDDENboth"],
        message="SECRETwords",
    )
    passed = criterion("PUBLICother", 1.0, 1.0, facts=["graded with a working HIDDENpart"])
    part = component(
        [public, passed, hidden],
        misconceptions=["norm.SECRETmistake"],
        stand_ins=["SECRETpart"],
        notes=["graded with a working HIDDENpart"],
        causes=["HIDDENboth"],
        message="SECRETmessage",
        usage=Usage(cpu_s=71.625, wall_s=72.625, call_s=73.625),
    )
    made = Graded(
        submission_hash="SECREThash",
        suite_hash="SECRETsuite",
        seed=918273645,
        versions={"torch": "SECRETversion"},
    )
    return result(
        {"norm": part},
        message="SECRETmessage",
        sandbox="SECRETsandbox",
        path="SECRETpath",
        duration_s=74.625,
        graded=made,
    )
