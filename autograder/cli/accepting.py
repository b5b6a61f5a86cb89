"""The command that accepts what is held for review."""

from __future__ import annotations

import difflib
import shlex
from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.options import NameOption
from autograder.errors import UsageError
from autograder.grading import accepted, store
from autograder.platforms.nbgrader.collected import CONFIG, results_folder
from autograder.reports.terminal import say
from autograder.results import Held, SubmissionResult
from autograder.text import clean

_NEAR = 4


def accept(
    results: Annotated[
        Path,
        typer.Argument(help="The --out folder of `grade`, or a course that nbgrader runs."),
    ],
    submission: Annotated[str, typer.Argument(help="The id of the submission.")],
    component: Annotated[
        str | None, typer.Argument(help="One component; default: all that are held.")
    ] = None,
    assignment: NameOption = None,
) -> None:
    """Accept what is held for review; grading again gives the points."""
    out = _folder(results, submission, assignment)
    result = _result(out, submission)
    known = accepted.read(out)
    mine = known.get(result.submission, {})
    waiting = _asked(result, component, mine)
    new = {name: places[0].digest for name, places in waiting.items()}
    path = out / accepted.NAME
    if new.items() - mine.items():
        path = accepted.write(out, {**known, result.submission: {**mine, **new}})
    student = clean(submission, 80)
    for name, places in waiting.items():
        before = " already" if mine.get(name) == new[name] else ""
        say(f"{name} of {student}: accepted{before}")
        for place in places:
            say(place.words, "  ")
    if waiting:
        say(f"Recorded in {path}, for these very files.")
        say("Grade again for the points, with the options of the last time:")
        say(_again(out, result), "  ")
    else:
        what = component or ", ".join(mine)
        say(f"{what} of {student} was accepted already, and its points count")


def _asked(
    result: SubmissionResult, component: str | None, mine: dict[str, str]
) -> dict[str, list[Held]]:
    """Return what is held and is to be accepted; nothing where that was done, and graded."""
    held, name = result.held, clean(result.submission, 80)
    if result.status != "graded":
        why = clean(result.remarks)
        raise UsageError(f"{name} was not graded ({why}): there is nothing to accept")
    listed = f"held for review is {', '.join(held)}" if held else "nothing of it is held for review"
    if component is not None and component not in result.components:
        raise UsageError(f"{name} has no component {component!r}; {listed}")
    found = {one: places for one, places in held.items() if component in (None, one)}
    counted = set() if result.graded is None else result.graded.accepted.items() & mine.items()
    if found or (counted and component is None) or component in dict(counted):
        return found
    if component is None:
        stands = clean(result.remarks) or "graded to its end"
        raise UsageError(f"nothing of {name} is held for review ({stands}): its points stand")
    raise UsageError(f"{component} of {name} is not held for review; {listed}")


def _folder(results: Path, submission: str, assignment: str | None) -> Path:
    """Return the folder whose results are meant: of a course, that of one assignment."""
    if not (results / CONFIG).is_file():
        if assignment is not None:
            raise UsageError(
                f"--assignment goes with a course, and there is no {CONFIG} in {results}: "
                "leave it out, or give the course folder"
            )
        return results
    if assignment is not None:
        return results_folder(results, assignment)
    graded = sorted(path.parent for path in results_folder(results, "*").parent.glob("*/results"))
    if not graded:
        raise UsageError(f"the course {results} holds no results: autograde an assignment first")
    found = graded
    if len(graded) > 1:
        read = {folder: store.read(folder, submission) for folder in graded}
        found = [folder for folder, result in read.items() if result and result.held]
    if len(found) != 1:
        names = ", ".join(folder.name for folder in found or graded)
        raise UsageError(f"{results} holds results of {names}: name one with --assignment")
    return found[0]


def _result(out: Path, submission: str) -> SubmissionResult:
    """Read the result of a submission."""
    names = sorted(path.name.removesuffix(".json") for path in (out / "results").glob("[!.]*.json"))
    if not names:
        raise UsageError(
            f"{out} holds no results: give what `autograder grade` wrote, its --out folder, "
            "or the folder of a course"
        )
    if submission not in names:
        near = difflib.get_close_matches(submission, names, n=_NEAR, cutoff=0.5) or names[:_NEAR]
        listed = ", ".join(clean(name, 80) for name in near)
        raise UsageError(f"{out} holds no result of {submission!r}; near it: {listed}")
    result = store.read(out, submission)
    if result is None:
        path = store.path_of(out, submission)
        raise UsageError(f"{path} is damaged: grade {submission} again, then accept it")
    return result


def _again(out: Path, result: SubmissionResult) -> str:
    """Return what grades a submission again, as it is typed."""
    course = out.absolute().parent.parent
    if (course / CONFIG).is_file():
        words = ["nbgrader", "autograde", result.assignment, "--force"]
        typed = shlex.join([*words, f"--student={result.submission}"])
        return f"cd {shlex.quote(str(course))} && {typed}"
    place = Path(result.path)
    if place.name == result.assignment and place.parent.name == result.submission:
        place = place.parent
    # Of a single submission no table is written.
    one = [] if (out / "results.csv").is_file() else ["--one"]
    where = str(place if one else place.parent)
    words = ["autograder", "grade", where, *one, "--assignment", result.assignment]
    return shlex.join([*words, "--out", str(out)])
