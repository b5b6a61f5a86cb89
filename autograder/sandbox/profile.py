"""What the judge tells a fork server and its children; all of it travels as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.rules.forbidden import Rules


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
        free: files that run with all of Python, because a person said they may; None for all.
        stubs: the stubs of all components, by file: what they raise means that nothing is written.
    """

    budget: Budget
    rules: Rules = field(default_factory=Rules)
    program: bool = False
    ours: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    free: tuple[str, ...] | None = ()
    stubs: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Profile:
        """Return the profile that a JSON object describes."""
        rules = {name: tuple(names) for name, names in plain["rules"].items()}
        return cls(**{**plain, "budget": Budget(**plain["budget"]), "rules": Rules(**rules)})


@dataclass(frozen=True)
class Setup:
    """How all children of a fork server are confined.

    Attributes:
        tier: 1 (namespaces and all), 2 (no namespaces), 3 (a root folder and a user of its own) or
            0 (nothing).
        readable: what may be read.
        around: few folders that hold all of that, and no scratch folder.
        scratches: the folder that scratch folders lie in.
        program: the filter of system calls, in base 64.
        uid: the user that they become on tier 2; 0 if they stay who they are.
        jail: on tier 3, the folder that becomes their root folder.
        forbidden: all that the profile of a child may forbid.
        modules: what is imported before the first child, by distribution.
    """

    tier: int
    readable: Sequence[str]
    around: Sequence[str]
    scratches: str
    program: str
    uid: int
    jail: str
    forbidden: Sequence[str]
    modules: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Task:
    """What one child is for.

    Attributes:
        component: the name of the component that it answers for.
        scratch: the folder that it may write to.
        user: the user that it becomes on tier 3, where no other child is that user.
        profile: its limits and rules.
    """

    component: str
    scratch: str
    user: int
    profile: Profile
