"""On what terms a child runs: its limits, and what it may not use."""

from __future__ import annotations

from dataclasses import dataclass, field

from autograder.exchange.rules import Rules


@dataclass(frozen=True)
class Budget:
    """Limits of one child: seconds of CPU and wall a call, CPU for all calls, bytes."""

    call_cpu_s: float
    call_wall_s: float
    cpu_s: int
    memory: int
    file_size: int


@dataclass(frozen=True)
class Terms:
    """On what terms a child runs a component.

    Attributes:
        budget: its limits.
        rules: what it may not use.
        program: whether it is run as a program.
        ours: files of its folder that are the grader's, as stand-ins and what is provided: they may
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
