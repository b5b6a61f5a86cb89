"""What a test file may not do, because the two backends would answer it differently."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

_IMPORTS = {"hypothesis", "json", "math", "pathlib", "pytest", "torch"}
_COMPONENTS = {"component", "reference"}
_METHODS = {"build", "call"}


def complaints(path: Path) -> Iterator[str]:
    """Yield one sentence for every place in a test file that must not be there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        where = f"{path.name}, line {getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            roots = names if isinstance(node, ast.Import) else [node.module or "."]
            for root in roots:
                if root.partition(".")[0] not in _IMPORTS:
                    yield f"{where}: a test may not import {root}"
        elif isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if owner in _COMPONENTS and node.attr not in _METHODS:
                yield f"{where}: a component has only build and call, not {node.attr}"
            elif node.attr.startswith("_"):
                yield f"{where}: {node.attr} is private"
        elif isinstance(node, ast.Assert):
            yield f"{where}: use expect, whose failures a student can read, not assert"
