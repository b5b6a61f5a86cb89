"""The schema of results: what was graded, and what every criterion found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from autograder.text import clean

ComponentStatus = Literal[
    "graded", "missing", "not_attempted", "import_error", "timeout", "crashed", "forbidden"
]
# As people read it: of a forbidden one, whether it is held for review and never ran.
ComponentStanding = Literal[ComponentStatus, "held"]
Standing = Literal["graded", "empty", "rejected", "error"]
Outcome = Literal["passed", "failed", "student_error", "timeout", "crashed", "not_run"]
# Of the words for a place, in characters: names of files and in code are the student's.
_FILE, _WHAT = 100, 150
# All that is told of a hidden criterion that is lost, beside how many of its cases passed.
HIDDEN_WORDS = "not fulfilled; hidden checks say no more than that"


class CriterionResult(BaseModel):
    """What one criterion found. `passed` is None where it never ran.

    `cases` share its points; `passed_cases` of them passed. One that asks for `form` counts once
    another criterion of the component holds, at least in part. An `unsteady` one answered the same
    calls differently a second time: its mark may differ from run to run.
    """

    id: str
    title: str
    score: float
    max_score: float
    passed: bool | None
    outcome: Outcome
    visibility: Literal["public", "hidden"]
    source: str
    form: bool = False
    unsteady: bool = False
    cases: int = 1
    passed_cases: int = 0
    facts: list[str] = []  # what is wrong, a line each
    hints: list[str] = []  # what to do about it
    causes: list[str] = []  # the misconceptions behind it, in words
    message: str = ""  # all of these


class Usage(BaseModel):
    """What a component used, in seconds: computing, waiting, and computing in its slowest call."""

    cpu_s: float = 0.0
    wall_s: float = 0.0
    call_s: float = 0.0


class Held(BaseModel):
    """Something out of the ordinary that a component runs: a person is to look at it.

    `what` goes on "it ...". `digest` is of all files that the component runs: who accepts it,
    accepts exactly these.
    """

    component: str
    file: str
    line: int
    what: str
    digest: str = ""

    @property
    def words(self) -> str:
        """Where it is, and what, in a line that is safe to show."""
        return f"{clean(self.file, _FILE)}, line {self.line}: it {clean(self.what, _WHAT)}"


class ComponentResult(BaseModel):
    """The criteria of one component and their sum."""

    score: float
    max_score: float
    status: ComponentStatus
    criteria: list[CriterionResult]
    misconceptions: list[str] = []
    either: bool = False  # one of the misconceptions is there, not all of them
    stand_ins: list[str] = []
    notes: list[str] = []  # how it stands and was graded, a line each
    causes: list[str] = []  # the misconceptions in words
    message: str = ""  # all of these
    usage: Usage | None = None
    views: list[dict[str, Any]] = []  # what the suite shows of the student's own work
    review: list[Held] = Field(default=[], exclude=True)  # the submission's lists them


class Graded(BaseModel):
    """What was graded: a result holds for exactly this."""

    submission_hash: str
    suite_hash: str
    seed: int
    versions: dict[str, str]
    accepted: dict[str, str] = {}  # by component, the digest of what a person has accepted


class SubmissionResult(BaseModel):
    """The result of one submission; the schema is part of the contract."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    submission: str
    assignment: str
    status: Literal["graded", "rejected", "error"]
    score: float | None
    max_score: float
    components: dict[str, ComponentResult] = {}
    review: list[Held] = []  # what is held for a person, or noted
    message: str = ""
    sandbox: str
    duration_s: float = 0.0
    graded: Graded | None = None
    path: str = ""  # where the submission was; nothing in a mark depends on it

    @property
    def standing(self) -> Standing:
        """Its status, or that none of the assignment's files is there; these count in no mean."""
        found = self.components.values()
        if self.status == "graded" and found and all(c.status == "missing" for c in found):
            return "empty"
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
        if self.status != "graded":
            return f"{self.status}: {self.message}" if self.message else self.status
        if self.standing == "empty":
            return "empty"
        held, noted = self.held, self.noted
        found = []
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
    """Return what a list of a class needs of a result, which takes a hundredth of the memory.

    Of its criteria there is only what known mistakes cost.
    """
    components = {
        name: component.model_copy(
            update={
                "criteria": [
                    criterion.model_copy(update={"facts": [], "hints": [], "message": ""})
                    for criterion in component.criteria
                    if criterion.causes
                ],
                "notes": [],
                "message": "",
                "views": [],
            }
        )
        for name, component in result.components.items()
    }
    return result.model_copy(update={"components": components})


def losing_points(components: Mapping[str, ComponentResult], names: Sequence[str]) -> list[str]:
    """Return those of the named components that lost points: what builds on them gets stand-ins."""
    return [n for n in names if n in components and components[n].score < components[n].max_score]
