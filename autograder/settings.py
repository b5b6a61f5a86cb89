"""What assignment.toml sets: limits, rules, and what a student sees of hidden criteria."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from autograder.rules.forbidden import OPERATIONS, Rules
from autograder.text import did_you_mean

# Of a value that is told.
_LONGEST = 80


class Strict(BaseModel):
    """A table in which an unknown key is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def number(value: object) -> object:
    """Return a number of TOML's; a text or a truth value is none.

    Raises:
        ValueError: it is none.
    """
    if type(value) not in (int, float):
        raise ValueError("give a number, without quotes")
    return value


def first_fault(error: ValidationError) -> str:
    """Return what is wrong first in a file of settings: the key, the reason and the value."""
    # A key that is misspelt is missed, too: that it is misspelt says more.
    first = min(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
    place = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = {name for table in Strict.__subclasses__() for name in table.model_fields}
        meant = did_you_mean(str(first["loc"][-1]), known)
        return f"{place}: there is no such key{meant and f'; {meant}'}"
    said = first["msg"].removeprefix("Value error, ").replace("valid tuple", "list")
    value = repr(first["input"])
    # Of a table it is known where it stands.
    shown = first["type"] != "missing" and not isinstance(first["input"], dict | list)
    told = f" (it is {value if len(value) <= _LONGEST else value[:_LONGEST] + '…'})"
    return f"{place}: {said}{told if shown else ''}".removeprefix(": ")


class Limits(Strict):
    """What student code may use.

    Attributes:
        call_cpu_s: computing time of one call.
        call_wall_s: waiting time of one call, for code that sleeps.
        component_cpu_s: computing time of one process, for all calls.
        component_wall_s, submission_wall_s: waiting time of one component, and of all together.
        memory_mb, output_kb: on top of what Python and torch take; of a file that the code writes.
        deaths: criteria it hangs or crashes over, after which the rest of the component is not run.
    """

    call_cpu_s: Annotated[float, Field(gt=0, strict=True)] = 2.0
    call_wall_s: Annotated[float, Field(gt=0, strict=True)] = 20.0
    component_cpu_s: Annotated[int, Field(gt=0, strict=True)] = 10
    component_wall_s: Annotated[float, Field(gt=0, strict=True)] = 60.0
    memory_mb: Annotated[int, Field(gt=0, strict=True)] = 1024
    output_kb: Annotated[int, Field(gt=0, strict=True)] = 1024
    deaths: Annotated[int, Field(gt=0, strict=True)] = 3
    submission_wall_s: Annotated[float, Field(gt=0, strict=True)] | None = None


class Forbidden(Strict):
    """What a component may not use: it scores 0 if it does.

    Attributes:
        forbidden: operations of torch, by the names that the grader knows.
        modules: top-level modules that it may not import.
        functions: dotted names of functions and classes that it may not call.
        review: whether work that is out of the ordinary waits for a person ("hold"), or counts and
            is only listed ("note").
        ordinary: what is ordinary in it beside the usual: modules with all below them, dotted names
            of functions, names of attributes.
        unusual: what is out of the ordinary in it though it usually is not, likewise.
    """

    forbidden: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    review: Literal["hold", "note"] = "hold"
    ordinary: tuple[str, ...] = ()
    unusual: tuple[str, ...] = ()

    @field_validator("ordinary", "unusual")
    @classmethod
    def _names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not all(part.isidentifier() for part in name.split(".")):
                raise ValueError(f"{name!r} is no name, as pickle, torch.load or __reduce__")
        return names

    @field_validator("forbidden")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in OPERATIONS:
                raise ValueError(f"{name!r} is no known operation; known: {', '.join(OPERATIONS)}")
        return names

    @field_validator("modules")
    @classmethod
    def _top_level(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not name.isidentifier():
                raise ValueError(f"{name!r} is no top-level module: name the part before the dot")
        return names

    @field_validator("functions")
    @classmethod
    def _dotted(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if "." not in name or not all(part.isidentifier() for part in name.split(".")):
                raise ValueError(
                    f"{name!r} is no dotted name of a function or class, as numpy.linalg.inv"
                )
        return names

    def rules(self) -> Rules:
        """Return what a child is told."""
        return Rules(self.forbidden, self.modules, self.functions)


class Feedback(Strict):
    """What a student sees of hidden criteria.

    Attributes:
        hidden: "outcomes" (titles, and whether they passed) or "nothing".
        hidden_until: before this moment nothing is shown.
    """

    hidden: Literal["nothing", "outcomes"] = "outcomes"
    hidden_until: datetime | None = None

    @field_validator("hidden_until", mode="before")
    @classmethod
    def _moment(cls, moment: Any) -> Any:
        if moment is None or (isinstance(moment, datetime) and moment.utcoffset() is not None):
            return moment
        raise ValueError(
            "give a date and a time with its offset and without quotes, as 2026-12-01T12:00:00Z"
        )

    def shows(self, now: datetime) -> bool:
        """Return whether a student sees hidden criteria at a moment (with an offset)."""
        return self.hidden == "outcomes" and (self.hidden_until is None or now >= self.hidden_until)
