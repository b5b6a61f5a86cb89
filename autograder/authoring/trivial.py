"""Trivial submissions, made from the names and signatures of an assignment's solutions.

Every function raises, or gives the same kind of answer to every call. In some of the submissions
the parameters of every module are right, too, and in one the shapes of all answers. They may pass
criteria of form, and no others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from autograder.assignment import Assignment
from autograder.authoring.folders import text_of
from autograder.judge.ordinary_files import is_ordinary
from autograder.results import SubmissionResult

RAISED = (
    *("Exception", "ValueError", "TypeError", "RuntimeError", "AssertionError", "KeyError"),
    *("IndexError", "AttributeError", "LookupError", "ArithmeticError", "ZeroDivisionError"),
    *("OSError", "MemoryError", "RecursionError", "StopIteration", "SystemExit"),
)
# By name: an expression of `x`, the first argument that can be returned as it is, and of `like`,
# which makes a tensor or number of the form of `x` by a function of a shape.
ANSWERS = {
    "none": "None",
    "input": "x",
    "zeros": "like(torch.zeros)",
    "ones": "like(torch.ones)",
    "constant": "like(lambda shape: torch.full(shape, 0.5))",
    "large": "like(lambda shape: torch.full(shape, 1e4))",
    "nan": 'like(lambda shape: torch.full(shape, float("nan")))',
    "inf": 'like(lambda shape: torch.full(shape, float("inf")))',
    "normal": "like(torch.randn)",
    "uniform": "like(torch.rand)",
    "shares": "like(lambda shape: torch.rand(shape).softmax(-1) if shape else torch.ones(()))",
    "empty": '""',
    "true": "True",
    "number": "1",
}
# What ordinary tests are tried with beside these: they may compare with what was changed.
_EMPTIED = "empties what it is given and returns it"
_COPY = "compare with a copy that was made before the call"
# Those of them that modules with the right parameters are tried with.
BUILT = ("input", "zeros", "normal", "none")
# Those that pass most of what any passes: an author who tries out a suite is told of them at once,
# and a quick selftest has no others.
FEW_RAISED, FEW_ANSWERS, FEW_BUILT = ("ValueError",), ("input", "zeros", "normal"), ("input",)
_HEAD = "trivial/component.py"


def submissions(
    assignment: Assignment, few: bool = False
) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield the name and the files of every trivial submission; of some, if `few` are enough."""
    raised, answers = (FEW_RAISED, FEW_ANSWERS) if few else (RAISED, ANSWERS)
    solutions = {
        file: (spec, path.read_text(encoding="utf-8"))
        for spec in assignment.components
        for file, path in assignment.component_files(spec.name, assignment.secret).items()
    }
    ways = {f"raises {kind}": f"throw({kind})" for kind in raised}
    ways |= {f"returns {name}": ANSWERS[name] for name in answers}
    parts = (assignment.public, assignment.secret)
    if any(is_ordinary(path) for part in parts for path in part.glob("tests/*.py")):
        ways[_EMPTIED] = "emptied(given)"
    tensors = assignment.uses_torch
    if not tensors:
        # Shares of a whole are asked of torch.
        ways.pop("returns shares", None)
    for name, expression in ways.items():
        files = {}
        for file, (spec, solution) in solutions.items():
            bare = bool({"torch", "numpy"}.intersection(spec.rules.modules))
            source = solution
            # A file of a package that only gathers names keeps them.
            if not spec.package or _public(ast.parse(solution)):
                source = without_work(solution, expression, spec.program, bare, tensors)
            files[file] = source.encode()
        yield name, files
    modules = {
        file: solution
        for file, (spec, solution) in solutions.items()
        if not spec.program and _modules(solution)
    }
    if modules:
        right = "builds its modules right and returns"
        for name in FEW_BUILT if few else BUILT:
            built = {file: built_alone(text, ANSWERS[name]) for file, text in modules.items()}
            yield f"{right} {name}", {file: text.encode() for file, text in built.items()}
        emptied = {file: of_zeros(text).encode() for file, text in modules.items()}
        yield f"{right} zeros of the right shapes", emptied


_ASK = (
    "mark it form=True if it asks for names, shapes, errors or devices; else ask for values that "
    "nobody has without work"
)


def faults_of(results: Mapping[str, SubmissionResult]) -> list[str]:
    """Return a fault for every criterion that trivial work passes and that is not form."""
    passing: dict[str, list[str]] = {}
    parts: dict[str, str] = {}
    for way, result in results.items():
        for component in result.components.values():
            for found in component.criteria:
                if found.passed_cases and not found.form:
                    passing.setdefault(found.id, []).append(way)
                    if not found.passed:
                        parts[found.id] = f", in {found.passed_cases} of {found.cases} cases"
    more = {name: f" (and by {len(ways) - 1} more like it)" for name, ways in passing.items()}
    return [
        f"{name} is passed by work that {ways[0]}, whatever it is asked"
        f"{more[name] if len(ways) > 1 else ''}{parts.get(name, '')}: "
        f"{_COPY if ways == [_EMPTIED] else _ASK}"
        for name, ways in passing.items()
    ]


