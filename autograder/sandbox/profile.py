"""The sandbox profile of a child: its limits, and what it may not use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from autograder.api.rules import Rules


@dataclass(frozen=True)
class Budget:
    """Limits of one child: seconds of CPU and wall a call, CPU for all calls, bytes."""

    call_cpu_s: float
    call_wall_s: float
    cpu_s: int
    memory: int
    file_size: int


@dataclass(frozen=True)
class Profile:
    """How a child runs a component.

    Attributes:
        budget: its limits.
        rules: what it may not use.
        program: whether it is run as a program.
        ours: files of its folder that are the grader's, as fallbacks and what is provided: they may
            use what is forbidden.
        others: files of components that it builds on, which have rules of their own.
        free: whether it runs with all of Python, because a person said it may.
    """

    budget: Budget
    rules: Rules = field(default_factory=Rules)
    program: bool = False
    ours: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    free: bool = False

    def written(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return asdict(self)

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Profile:
        """Make it of what JSON held."""
        rules = {name: tuple(names) for name, names in plain["rules"].items()}
        return cls(**{**plain, "budget": Budget(**plain["budget"]), "rules": Rules(**rules)})
