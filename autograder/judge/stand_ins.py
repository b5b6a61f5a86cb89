"""Follow-through: an error costs its points once, not again in what builds on it.

A component that uses a broken one is graded once more with a stand-in in its place, and every
criterion counts the better of the two runs.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence

from autograder.assignment import Assignment
from autograder.exchange.scopes import Own
from autograder.suite.upstream import OWN, completed


def files_of(components: Iterable[str]) -> frozenset[str]:
    """Return the files of components, and those that stay beside their stand-ins."""
    return frozenset(f"{prefix}{name}.py" for name in components for prefix in ("", OWN))


def reached(
    broken: Sequence[str],
    files: Mapping[str, bytes],
    named: Mapping[str, Collection[str]],
    ours: Collection[str],
) -> list[str]:
    """Return those of the broken components that another file of the submission names.

    A stand-in for any other would change nothing.

    Args:
        broken: components.
        files: those that run, by name.
        named: for each of the submission's files the components that it names.
        ours: files in the place of the submission's.
    """

    def names(file: str) -> Collection[str]:
        if file in ours:
            return Own(broken).imported(ast.parse(files[file]))[1]
        return {*named.get(file, ()), *named.get(file.removeprefix(OWN), ())}

    found = {file: names(file) for file in files if broken}
    return [
        name
        for name in broken
        if any(name in others for file, others in found.items() if file != f"{name}.py")
    ]


def with_stand_ins(
    assignment: Assignment, files: Mapping[str, bytes], broken: Sequence[str]
) -> dict[str, bytes]:
    """Put stand-ins in the place of components; names they lack come from the student's file."""
    working = dict(files)
    for used in broken:
        stand_in = assignment.stand_in(used).read_text(encoding="utf-8")
        working[f"{used}.py"] = completed(stand_in, used).encode()
        if f"{used}.py" in files:
            working[f"{OWN}{used}.py"] = files[f"{used}.py"]
    return working
