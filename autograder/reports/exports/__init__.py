"""Results in the formats of platforms: all formats, and exporting in one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from autograder.errors import UsageError
from autograder.reports.exports import documents, gradebooks, objects
from autograder.reports.shown import About
from autograder.results import SubmissionResult
from autograder.text import clean


@dataclass(frozen=True)
class Format:
    """One format."""

    name: str
    takes: Literal["one", "class", "either"]
    write: Callable[[Sequence[SubmissionResult], About], str]
    needs_mark: bool = True  # it cannot say that there is no mark, so it is given none without


# In the order in which the help lists them.
FORMATS = {
    known.name: known
    for known in (
        Format("junit", "either", documents.junit, needs_mark=False),
        Format("markdown", "either", documents.markdown, needs_mark=False),
        Format("github-annotations", "one", documents.github_annotations, needs_mark=False),
        Format("gradescope", "one", objects.gradescope),
        Format("classroom50", "one", objects.classroom50),
        Format("autolab", "one", objects.autolab),
        Format("canvas", "class", gradebooks.canvas),
        Format("moodle", "class", gradebooks.moodle),
        Format("nbgrader", "class", gradebooks.nbgrader),
        Format("json", "either", objects.visible, needs_mark=False),
    )
}


@dataclass(frozen=True)
class Exported:
    """What was exported."""

    text: str | None  # None where there was nothing to write
    left_out: Sequence[str]  # a sentence for each submission that is not in it
    faults: bool  # some of it has no mark: the grader failed, or several entries have its id


def format_of(name: str) -> Format:
    """Return a format by its name.

    Raises:
        UsageError: there is none.
    """
    if name not in FORMATS:
        raise UsageError(f"there is no format {name!r}; there is: {', '.join(FORMATS)}")
    return FORMATS[name]


def export(chosen: Format, results: Sequence[SubmissionResult], about: About) -> Exported:
    """Export results in a format; what has no mark is never one of 0.

    Raises:
        UsageError: they cannot be in this format.
    """
    if about.roster is not None and chosen.takes != "class":
        names = ", ".join(name for name, known in FORMATS.items() if known.takes == "class")
        raise UsageError(f"--roster has no use for {chosen.name}; it has for {names}")
    if chosen.takes == "one" and len(results) > 1:
        raise UsageError(
            f"{chosen.name} is of one submission, and there are {len(results)}: "
            "name one result file, DIR/results/<submission>.json"
        )
    faults = any(result.standing in ("error", "doubled") for result in results)
    taken = [result for result in results if _is_taken(chosen, result)]
    left_out = [_why(result) for result in results if not _is_taken(chosen, result)]
    if not taken and (chosen.takes == "one" or not about.of_class):
        return Exported(None, left_out, faults)
    return Exported(chosen.write(taken, about), left_out, faults)


def _is_taken(chosen: Format, result: SubmissionResult) -> bool:
    # What is not counted is nobody's failure; why there is no mark is told where it can be.
    without_mark = result.standing in ("error", "doubled")
    return result.score is not None or (without_mark and not chosen.needs_mark)


def _why(result: SubmissionResult) -> str:
    name = clean(result.submission, 80)
    if result.status == "error":
        return f"{name}: the grader failed on it, so it has no mark; grade it again"
    if result.standing == "doubled":
        return f"{name}: it has no mark: {clean(result.message)}"
    return f"{name}: it is not counted ({clean(result.status, 40)}), so it has no mark"