def without_work(
    solution: str,
    expression: str,
    program: bool = False,
    bare: bool = False,
    tensors: bool = True,
) -> str:
    """Return a component with the names of a solution, in which everything answers `expression`.

    A `bare` component may not import torch and numpy; one without `tensors` has no need of torch.
    """
    head = text_of(_HEAD, expression=expression, program=program, bare=bare, tensors=tensors)
    if program:
        return head
    lines = [head]
    for node in _public(ast.parse(solution)):
        text = _class(node) if isinstance(node, ast.ClassDef) else _function(node)
        lines += ["", "", *text]
    return "\n".join(lines) + "\n"


def built_alone(solution: str, expression: str) -> str:
    """Return a solution whose modules have the right parameters and answer `expression`."""
    lines = [
        solution,
        "",
        text_of(_HEAD, expression=expression, program=False, bare=False, tensors=True),
    ]
    for node in _public(ast.parse(solution)):
        if isinstance(node, ast.FunctionDef):
            lines += ["", "", *_function(node)]
    for cls, method in _methods(solution):
        answer = f"lambda self, *args, **kwargs: answer(args, kwargs, {_count(method.returns)})"
        lines.append(f"{cls.name}.{method.name} = {answer}")
    return "\n".join(lines) + "\n"


def of_zeros(solution: str) -> str:
    """Return a solution of which all answers are zeros, in the right form."""
    public = _public(ast.parse(solution))
    names = [node.name for node in public if isinstance(node, ast.FunctionDef)]
    names += [f"{cls.name}.{method.name}" for cls, method in _methods(solution)]
    lines = [solution, text_of("trivial/emptied.py")]
    lines += [f"{name} = emptying({name})" for name in names]
    return "\n".join(lines) + "\n"


def _public(node: ast.Module | ast.ClassDef) -> list[ast.FunctionDef | ast.ClassDef]:
    """Return the functions and classes that are defined in a node and have no private name."""
    found = (one for one in node.body if isinstance(one, ast.FunctionDef | ast.ClassDef))
    return [one for one in found if not one.name.startswith("_")]


def _modules(solution: str) -> list[ast.ClassDef]:
    """Return the public classes of a solution that are modules of torch's."""
    found = _public(ast.parse(solution))
    return [node for node in found if isinstance(node, ast.ClassDef) and _is_module(node)]


def _methods(solution: str) -> Iterator[tuple[ast.ClassDef, ast.FunctionDef]]:
    """Yield the public methods of a solution's modules."""
    for cls in _modules(solution):
        yield from ((cls, one) for one in _public(cls) if isinstance(one, ast.FunctionDef))


def _is_module(node: ast.ClassDef) -> bool:
    return any("Module" in ast.unparse(base) for base in node.bases)


def _function(node: ast.FunctionDef, indent: str = "", first: str = "") -> list[str]:
    parameters = f"{first}, *args, **kwargs" if first else "*args, **kwargs"
    return [
        f"{indent}def {node.name}({parameters}):",
        f"{indent}    return answer(args, kwargs, {_count(node.returns)})",
    ]


def _count(returns: ast.expr | None) -> int:
    """Return how many things a function is said to return."""
    match returns:
        case ast.Subscript(value=ast.Name(id="tuple" | "Tuple"), slice=ast.Tuple(elts=items)):
            endless = any(isinstance(item, ast.Constant) and item.value is ... for item in items)
            return 1 if endless else max(1, len(items))
    return 1


def _class(node: ast.ClassDef) -> list[str]:
    """Write a class that takes any arguments and has the methods that the solution has."""
    module = _is_module(node)
    lines = [f"class {node.name}({'Module' if module else ''}):"]
    lines += ["    def __init__(self, *args, **kwargs):", "        super().__init__()"]
    if not module:
        # Attributes answer like everything else.
        lines += ["", "    def __getattr__(self, name):", '        if name.startswith("__"):']
        lines += ["            raise AttributeError(name)", "        return answer((), {})"]
    for method in node.body:
        if not isinstance(method, ast.FunctionDef) or method.name == "__init__":
            continue
        if method.name.startswith("_") and not method.name.startswith("__"):
            continue
        kinds = {ast.unparse(decorator) for decorator in method.decorator_list}
        lines.append("")
        if "classmethod" in kinds:
            # What is made of the class has no more in it than what is made by it.
            lines += ["    @classmethod", f"    def {method.name}(cls, *args, **kwargs):"]
            lines.append("        return cls()")
            continue
        lines += [f"    @{kind}" for kind in sorted(kinds & {"staticmethod", "property"})]
        first = "" if "staticmethod" in kinds else "self"
        lines += _function(method, "    ", first)
    return lines
