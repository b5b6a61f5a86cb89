"""The schema of results: what was graded, and what every criterion found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from autograder.text import clean

ComponentStatus = Literal[
    "graded", "missing", "not_attempted", "import_error", "timeout", "crashed", "forbidden"
]
# As people read it: of a forbidden one, whether it is held for review and never ran.
ComponentStanding = Literal[ComponentStatus, "held"]
Standing = Literal["graded", "empty", "rejected", "doubled", "error"]
Outcome = Literal["passed", "failed", "student_error", "timeout", "crashed", "not_run"]
# Of the words for a place, in characters: names of files and in code are the student's.
_FILE, _WHAT = 100, 150
# All that is told of a hidden criterion that is lost, beside how many of its cases passed.
HIDDEN_WORDS = "not fulfilled; hidden checks say no more than that"


Points = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
# A sum of decimal points in binary: so much may it be above what is possible.
_ROUNDING = 1e-6


def total(points: Iterable[float]) -> float:
    """Return the sum of points as people write it, without what binary numbers add."""
    return round(sum(points), 4)


class _Part(BaseModel):
    """A part of a result file. The text under a field is its description in docs/results.md."""

    model_config = ConfigDict(use_attribute_docstrings=True, populate_by_name=True)


class _Scored(_Part):
    @model_validator(mode="after")
    def _at_most_what_is_possible(self) -> Self:
        score = getattr(self, "score", None)
        if score is not None and score > getattr(self, "max_score", 0.0) + _ROUNDING:
            raise ValueError(f"the score {score:g} is above max_score")
        return self


class CriterionResult(_Scored):
    """The result of one criterion."""

    id: str
    """The component and the name of the test, as in `attention.scale`."""
    title: str
    """What the criterion checks, in words."""
    score: Points
    """Points earned."""
    max_score: Points
    """Points possible."""
    passed: bool | None
    """Whether all of its cases passed; null if it never ran."""
    outcome: Outcome
    """How it ended."""
    visibility: Literal["public", "hidden"]
    """Whether students have the test, too."""
    source: str
    """Where the course treats it."""
    form: bool = False
    """Whether it checks form alone: it counts if another criterion of the component passes, at
    least in part."""
    unsteady: bool = False
    """Whether repeated calls gave other answers: the mark may differ from run to run."""
    cases: int = Field(default=1, ge=0)
    """Number of cases; they share its points."""
    passed_cases: int = Field(default=0, ge=0)
    """Number of cases that passed."""
    facts: list[str] = []
    """What is wrong, one line each."""
    hints: list[str] = []
    """What to try, one line each."""
    causes: list[str] = []
    """The misconceptions behind it, in words."""
    message: str = ""
    """Facts, causes and hints in one text."""

    @property
    def share(self) -> float:
        """The share of its points that was earned; of none, 1 if it passed."""
        return self.score / self.max_score if self.max_score else float(bool(self.passed))


class Usage(_Part):
    """The time that a component used."""

    cpu_s: Seconds = 0.0
    """Computing time in seconds."""
    wall_s: Seconds = 0.0
    """Time that its processes were waited for, in seconds."""
    call_s: Seconds = 0.0
    """Computing time of the slowest call in seconds."""


class Held(_Part):
    """A place that is out of the ordinary, for a person to look at."""

    component: str
    """The component that runs the file."""
    file: str
    """The file, relative to the submission."""
    line: int
    """The line."""
    what: str
    """What was found there; it continues the words "it ..."."""
    digest: str = ""
    """A hash of all files that the component runs: accepting it accepts exactly these."""
    since: str = ""
    """Of the first place, where the component was accepted before: what has changed since."""

    @property
    def words(self) -> str:
        """Where it is, and what, in a line that is safe to show."""
        since = f" ({clean(self.since, _WHAT)})" if self.since else ""
        return f"{clean(self.file, _FILE)}, line {self.line}: it {clean(self.what, _WHAT)}{since}"


class ComponentResult(_Scored):
    """The result of one component."""

    score: Points
    """The sum of its criteria's points."""
    max_score: Points
    """Points possible."""
    status: ComponentStatus
    """How the component ended; see the table of statuses in grading.md."""
    criteria: list[CriterionResult]
    """The results of its criteria, in the order of the suites."""
    misconceptions: list[str] = []
    """Ids of the misconceptions that were recognised."""
    either: bool = False
    """Whether only one of these misconceptions is present, and which one is not known."""
    stand_ins: list[str] = []
    """Components that were replaced by a stand-in."""
    notes: list[str] = []
    """Remarks on its status and on how it was graded, one line each."""
    causes: list[str] = []
    """The misconceptions in words."""
    message: str = ""
    """Notes and causes in one text."""
    usage: Usage | None = None
    """The time that it used; null if it never ran."""
    views: list[dict[str, Any]] = []
    """Tables and pictures of the student's own work."""
    unsteady: bool = False
    """Whether repeated calls gave other tables and pictures."""
    review: list[Held] = Field(default=[], exclude=True)

    def remark(self, lines: Sequence[str]) -> None:
        """Say how its file was handed in."""
        if lines:
            self.notes.extend(lines)
            self.message = "\n".join([*self.notes, *self.causes])


