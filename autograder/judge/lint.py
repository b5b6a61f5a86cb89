"""What a test file may not do, because it would not mean the same to everyone who is asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

_IMPORTS = {
    *("collections", "fractions", "functools", "hypothesis", "itertools", "json", "math"),
    *("numpy", "pathlib", "pytest", "string", "torch"),
}
_COMPONENTS = {"component", "reference"}
_METHODS = {"asking", "build", "call", "make", "provided", "run"}
# What changes the process for whatever runs after it, by the end of its dotted name.
_GLOBAL_STATE = {
    *("set_default_dtype", "set_default_device", "set_num_threads", "set_printoptions"),
    *("manual_seed", "use_deterministic_algorithms", "set_grad_enabled"),
    *("random.seed", "chdir", "environ"),
}
# What draws from a generator that nobody has seeded, unless it is given one.
_DRAWS = {
    *("torch.rand", "torch.randn", "torch.randint", "torch.randperm", "torch.rand_like"),
    *("torch.randn_like", "torch.normal", "torch.bernoulli", "torch.multinomial"),
}


def complaints(path: Path, public: bool = False) -> Iterator[str]:
    """Yield one sentence for every place in a test file that must not be there.

    Args:
        path: the file.
        public: whether it is released, and cannot compare with the reference.
    """
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError) as error:
        yield f"{path.name} cannot be read: {error}"
        return
    for node in ast.walk(tree):
        where = f"{path.name}, line {getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (f"{where}: {said}" for said in _imported(node, path))
        elif isinstance(node, ast.Attribute):
            yield from (f"{where}: {said}" for said in _read(node))
        elif isinstance(node, ast.Call):
            yield from (f"{where}: {said}" for said in _called(node))
        elif isinstance(node, ast.Assert):
            yield f"{where}: use expect, whose failures a student can read, not assert"
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield f"{where}: a criterion is a plain function, not a method of a class"
        elif isinstance(node, ast.FunctionDef) and public:
            taken = [argument.arg for argument in node.args.args]
            if node.name.startswith("test_") and "reference" in taken:
                yield f"{where}: a public test has no `reference`, which no student has"


def _imported(node: ast.Import | ast.ImportFrom, path: Path) -> Iterator[str]:
    names = [alias.name for alias in node.names]
    for root in names if isinstance(node, ast.Import) else [node.module or "."]:
        top = root.partition(".")[0]
        if isinstance(node, ast.ImportFrom) and node.level:
            yield f"a test may not import {'.' * node.level}{node.module or ''}: no release has it"
        elif top not in _IMPORTS and (path.parent / f"{top}.py").is_file():
            yield f"a test may not import {root}: no release carries a helper file"
        elif top not in _IMPORTS:
            yield f"a test may not import {root}"


def _read(node: ast.Attribute) -> Iterator[str]:
    owner = node.value.id if isinstance(node.value, ast.Name) else ""
    if owner in _COMPONENTS and node.attr not in _METHODS:
        yield f"a component has only {', '.join(sorted(_METHODS))}, not {node.attr}"
    elif node.attr.startswith("_"):
        yield f"{node.attr} is private"


def _called(node: ast.Call) -> Iterator[str]:
    name = _dotted(node.func)
    if not name:
        return
    last = name.rpartition(".")[2]
    if last in _GLOBAL_STATE or name.endswith("random.seed"):
        yield f"{name} changes the process for every other test"
    elif name.removeprefix("np.").removeprefix("numpy.").startswith("random."):
        if last != "default_rng" or not node.args:
            yield f"{name} draws other numbers every time: take make.normal(..., seed=...)"
    elif name in _DRAWS and not any(keyword.arg == "generator" for keyword in node.keywords):
        yield f"{name} draws other numbers every time: take make.normal(..., seed=...)"
    elif name in ("st.data", "strategies.data", "hypothesis.strategies.data"):
        yield f"{name}() cannot be replayed: draw all that a test needs with @given"
    elif name == "pytest.fixture" or (name == "fixture" and not node.args):
        yield "a test has the grader's own fixtures only: write a function instead"


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
