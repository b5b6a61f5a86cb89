"""What a student may see, as JSON: an object, or of a class an array of them."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.reports.exports.format import Context, Format, dumped
from autograder.results import SubmissionResult


def _write(results: Sequence[SubmissionResult], context: Context) -> str:
    found = [context.shown(result).model_dump(mode="json") for result in results]
    return dumped(found if context.of_class else found[0])


FORMAT = Format("json", "what a student may see", "either", _write, needs_mark=False)
