"""On what terms a component runs: limits, rules, time, given files, and what is believed of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import TypeVar

from autograder.api.messages import ForbiddenUse, Reply, StudentError
from autograder.assignment import GIVEN, Assignment, ComponentSpec
from autograder.judge.intake import MAX_FILE_BYTES
from autograder.sandbox.profile import Budget, Profile
from autograder.settings import Limits

_Claim = TypeVar("_Claim", StudentError, ForbiddenUse)
# The share of a submission's time that is kept for those components that are still to come.
_RESERVED = 0.5


def budget_of(limits: Limits) -> Budget:
    """Return the limits of one child."""
    return Budget(
        call_cpu_s=limits.call_cpu_s,
        call_wall_s=limits.call_wall_s,
        cpu_s=limits.component_cpu_s,
        memory=limits.memory_mb * 1024 * 1024,
        # Its own source is written where it runs, too.
        file_size=max(limits.output_kb * 1024, MAX_FILE_BYTES),
    )


def terms_of(
    spec: ComponentSpec,
    provided: Collection[str],
    exempt: Sequence[str],
    others: Collection[str] = (),
    free: bool = False,
) -> Profile:
    """Return the terms of a component.

    Args:
        spec: the component.
        provided: the names of what is given with it.
        exempt: files that may call forbidden operations, as stand-ins do.
        others: files of components that it builds on.
        free: whether it runs with all of Python.
    """
    ours = [*exempt, *(name for name in provided if name.endswith(".py"))]
    return Profile(
        budget_of(spec.limits), spec.rules.rules(), spec.program, tuple(ours), tuple(others), free
    )


def largest_budget(assignment: Assignment) -> Budget:
    """Return a budget that holds that of every component."""
    budgets = [astuple(budget_of(spec.limits)) for spec in assignment.components]
    return Budget(*map(max, zip(*budgets, strict=True)))


def all_forbidden(assignment: Assignment) -> tuple[str, ...]:
    """Return the operations, functions and classes that some component forbids."""
    rules = [spec.rules for spec in assignment.components]
    return tuple(dict.fromkeys(name for r in rules for name in (*r.forbidden, *r.functions)))


def with_provided(files: Mapping[str, bytes], provided: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return a submission's files with what is given; nothing of theirs comes into its place."""
    taken = (*(f"{folder}/" for folder in GIVEN), *(f"{folder}.py" for folder in GIVEN))
    own = {name: data for name, data in files.items() if not name.startswith(taken)}
    return {**own, **provided}


@dataclass(frozen=True)
class Claims:
    """What is believed of the words of a component's child.

    Args:
        lines: the number of lines of every file of the submission; no other place is believed.
        siblings: files of the other components, which answer for themselves.
        refused: what may be reported as forbidden; no other word is believed.
    """

    lines: Mapping[str, int] = field(default_factory=dict)
    siblings: Collection[str] = ()
    refused: Collection[str] = ()

    def placed(self, claim: _Claim) -> _Claim:
        """Return a claim without a place that there is not; it could name inputs instead."""
        known = 0 < claim.line <= self.lines.get(claim.file, 0)
        return claim if known else replace(claim, file="", line=0)

    def forbidden(self, reply: Reply) -> ForbiddenUse | None:
        """Return the first forbidden use that is charged to the component, or None."""
        for use in map(self.placed, reply.forbidden):
            # Charged to the file that calls it; another component answers for itself.
            if use.file not in self.siblings:
                known = use.operation in self.refused
                return use if known else replace(use, operation="something forbidden")
        return None


@dataclass(frozen=True)
class ComponentTime:
    """The time of one component in one phase: for its own run, and one with stand-ins.

    Attributes:
        begin: when it began, by the monotonic clock.
        end: when it is over.
        words: what is said then.
    """

    begin: float
    end: float
    words: str

    @property
    def half(self) -> float:
        """When the first run stops, so that the rerun with stand-ins has the second half."""
        return (self.begin + self.end) / 2

    def spent(self) -> float:
        """Return how many seconds it has been used for."""
        return time.monotonic() - self.begin


class SubmissionTime:
    """Deals a submission's time out to its components, one after the other.

    Those before cannot use up what is kept for those after them, each the same.

    Args:
        limit_s: for all components.
        turns: how many there are: each component has one in each phase.
        clock: tells the time.
    """

    def __init__(
        self, limit_s: float, turns: int, clock: Callable[[], float] | None = None
    ) -> None:
        self._limit_s = limit_s
        self._clock = clock or time.monotonic
        self._left = turns
        self._kept = _RESERVED * limit_s / max(1, turns)
        self._end = self._clock() + limit_s

    def next(self, limit_s: float, spent: float = 0.0) -> ComponentTime:
        """Return the time of the next turn, of a component with this limit that spent some."""
        self._left -= 1
        now = self._clock()
        own = now + max(0.0, limit_s - spent)
        end = self._end - self._left * self._kept
        if own <= end:
            return ComponentTime(now, own, f"its time ({limit_s:g} s) is over")
        words = f"the time of the whole submission ({self._limit_s:g} s) is used up"
        return ComponentTime(now, max(now, end), words)
