"""Results as JSON: what a student may see, and files of Gradescope, Autolab and Classroom 50."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from autograder.errors import UsageError
from autograder.reports.shown import LATE, About, Shown, shown
from autograder.results import SubmissionResult
from autograder.settings import Feedback

# Points are whole numbers in Classroom 50: they are hundredths of ours.
_SCALE = 100
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d)-?:?(\d\d)-?:?(\d\d)Z")
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_TYPES = ("individual", "group", "team")
# Fields of Classroom 50, and the variables of its runner that say them.
_FIELDS = {
    "classroom": ("CLASSROOM",),
    "assignment": ("ASSIGNMENT",),
    "owner": ("OWNER", "USERNAME"),
    "submission": ("SUBMISSION_TAG",),
    "commit": ("COMMIT_URL",),
    "release": ("RELEASE_URL",),
}


def number(value: float) -> float | int:
    """Return points with four decimals at most, as an integer where they are one."""
    near = round(value, 4)
    return int(near) if near == int(near) else near


def points(value: float | None) -> str:
    """Write points with four decimals at most, and no more than are needed; nothing for None."""
    return "" if value is None else repr(number(value))


def dumped(value: Any, indent: int | None = 2) -> str:
    """Write JSON in ASCII, in which no log reader finds a command of its own."""
    text = json.dumps(value, indent=indent)
    # GitHub looks for commands that begin so anywhere in a line of a log.
    return text.replace("##[", "\\u0023#[") + "\n"


def visible(results: Sequence[SubmissionResult], about: About) -> str:
    """Write what students may see."""
    found = [about.shown(result).model_dump(mode="json") for result in results]
    return dumped(found if about.of_class else found[0])


def autolab(results: Sequence[SubmissionResult], about: About) -> str:
    """Write one line, which must be the last that an autograder prints; a problem a component."""
    result = results[0]
    scores = {name: number(component.score) for name, component in result.components.items()}
    if not scores:
        # It could not be taken in: no component has anything.
        if about.components is None:
            raise UsageError(
                f"autolab wants a score for every component, and those of {result.assignment!r} "
                "are not known here: name the project with --root"
            )
        scores = dict.fromkeys(about.components, 0)
    return dumped({"scores": scores}, indent=None)


def gradescope(results: Sequence[SubmissionResult], about: About) -> str:
    """Write results.json, whose score is the mark.

    So it has criteria that are not shown to students, too, as tests that only instructors see;
    Gradescope then keeps the total from students.
    """
    result = results[0]
    assert result.score is not None
    seen = about.shown(result)
    return dumped(
        {
            "score": number(result.score),
            "output": "\n".join(_output(seen)),
            "output_format": "text",
            "test_output_format": "text",
            "test_name_format": "text",
            "visibility": "visible",
            "stdout_visibility": "hidden",
            "tests": list(_tests(result, about, seen)),
        }
    )


def _tests(result: SubmissionResult, about: About, seen: Shown) -> Iterator[dict[str, Any]]:
    whole = seen
    if not about.feedback.shows(about.now):
        whole = shown(result, Feedback(), about.now)
    for place, (name, component) in enumerate(whole.components.items(), 1):
        public = iter(c for c in seen.components[name].criteria if not c.hidden)
        for place_, criterion in enumerate(component.criteria, 1):
            visible = not criterion.hidden or seen is whole
            told = criterion if criterion.hidden else next(public)
            yield {
                "name": f"{name}: {told.title}",
                "number": f"{place}.{place_}",
                "score": number(told.score),
                "max_score": number(told.max_score),
                "status": "passed" if told.passed else "failed",
                "output": "\n".join(told.said),
                "visibility": "visible" if visible else "hidden",
            }


def _output(seen: Shown) -> Iterator[str]:
    if seen.late:
        yield LATE
    if seen.message:
        yield seen.message
    for name, component in seen.components.items():
        causes = (f"likely cause: {words}" for words in component.causes)
        said = (*component.said, *causes, component.beside)
        yield from (f"{name}: {words}" for words in said if words)
    if seen.withheld:
        yield seen.withheld


def classroom50(results: Sequence[SubmissionResult], about: About) -> str:
    """Write result.json (classroom50/result/v1).

    It says which submission it is of, as the runner that calls the autograder has it in its
    variables.
    """
    seen = about.shown(results[0])
    assert seen.score is not None
    tests: list[dict[str, Any]] = [
        {
            "test-name": f"{name}: {criterion.title}",
            "passed": bool(criterion.passed),
            **_points(criterion.score, criterion.max_score),
            "message": "\n".join(criterion.said),
            # Only a test may say more than the schema does.
            **({"withheld": seen.withheld} if seen.withheld else {}),
        }
        for name, component in seen.components.items()
        for criterion in component.criteria
    ]
    if not seen.components:
        # Without a test, it would be taken for one that passed.
        reason = {"test-name": "submission", "passed": False, "message": seen.message}
        tests.append({**reason, **_points(seen.score, seen.max_score)})
    total = {"score": _whole(seen.score), "max-score": _whole(seen.max_score)}
    return dumped({**_taken(about.environment, about.now), **total, "tests": tests})


def _taken(environment: Mapping[str, str], now: datetime) -> dict[str, Any]:
    found = {
        name: next((environment[v] for v in variables if environment.get(v)), "")
        for name, variables in _FIELDS.items()
    }
    missing = [" or ".join(_FIELDS[name]) for name, value in found.items() if not value]
    if missing:
        raise UsageError(
            f"classroom50 needs what its runner says in {', '.join(missing)}: run this from the "
            "autograder.py that the runner starts, or set these variables"
        )
    tag = found["submission"]
    if not tag.startswith("submit/"):
        raise UsageError(f"SUBMISSION_TAG is {tag!r}: it must begin with submit/")
    kind = environment.get("ASSIGNMENT_TYPE") or environment.get("MODE") or "individual"
    if kind not in _TYPES:
        raise UsageError(f"ASSIGNMENT_TYPE is {kind!r}: choose one of {', '.join(_TYPES)}")
    graded = now.astimezone(UTC).strftime(_TIME)
    return {
        "schema": "classroom50/result/v1",
        **found,
        "assignment_type": kind,
        "review": environment.get("REVIEW_URL") or found["commit"],
        "datetime": _submitted(tag) or graded,
        "graded_at": graded,
    }


def _submitted(tag: str) -> str:
    """Return when it was submitted, if the tag says so: it is the same when graded again."""
    stamp = _STAMP.search(tag)
    text = f"{stamp[1]}T{stamp[2]}:{stamp[3]}:{stamp[4]}Z" if stamp else ""
    try:
        return datetime.strptime(text, _TIME).strftime(_TIME)
    except ValueError:
        return ""


def _points(score: float, most: float) -> dict[str, float | int]:
    return {
        "score": _whole(score),
        "max-score": _whole(most),
        "points": number(score),
        "max-points": number(most),
    }


def _whole(value: float) -> int:
    return round(value * _SCALE)
