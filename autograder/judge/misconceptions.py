"""Misconceptions: wrong variants of a component, each with a name and words for the student.

`reference/<name>/misconceptions/<component>.py` is a right component in which named mistakes can be
put in force: it looks them up in its global `WRONG`, so any of them combine. Its table
`MISCONCEPTIONS` gives every mistake an explanation, its source in the course, and the branches of
the code that it can be in alone. A table `BRANCHES` says in words what these are.

Where that is shorter, `<component>.diff` has edits of the solution in place of such a file, which
is made of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.assignment import Assignment
from autograder.errors import UsageError
from autograder.judge.combining import combined


@dataclass(frozen=True)
class Misconception:
    """One mistake: what it is called, what to tell the student, where the course treats it.

    `branches` are those of the code that it can be in alone.
    """

    component: str
    name: str
    explanation: str
    source: str
    branches: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The name that results give, `<component>.<name>`."""
        return f"{self.component}.{self.name}"

    @property
    def words(self) -> str:
        """The explanation with its source."""
        return f"{self.explanation} ({self.source})"


def file_of(assignment: Assignment, component: str) -> Path:
    """Return where a component's misconceptions are written down, if they are.

    Raises:
        UsageError: they are written down twice.
    """
    path = assignment.secret / "misconceptions" / f"{component}.py"
    edits = path.with_suffix(".diff")
    if path.is_file() and edits.is_file():
        raise UsageError(f"{path} and {edits.name} are about one component: delete one")
    return edits if edits.is_file() else path


def source_of(assignment: Assignment, component: str) -> bytes:
    """Return the component with mistakes that can be put in force; there is a file of them.

    Raises:
        UsageError: edits are malformed, or do not apply to the solution.
    """
    path = file_of(assignment, component)
    if path.suffix == ".diff":
        return combined(path, assignment.component(component).program)
    return path.read_bytes()


def read(assignment: Assignment, component: str) -> dict[str, Misconception]:
    """Read a component's misconceptions by name; none where there is no file.

    Raises:
        UsageError: the table is missing or malformed, or it and the code name different mistakes.
    """
    path = file_of(assignment, component)
    if not path.is_file():
        return {}
    tree = _parsed(assignment, component)
    table = _table(tree, path, "MISCONCEPTIONS")
    if table is None:
        raise UsageError(f"{path} has no table MISCONCEPTIONS")
    try:
        rows = {name: _row(*row) for name, row in table.items()}
    except TypeError as error:
        form = "name: (explanation, source), or name: (explanation, source, branches)"
        raise UsageError(
            f"{path}: MISCONCEPTIONS must be a plain dictionary with rows of the form {form}"
        ) from error
    used = {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "wrong"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    for name in sorted(used ^ rows.keys(), key=str):
        where = "in its code only" if name in used else "in its table only"
        raise UsageError(f"{path} has the misconception {name!r} {where}")
    return {name: Misconception(component, name, *row) for name, row in rows.items()}


def _row(
    explanation: str, source: str, branches: Iterable[str] = ()
) -> tuple[str, str, tuple[str, ...]]:
    if isinstance(branches, str):
        raise TypeError
    return str(explanation), str(source), tuple(map(str, branches))


def read_in_branches(
    assignment: Assignment, component: str, known: Mapping[str, Misconception]
) -> dict[str, Misconception]:
    """Return a component's misconceptions in one branch alone, by what `WRONG` holds for them.

    `known` has what `read` returned.

    Raises:
        UsageError: the table of branches is malformed, or lacks one.
    """
    named = {branch for one in known.values() for branch in one.branches}
    if not named:
        return {}
    path = file_of(assignment, component)
    words = _table(_parsed(assignment, component), path, "BRANCHES") or {}
    if unknown := sorted(named - words.keys()):
        raise UsageError(f"{path}: BRANCHES does not say what {unknown[0]!r} is")
    return {
        f"{one.name} in {branch}": replace(one, explanation=f"{said}, {one.explanation}")
        for branch, said in words.items()
        for one in known.values()
        if branch in one.branches
    }


def with_mistakes(source: bytes, names: Iterable[str], program: bool = False) -> bytes:
    """Return a component file of misconceptions with these mistakes in force.

    A program runs as it is read, so they stand at its beginning.
    """
    line = f"WRONG = frozenset({sorted(names)!r})\n".encode()
    if not program:
        return source + b"\n\n" + line
    lines = source.splitlines(keepends=True)
    first = [
        node.end_lineno or node.lineno
        for node in ast.parse(source).body
        if (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or (isinstance(node, ast.ImportFrom) and node.module == "__future__")
    ]
    at = max(first, default=0)
    return b"".join([*lines[:at], line, *lines[at:]])


def _parsed(assignment: Assignment, component: str) -> ast.Module:
    try:
        return ast.parse(source_of(assignment, component))
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{file_of(assignment, component)} cannot be read: {error}") from error


def _table(tree: ast.Module, path: Path, title: str) -> dict[str, Any] | None:
    """Return the dictionary that a file holds under this title; None where there is none."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if [target.id for target in targets if isinstance(target, ast.Name)] == [title]:
            break
    else:
        return None
    assert isinstance(node, ast.Assign)
    try:
        return {str(name): row for name, row in ast.literal_eval(node.value).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"{path}: {title} must be a plain dictionary: {error}") from error
