"""Autolab's autoresult: one line, which must be the last that an autograder prints.

A component is a problem of the lab.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.errors import UsageError
from autograder.reports.exports.format import Context, Format, dumped, number
from autograder.results import SubmissionResult


def _write(results: Sequence[SubmissionResult], context: Context) -> str:
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


FORMAT = Format("autolab", "Autolab's last line", "one", _write)
