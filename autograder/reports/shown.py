"""What a student sees of a result: the one place that decides it.

Pages, and formats that students read, are made of what this returns, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from pydantic import BaseModel

from autograder.assignment import Assignment
from autograder.reports.roster import Roster
from autograder.results import (
    HIDDEN_WORDS,
    ComponentResult,
    ComponentStanding,
    CriterionResult,
    Held,
    Outcome,
    SubmissionResult,
    total,
)
from autograder.settings import Feedback
from autograder.student.page import Line, Row, page
from autograder.text import clean, out_of, points

# Smaller differences of points are rounding errors.
ROUNDING = 1e-9
# A line of a message, and how many there are of one kind.
LINE = 1000
_LINES = 40
_NAME = 300
# How a component stands that says of all criteria at once why they earn nothing.
WHOLE = ("missing", "not_attempted", "import_error", "forbidden", "held")
_DEATHS = ("timeout", "crashed", "not_run")
LATE = "handed in late"
STATUS_WORDS: dict[ComponentStanding, str] = {
    "graded": "",
    "missing": "The file was not handed in.",
    "not_attempted": "Not attempted: the file is still the stub.",
    "import_error": "The file cannot be imported.",
    "timeout": "Its time was over; what came after was not run.",
    "crashed": "Its process died; what came after was not run.",
    "forbidden": "It calls an operation that is not allowed here.",
    "held": "Held for review: it was not run, and has no points before your instructor accepts it.",
}
FAULT = "It could not be graded; your instructor has been told."


def more_in_hidden(lost: float) -> str:
    """Say how many points more hidden checks cost than what names a cause."""
    more = f"{points(lost)} more in hidden checks, which name no mistake"
    return f"{more}; they may have the same cause."


class ShownCriterion(BaseModel):
    """What is shown of one criterion.

    Of a hidden one that is its title, points, whether it passed, how many of its cases did, and
    the known mistakes that were recognised; `outcome` and `source` are empty, and `passed` is
    never None.
    """

    title: str
    score: float
    max_score: float
    passed: bool | None
    hidden: bool = False
    outcome: Outcome | None = None
    source: str = ""
    cases: int = 1
    passed_cases: int = 0
    facts: list[str] = []
    hints: list[str] = []
    causes: list[str] = []

    @property
    def lost(self) -> float:
        """The points that it did not earn."""
        return self.max_score - self.score

    @property
    def share(self) -> float:
        """The share of its points that it earned; of none, 1 if it passed."""
        return self.score / self.max_score if self.max_score else float(bool(self.passed))

    def lines(self, told: Sequence[str] = ()) -> list[Line]:
        """Return what is said of it, a line each; causes that were told before are not repeated."""
        lines = [*self.facts, *(f"hint: {hint}" for hint in self.hints)]
        causes = ("as above" if words in told else words for words in self.causes)
        return [*map(Line, lines), *(Line(words, cause=True) for words in causes)]

    @property
    def said(self) -> list[str]:
        """What is said of it as plain text, a line each."""
        lines = [f"likely cause: {one.text}" if one.cause else one.text for one in self.lines()]
        if self.cases > 1 and not self.passed and self.hidden:
            lines.insert(0, f"{self.passed_cases} of {self.cases} cases pass")
        return [line for line in lines if line]


class ShownComponent(BaseModel):
    """What is shown of one component; with nothing hidden shown, points are the public ones.

    Of one that is held for review, `notes` are the places.
    """

    score: float
    max_score: float
    status: ComponentStanding
    criteria: list[ShownCriterion]
    notes: list[str] = []
    causes: list[str] = []
    views: list[dict[str, Any]] = []

    @property
    def whole(self) -> bool:
        """Whether its status says of all criteria at once why they earn nothing."""
        return self.status in WHOLE

    @property
    def beside(self) -> str:
        """What is said after its causes: hidden checks name none, and may be lost by the same."""
        hidden = [one for one in self.criteria if one.hidden and one.lost > ROUNDING]
        named = any(one.causes for one in self.criteria if one.lost > ROUNDING)
        if self.whole or not named or not hidden:
            return ""
        return more_in_hidden(total(one.lost for one in hidden))

    @property
    def said(self) -> list[str]:
        """What is said of it as a whole, a line each."""
        return [words for words in (STATUS_WORDS[self.status], *self.notes) if words]


class Shown(BaseModel):
    """What is shown of one submission; `withheld` says what is not, or is empty."""

    submission: str
    assignment: str
    status: str
    score: float | None
    max_score: float
    components: dict[str, ShownComponent] = {}
    message: str = ""
    withheld: str = ""
    late: bool = False


@dataclass(frozen=True)
class About:
    """What is known beside results: their assignment, and the time, with its offset."""

    title: str
    feedback: Feedback
    now: datetime
    assignment: str = ""
    components: Mapping[str, float] | None = None  # their points; None if they are not known
    # Of exports alone: who is in the course, and what a platform's runner says.
    roster: Roster | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    of_class: bool = False  # the results are those of a class, however small

    def shown(self, result: SubmissionResult) -> Shown:
        """Return what a student may see of a result."""
        return shown(result, self.feedback, self.now)


def about(name: str, assignment: Assignment | None, now: datetime) -> About:
    """Return what is known of an assignment; of one that was not found nothing hidden is shown."""
    if assignment is None:
        return About(name, Feedback(hidden="nothing"), now, name)
    return About(assignment.title, assignment.feedback, now, name, assignment.totals)


def shown(result: SubmissionResult, feedback: Feedback, now: datetime) -> Shown:
    """Return what a student may see of a result.

    Args:
        result: the result, as it was written.
        feedback: what the assignment says about hidden criteria.
        now: the time, with its offset.
    """
    outcomes, held = feedback.shows(now), result.held
    components = {
        clean(name, _NAME): shown_component(component, outcomes, held.get(name, ()))
        for name, component in result.components.items()
    }
    score, most = result.score, result.max_score
    if components and not outcomes:
        score = total(component.score for component in components.values())
        most = total(component.max_score for component in components.values())
    # What the grader says of its own fault is the instructor's.
    message = FAULT if result.status == "error" else clean(result.message, LINE)
    return Shown(
        submission=clean(result.submission, _NAME),
        assignment=clean(result.assignment, _NAME),
        status=result.status,
        score=score,
        max_score=most,
        components=components,
        message="" if result.status == "graded" else message,
        withheld="" if outcomes else _withheld(result, feedback, now),
        late=result.late,
    )


def shown_component(
    component: ComponentResult, outcomes: bool, held: Sequence[Held] = ()
) -> ShownComponent:
    """Return what a student may see of one component.

    Args:
        component: its result.
        held: why it is held for review, if it is.
        outcomes: whether outcomes of hidden criteria are shown; without, it is as if there were
            none. A cause is found with the help of all criteria, so it is left out then, and so is
            what tells of another component that it lost points.
    """
    if held:
        # It was read and not run, and what was read is the student's own text.
        return _held(shown_component(component, outcomes), component.notes, held)
    criteria = [c for c in component.criteria if outcomes or c.visibility == "public"]
    score, most = component.score, component.max_score
    status: ComponentStanding = component.status
    notes = component.notes
    if not outcomes:
        score, most = total(c.score for c in criteria), total(c.max_score for c in criteria)
        if status not in WHOLE and not any(c.outcome in _DEATHS for c in criteria):
            # Hidden criteria run last: they alone died, or were not run.
            status = "graded"
        # The first note says what stood in for what lost points.
        first = 1 if component.stand_ins else 0
        notes = [] if status == "graded" else notes[first:]
    return ShownComponent(
        score=score,
        max_score=most,
        status=status,
        criteria=[_criterion(criterion, outcomes) for criterion in criteria],
        notes=_lines(notes),
        causes=_lines(component.causes) if outcomes else [],
        views=component.views,
    )


def _held(seen: ShownComponent, notes: Sequence[str], held: Sequence[Held]) -> ShownComponent:
    """Return a component that is held for review, with all places; its criteria name the first."""
    criteria = [c.model_copy(update={"facts": _lines(notes), "hints": []}) for c in seen.criteria]
    places = _lines([place.words for place in held if place.file])
    return seen.model_copy(update={"status": "held", "notes": places, "criteria": criteria})


def _criterion(found: CriterionResult, outcomes: bool) -> ShownCriterion:
    """Return what is shown of a criterion; without outcomes nothing that hidden ones bear on."""
    hidden = found.visibility == "hidden"
    facts = [] if found.passed else [HIDDEN_WORDS]
    if not hidden:
        # Of one that passed, a fact says what it was graded with.
        facts = _lines(found.facts) if outcomes or not found.passed else []
    return ShownCriterion(
        title=clean(found.title, _NAME),
        score=found.score,
        max_score=found.max_score,
        passed=bool(found.passed) if hidden else found.passed,
        hidden=hidden,
        outcome=None if hidden else found.outcome,
        source="" if hidden else clean(found.source, _NAME),
        # A hidden one that was not run has one case: it looks like one of which none passed.
        cases=1 if hidden and not found.passed_cases else found.cases,
        passed_cases=found.passed_cases,
        facts=facts,
        hints=[] if hidden else _lines(found.hints),
        causes=_lines(found.causes) if outcomes else [],
    )


def _withheld(result: SubmissionResult, feedback: Feedback, now: datetime) -> str:
    criteria = [c for component in result.components.values() for c in component.criteria]
    if not any(criterion.visibility == "hidden" for criterion in criteria):
        return ""
    words = "There are hidden checks, too: they are not shown, and not in these points"
    until = feedback.hidden_until
    if feedback.hidden == "outcomes" and until is not None and now < until:
        words += f", before {until.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return f"{words}."


def _lines(texts: Sequence[str]) -> list[str]:
    lines = (line for text in texts[:_LINES] for line in text[: _LINES * LINE].splitlines())
    return [clean(line, LINE) for line in islice(lines, _LINES)]


def component_page(component: ShownComponent, withheld: str = "") -> str:
    """Return the feedback on one component; `withheld` says what it does not show."""
    headline = f"{out_of(component.score, component.max_score)} points"
    told = [Line(words) for words in (*component.said, withheld)]
    told += [Line(words, cause=True) for words in component.causes]
    told += [Line(component.beside)]
    if component.whole:
        # Every criterion would say the same once more.
        return page(headline, told, [], [])
    rows = [
        Row(
            criterion.title,
            criterion.outcome or ("passed" if criterion.passed else "failed"),
            criterion.score,
            criterion.max_score,
            criterion.lines(component.causes),
            criterion.source if not criterion.passed else "",
            criterion.passed_cases,
            criterion.cases,
        )
        for criterion in component.criteria
    ]
    return page(headline, told, rows, component.views)


def fault_page(message: str) -> str:
    """Return the feedback where there is no mark for a component."""
    return page("No mark", [Line(clean(message, LINE))], [], [])
