"""Results as JSON: what a student may see, Gradescope's results.json and Autolab's last line.

Gradescope's score is the mark, so criteria that are not shown to students are in it all the same,
as tests that it shows to instructors alone; it then keeps the total from students, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from autograder.errors import UsageError
from autograder.reports.exports.format import Context, Format, dumped, lines_of, number
from autograder.reports.feedback import STATUS_WORDS
from autograder.reports.shown import Shown, ShownCriterion, shown
from autograder.results import SubmissionResult
from autograder.settings import Feedback


def _json(results: Sequence[SubmissionResult], context: Context) -> str:
    found = [context.shown(result).model_dump(mode="json") for result in results]
    return dumped(found if context.of_class else found[0])


def _autolab(results: Sequence[SubmissionResult], context: Context) -> str:
    """Write one line, which must be the last that an autograder prints; a problem a component."""
    result = results[0]
    scores = {name: number(component.score) for name, component in result.components.items()}
    if not scores:
        # It could not be taken in: no component has anything.
        if context.components is None:
            raise UsageError(
                f"autolab wants a score for every component, and those of {result.assignment!r} "
                "are not known here: name the project with --root"
            )
        scores = dict.fromkeys(context.components, 0)
    return dumped({"scores": scores}, indent=None)


def _gradescope(results: Sequence[SubmissionResult], context: Context) -> str:
    result = results[0]
    assert result.score is not None
    seen = context.shown(result)
    return dumped(
        {
            "score": number(result.score),
            "output": "\n".join(_output(seen)),
            "output_format": "text",
            "test_output_format": "text",
            "test_name_format": "text",
            "visibility": "visible",
            "stdout_visibility": "hidden",
            "tests": list(_tests(result, context, seen)),
        }
    )


def _tests(result: SubmissionResult, context: Context, seen: Shown) -> Iterator[dict[str, Any]]:
    whole = seen
    if not context.feedback.shows(context.now):
        whole = shown(result, Feedback(), context.now)
    for place, (name, component) in enumerate(whole.components.items(), 1):
        public = iter(c for c in seen.components[name].criteria if not c.hidden)
        for number_, criterion in enumerate(component.criteria, 1):
            visible = not criterion.hidden or seen is whole
            told = criterion if criterion.hidden else next(public)
            yield _test(name, told, f"{place}.{number_}", visible)


def _test(name: str, criterion: ShownCriterion, place: str, visible: bool) -> dict[str, Any]:
    return {
        "name": f"{name}: {criterion.title}",
        "number": place,
        "score": number(criterion.score),
        "max_score": number(criterion.max_score),
        "status": "passed" if criterion.passed else "failed",
        "output": "\n".join(lines_of(criterion)),
        "visibility": "visible" if visible else "hidden",
    }


def _output(seen: Shown) -> Iterator[str]:
    if seen.message:
        yield seen.message
    for name, component in seen.components.items():
        for words in (STATUS_WORDS[component.status], *component.notes):
            if words:
                yield f"{name}: {words}"
        for words in component.causes:
            yield f"{name}: likely cause: {words}"
    if seen.withheld:
        yield seen.withheld


GRADESCOPE = Format("gradescope", "Gradescope's results.json", "one", _gradescope)
AUTOLAB = Format("autolab", "Autolab's last line", "one", _autolab)
JSON = Format("json", "what a student may see", "either", _json, needs_mark=False)
