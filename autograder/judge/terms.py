"""On what terms a component runs: its limits, its rules, and the files that are given with it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from autograder.assignment import GIVEN, Assignment, ComponentSpec
from autograder.exchange.kernels import CONSISTS_OF, KERNELS
from autograder.judge.intake import MAX_FILE_BYTES
from autograder.sandbox.terms import Budget, Terms
from autograder.settings import Limits


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
    files: dict[str, bytes],
    provided: dict[str, bytes],
    exempt: Sequence[str],
    others: Collection[str] = (),
) -> Terms:
    """Return the terms of a component.

    Args:
        spec: the component.
        files: the submission's, with those that are exempt.
        provided: what is given with it.
        exempt: files that may call forbidden operations, as stand-ins do.
        others: files of components that it builds on.
    """
    ours = [*exempt, *(name for name in provided if name.endswith(".py"))]
    rules = spec.rules.rules()
    sources = [(files | provided).get(name, b"") for name in ours]
    named = frozenset[str]().union(*map(operations_named, sources if rules.operations else ()))
    return Terms(
        budget_of(spec.limits),
        rules,
        spec.program,
        tuple(ours if rules.operations else ()),
        tuple(others if rules.modules or rules.functions else ()),
        tuple(operation for operation in rules.operations if operation in named),
    )


def operations_named(source: bytes) -> frozenset[str]:
    """Return the operations of torch that a file of the grader's names, and what they consist of.

    These alone are lent to it: a student's code in the same process can use all that it can.
    """
    names = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name):
                names.add(name.lower().replace("_", ""))
    found = {o for o in KERNELS if any(o.replace("_", "") in name for name in names)}
    for operation, parts in CONSISTS_OF.items():
        if operation in found:
            found.update(parts)
    return frozenset(found)


def largest_budget(assignment: Assignment) -> Budget:
    """Return a budget that holds that of every component."""
    budgets = [budget_of(spec.limits) for spec in assignment.components]
    return Budget(
        call_cpu_s=max(budget.call_cpu_s for budget in budgets),
        call_wall_s=max(budget.call_wall_s for budget in budgets),
        cpu_s=max(budget.cpu_s for budget in budgets),
        memory=max(budget.memory for budget in budgets),
        file_size=max(budget.file_size for budget in budgets),
    )


def usual_operations(assignment: Assignment) -> tuple[str, ...]:
    """Return what most components forbid, for which children need not be prepared one by one."""
    counts = Counter(spec.rules.forbidden for spec in assignment.components)
    return counts.most_common(1)[0][0]


def all_operations(assignment: Assignment) -> tuple[str, ...]:
    """Return what some component forbids."""
    return tuple({name: None for spec in assignment.components for name in spec.rules.forbidden})


def with_provided(files: Mapping[str, bytes], provided: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return a submission's files with what is given; nothing of theirs comes into its place."""
    taken = (*(f"{folder}/" for folder in GIVEN), *(f"{folder}.py" for folder in GIVEN))
    own = {name: data for name, data in files.items() if not name.startswith(taken)}
    return {**own, **provided}
