"""The tree of errors, as it is drawn, is the tree of errors that there are."""

import ast
import builtins
import re
from pathlib import Path

import autograder
from autograder import errors


def test_every_error_is_drawn_below_what_it_is() -> None:
    drawn: dict[str, str | None] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"((?: {4})+)([A-Z]\w+)\b", line):
            depth = len(found[1]) // 4 - 1
            above[depth:] = [found[2]]
            drawn[found[2]] = above[depth - 1] if depth else None
    assert drawn == _errors()


def _errors() -> dict[str, str | None]:
    """Every public exception of the package, and the one of the package that it is derived from."""
    bases = {}
    for path in Path(autograder.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and node.bases:
                bases[node.name] = ast.unparse(node.bases[0])

    def raised(name: str) -> bool:
        known = getattr(builtins, name, None)
        if isinstance(known, type):
            return issubclass(known, BaseException)
        return name in bases and raised(bases[name])

    return {
        name: base if base in bases else None
        for name, base in bases.items()
        if raised(name) and name[0] != "_"
    }
