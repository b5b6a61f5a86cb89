"""Classroom 50's result.json (classroom50/result/v1).

It says which submission it is of, as the runner that calls the autograder has it in its variables.
Points are whole numbers there: they are hundredths of ours, and ours stand beside them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from autograder.errors import UsageError
from autograder.reports.exports.format import Context, Format, dumped, lines_of, number
from autograder.results import SubmissionResult

_SCALE = 100
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d)-?:?(\d\d)-?:?(\d\d)Z")
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_TYPES = ("individual", "group", "team")
# Fields, and the variables of the runner that say them.
_FIELDS = {
    "classroom": ("CLASSROOM",),
    "assignment": ("ASSIGNMENT",),
    "owner": ("OWNER", "USERNAME"),
    "submission": ("SUBMISSION_TAG",),
    "commit": ("COMMIT_URL",),
    "release": ("RELEASE_URL",),
}


def _write(results: Sequence[SubmissionResult], context: Context) -> str:
    seen = context.shown(results[0])
    assert seen.score is not None
    about = _about(context.environment, context.now)
    tests: list[dict[str, Any]] = [
        {
            "test-name": f"{name}: {criterion.title}",
            "passed": bool(criterion.passed),
            **_points(criterion.score, criterion.max_score),
            "message": "\n".join(lines_of(criterion)),
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
    total = {
        "score": _whole(seen.score),
        "max-score": _whole(seen.max_score),
    }
    return dumped({**about, **total, "tests": tests})


def _about(environment: Mapping[str, str], now: datetime) -> dict[str, Any]:
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
    return {
        "schema": "classroom50/result/v1",
        **found,
        "assignment_type": kind,
        "review": environment.get("REVIEW_URL") or found["commit"],
        "datetime": _submitted(tag, now),
        "graded_at": now.astimezone(UTC).strftime(_TIME),
    }


def _submitted(tag: str, now: datetime) -> str:
    """Return when it was submitted: the tag says so, and stays the same if it is graded again."""
    stamp = _STAMP.search(tag)
    if stamp is not None:
        try:
            text = f"{stamp[1]}T{stamp[2]}:{stamp[3]}:{stamp[4]}Z"
            return datetime.strptime(text, _TIME).strftime(_TIME)
        except ValueError:
            pass
    return now.astimezone(UTC).strftime(_TIME)


def _points(score: float, most: float) -> dict[str, float | int]:
    return {
        "score": _whole(score),
        "max-score": _whole(most),
        "points": number(score),
        "max-points": number(most),
    }


def _whole(value: float) -> int:
    return round(value * _SCALE)


FORMAT = Format("classroom50", "Classroom 50's result.json", "one", _write)