class Graded(_Part):
    """What was graded: the result is valid for exactly this."""

    submission_hash: str
    """A hash of the submission's files."""
    suite_hash: str
    """A hash of the suites, the solutions and the assignment's settings."""
    seed: int
    """The seed of the examples."""
    versions: dict[str, str]
    """Versions of Python, torch and the other packages that take part."""
    accepted: dict[str, str] = {}
    """For each component that a person accepted, the digest that was accepted."""


class SubmissionResult(_Scored):
    """The result of one submission."""

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    """The version of this format."""
    submission: str
    """The student's id."""
    assignment: str
    """The assignment's name."""
    status: Literal["graded", "rejected", "error"]
    """Whether it was graded; see the table of statuses in grading.md."""
    score: Points | None
    """The sum of the components' points; 0 if rejected; null if the grader failed, or if several
    entries have this id."""
    max_score: Points
    """Points possible."""
    components: dict[str, ComponentResult] = {}
    """The results of the components, by name; empty unless graded."""
    review: list[Held] = []
    """The places that are held for a person, or noted."""
    message: str = ""
    """Why it was rejected, or how the grader failed."""
    notes: list[str] = []
    """Remarks on how it was handed in: which folder or archive inside was entered, which file was
    taken for another, what was there instead of the assignment's files."""
    late: bool = False
    """Whether the name of the download says that it was late. No points are taken off for it."""
    sandbox: str
    """The isolation that was used."""
    duration_s: Seconds = 0.0
    """Time that grading took, in seconds."""
    graded: Graded | None = None
    """What was graded; null if the grader failed."""
    path: str = ""
    """The path of the submission; no mark depends on it."""

    @model_validator(mode="after")
    def _its_status_says_whether_there_is_a_score(self) -> Self:
        possible = self.status == "rejected" or (self.score is None) == (self.status == "error")
        if not possible:
            raise ValueError(f"status {self.status} with the score {self.score}")
        return self

    @property
    def standing(self) -> Standing:
        """Its status, or why it counts in no mean: no file of the assignment, or a doubled id."""
        found = self.components.values()
        if self.status == "graded" and found and all(c.status == "missing" for c in found):
            return "empty"
        if self.status == "rejected" and self.score is None:
            return "doubled"
        return self.status

    @property
    def held(self) -> dict[str, list[Held]]:
        """The places that a person is to look at, for each component that is held for review."""
        return {
            name: places
            for name, places in self._places.items()
            # What has used any time did run, and was forbidden by the guard.
            if self.components[name].status == "forbidden" and self.components[name].usage is None
        }

    @property
    def noted(self) -> dict[str, list[Held]]:
        """The same for each component that was graded all the same."""
        held = self.held
        return {name: places for name, places in self._places.items() if name not in held}

    @property
    def _places(self) -> dict[str, list[Held]]:
        found: dict[str, list[Held]] = {}
        for place in self.review:
            if place.component in self.components:
                found.setdefault(place.component, []).append(place)
        return found

    def component_standing(self, name: str) -> ComponentStanding:
        """Return a component's status, or that it is held for review."""
        return "held" if name in self.held else self.components[name].status

    @property
    def remarks(self) -> str:
        """In a line, how it stands, which components were not graded to their end, and why."""
        late = ["late"] if self.late else []
        if self.status != "graded":
            said = f"{self.status}: {self.message}" if self.message else self.status
            return "; ".join([*late, said])
        if self.standing == "empty":
            return "; ".join([*late, "empty", *self.notes])
        held, noted = self.held, self.noted
        found = [*late, *self.notes]
        for name, component in self.components.items():
            if name in held:
                found.append(f"{name} held for review ({in_short(held[name])})")
            elif component.status != "graded":
                found.append(f"{name} {component.status}")
            if name in noted:
                found.append(f"{name} noted ({in_short(noted[name])})")
        return "; ".join(found)


def in_short(places: Sequence[Held]) -> str:
    """Say in a line where something is out of the ordinary, and what."""
    more = f", and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{places[0].words}{more}"


def light(result: SubmissionResult) -> SubmissionResult:
    """Return what a list of a class needs of a result, which takes a hundredth of the memory."""
    components = {name: silent(component, []) for name, component in result.components.items()}
    return result.model_copy(update={"components": components})


def silent(component: ComponentResult, criteria: Sequence[CriterionResult]) -> ComponentResult:
    """Return a component with these criteria, without what its student or their code wrote."""
    no_words: dict[str, Any] = {"facts": [], "hints": [], "message": ""}
    kept = [criterion.model_copy(update=no_words) for criterion in criteria]
    return component.model_copy(update={"criteria": kept, "notes": [], "message": "", "views": []})


def losing_points(components: Mapping[str, ComponentResult], names: Sequence[str]) -> list[str]:
    """Return those of the named components that lost points: what builds on them gets stand-ins."""
    return [n for n in names if n in components and components[n].score < components[n].max_score]


def losing_public(components: Mapping[str, ComponentResult], names: Sequence[str]) -> list[str]:
    """Return those of the named components that lost points of public criteria."""

    def loses(component: ComponentResult) -> bool:
        public = (one for one in component.criteria if one.visibility == "public")
        return any(one.score < one.max_score for one in public)

    return [name for name in losing_points(components, names) if loses(components[name])]
