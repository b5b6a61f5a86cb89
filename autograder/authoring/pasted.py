"""Given text handed in as own work: none of what a release contains may earn a point.

A stand-in is handed in with an edit that says nothing, so that it is not recognised: the rules
alone have to refuse it. All other text is handed in as it is given. What fits in the place of a
public name by its kind and its parameters is handed in under that name, too.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from autograder.assignment import GIVEN, Assignment, ComponentSpec
from autograder.authoring.folders import modules_in
from autograder.given import Text, open_names, texts_of
from autograder.results import SubmissionResult
from autograder.rules.given import Module, module_of

# What a helper of a test takes of the tests' own, which no answer can be made of.
_OF_TESTS = {"component", "expect", "make", "reference", "show"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Pasted:
    """Given text as a submission.

    Attributes:
        words: what it is, and how it is handed in.
        components: the components that are it; any other is the solution's.
        files: the submission's.
    """

    words: str
    components: tuple[str, ...]
    files: dict[str, bytes]


def submissions(assignment: Assignment, only: Collection[str] = ()) -> Iterator[Pasted]:
    """Yield all released text in every place that it fits; of the components in `only`, if any."""
    solutions = modules_in(assignment.secret)
    wanted = {
        file: (spec, module, names)
        for spec in assignment.components
        if not only or spec.name in only
        for file, names in open_names(assignment, spec.name).items()
        if (module := module_of(solutions[file])) is not None
    }
    for text in texts_of(assignment):
        if text.released:
            for words, found in _ways(text, wanted):
                files = {file: source.encode() for file, source in found.items()}
                components = dict.fromkeys(wanted[file][0].name for file in found)
                yield Pasted(f"{text.where}: {words}", tuple(components), {**solutions, **files})


def faults_of(assignment: Assignment, results: Mapping[str, SubmissionResult]) -> list[str]:
    """Return a fault for every place in which given text earns something.

    Args:
        assignment: whose text.
        results: by the words of each submission.
    """
    faults: dict[tuple[str, str], str] = {}
    for words, result in results.items():
        where = words.partition(":")[0]
        for name, component in result.components.items():
            if component.score:
                faults.setdefault(
                    (where, name),
                    f"{words}, handed in as {name}, earns {component.score:g} of "
                    f"{component.max_score:g} points: {_repair(assignment, where)}",
                )
    return list(faults.values())


def _repair(assignment: Assignment, where: str) -> str:
    if where.startswith("stand_ins/"):
        place = f"reference/{assignment.name}/stand_ins/"
        return f"forbid an operation that it uses, or move the file to {place}"
    return "forbid an operation that it uses, or do not give it"


def _ways(
    text: Text, wanted: Mapping[str, tuple[ComponentSpec, Module, list[str]]]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield ways to hand a text in: words, and what each file is then."""
    module = text.module
    whole = {
        file: found
        for file, (_, _, names) in wanted.items()
        if (found := [name for name in names if name in module.definitions])
    }
    if whole:
        yield "as it is", {name: _source(text, found) for name, found in whole.items()}
    parts = {one for found in whole.values() for one in found if len(found) > 1}
    for part in sorted(parts):
        alone = {name: _source(text, [part]) for name, found in whole.items() if part in found}
        yield f"{part} alone", alone
    for name, node in module.definitions.items():
        if text.where.startswith("tests/") and _OF_TESTS & _parameters(node):
            continue
        places = {
            file: fitting
            for file, (spec, solution, names) in wanted.items()
            if not spec.program
            and (fitting := [n for n in names if _fits(node, solution.definitions[n])])
        }
        renamed = {
            file: _source(text, [name], others)
            for file, fitting in places.items()
            if (others := [one for one in fitting if one != name])
        }
        if renamed:
            yield f"{name} under the name that is asked for", renamed
        if places and text.where.startswith(f"{GIVEN[0]}/"):
            place = text.where.removesuffix(".py").replace("/", ".")
            yield (
                f"{name} imported",
                {
                    file: "".join(f"from {place} import {name} as {n}\n" for n in fitting)
                    for file, fitting in places.items()
                },
            )


def _source(text: Text, names: Collection[str], others: Collection[str] = ()) -> str:
    """Return the text of some definitions with all that they need, and other names for them."""
    tree = ast.parse(text.module.needed(names))
    for node in ast.walk(tree):
        if isinstance(node, _Function) and text.where.startswith("tests/"):
            # They are pytest's, which is not there.
            node.decorator_list = []
        if isinstance(node, _Function) and text.stand_in:
            node.body.append(ast.Pass())
    lines = [ast.unparse(tree), *(f"{other} = {name}" for other in others for name in names)]
    return "\n".join(lines) + "\n"


def _fits(given: ast.stmt, wanted: ast.stmt) -> bool:
    """Return whether a definition can be in the place of another, by its kind and parameters."""
    match given, wanted:
        case (ast.ClassDef(), ast.ClassDef()):
            first, second = _method(given, "__init__"), _method(wanted, "__init__")
            return first is None or second is None or _takes(first, second)
        case (ast.FunctionDef(), ast.FunctionDef()):
            return _answers(given) == _answers(wanted) and _takes(given, wanted)
    return False


def _parameters(node: ast.stmt) -> set[str]:
    return {one.arg for one in node.args.args} if isinstance(node, _Function) else set()


def _method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    found = (one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == name)
    return next(found, None)


def _answers(node: ast.FunctionDef) -> bool:
    """Return whether a function returns or yields something."""
    return any(
        isinstance(part, ast.Yield | ast.YieldFrom)
        or (isinstance(part, ast.Return) and part.value is not None)
        for part in ast.walk(node)
    )


def _takes(given: ast.FunctionDef, wanted: ast.FunctionDef) -> bool:
    """Return whether a function takes the positional arguments that another may be given."""
    (least, most), (needed, possible) = _counts(given.args), _counts(wanted.args)
    return least <= possible and needed <= most


def _counts(taken: ast.arguments) -> tuple[int, float]:
    most = len(taken.posonlyargs) + len(taken.args)
    return most - len(taken.defaults), float("inf") if taken.vararg else most
