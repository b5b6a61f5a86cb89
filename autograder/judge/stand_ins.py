"""Follow-through: an error costs its points once, not again in what builds on it.

A component that uses a broken one is graded once more with a stand-in in its place, and every
criterion counts the better of the two runs.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Container, Iterable, Mapping, Sequence

from autograder.assignment import Assignment

# Under this name a component's own file stays beside its stand-in, for helpers that only it has.
OWN = "own_"
_LACKING = """

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    import {0}
    return getattr({0}, name)
"""


def files_of(components: Iterable[str]) -> frozenset[str]:
    """Return the files of components, and those that stay beside their stand-ins."""
    return frozenset(f"{prefix}{name}.py" for name in components for prefix in ("", OWN))


def reached(broken: Sequence[str], files: Mapping[str, bytes]) -> list[str]:
    """Return those of the broken components that another file of the submission imports.

    A stand-in for any other would change nothing.
    """
    imported = {file: _imported(source) for file, source in files.items() if broken}
    return [
        name
        for name in broken
        if any(name in names for file, names in imported.items() if file != f"{name}.py")
    ]


def _imported(source: bytes) -> Container[str]:
    """Return the names that a file may import modules by, words of its texts among them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _Anything()
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update(part for alias in node.names for part in alias.name.split("."))
        if isinstance(node, ast.ImportFrom):
            found.update((node.module or "").split("."))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(re.findall(r"\w+", node.value))
    return found


class _Anything:
    """Of a file that cannot be read, anything may be said."""

    def __contains__(self, name: object) -> bool:
        return True


def with_stand_ins(
    assignment: Assignment, files: Mapping[str, bytes], broken: Sequence[str]
) -> dict[str, bytes]:
    """Put stand-ins in the place of components; names they lack come from the student's file."""
    working = dict(files)
    for used in broken:
        own = f"{OWN}{used}"
        working[f"{used}.py"] = (
            assignment.stand_in(used).read_bytes() + _LACKING.format(own).encode()
        )
        if f"{used}.py" in files:
            working[f"{own}.py"] = files[f"{used}.py"]
    return working
