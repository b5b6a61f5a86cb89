"""Ordinary tests: which files are plain pytest, and which component they are about."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from autograder.assignment import Assignment

# What only a test in the grader's own words takes.
_OWN_FIXTURES = {"component", "expect", "make"}


def is_ordinary(path: Path) -> bool:
    """Return whether a test file is plain pytest: no test in it takes a fixture of the grader's."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return False
    tests = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test")
    ]
    taken = {argument.arg for test in tests for argument in test.args.args}
    return bool(tests) and not taken & _OWN_FIXTURES


def is_test_file(path: Path) -> bool:
    """Return whether pytest takes a file for one of tests."""
    return path.suffix == ".py" and (path.stem.startswith("test_") or path.stem.endswith("_test"))


def component_of_file(assignment: Assignment, path: Path) -> str | None:
    """Return the component that a test file is about: by assignment.toml, or by its name."""
    for spec in assignment.components:
        if path.name in spec.tests:
            return spec.name
    stem = path.stem.removeprefix("test_").removesuffix("_test")
    names = [name for name in assignment.totals if stem == name or stem.startswith(f"{name}_")]
    if names:
        return max(names, key=len)
    return next(iter(assignment.totals)) if len(assignment.totals) == 1 else None


def has_ordinary(assignment: Assignment) -> bool:
    """Return whether students get ordinary tests."""
    folder = assignment.public / "tests"
    return any(is_test_file(path) and is_ordinary(path) for path in files_below(folder))


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the regular files below a folder, in order, but what Python and editors leave there."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        left = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if path.is_file() and not path.is_symlink() and not left:
            yield path
