"""What an assignment gives its students as text, by file and by form."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.assignment import GIVEN, Assignment
from autograder.rules.given import WHOLE, Given, Module, code_in, module_of


@dataclass(frozen=True)
class Text:
    """A piece of Python text that students are given, or that stands in beside their code.

    Attributes:
        where: the file that it is in, below the folder that students see.
        words: what it is, in words.
        module: what it says.
        released: whether a release has it.
        stand_in: whether it is a stand-in.
    """

    where: str
    words: str
    module: Module
    released: bool = True
    stand_in: bool = False


def texts_of(assignment: Assignment) -> Iterator[Text]:
    """Yield all Python text that a release has, and the grader's stand-ins; no stubs."""
    public = assignment.public
    for name in assignment.totals:
        path, given = assignment.stand_in(name), assignment.given_stand_in(name)
        if module := _read(path):
            released = path == given
            more = ", which the handout gives" if released else ""
            where = path.relative_to(public if released else assignment.secret).as_posix()
            yield Text(where, f"the text of the stand-in for {name}{more}", module, released, True)
    for folder in (GIVEN[0], "tests"):
        for path in sorted((public / folder).rglob("*.py")):
            where = path.relative_to(public).as_posix()
            if module := _read(path):
                yield Text(where, f"the text of {where}, which the handout gives", module)
    pages = {path.name: path.read_text("utf-8", "replace") for path in assignment.handouts()}
    for file, stub in _stubs(assignment).items():
        pages[file] = "\n".join(_docstrings(stub))
    for where, page in pages.items():
        for block in code_in(page):
            if module := module_of(block):
                yield Text(where, f"a block of code in {where}, which the handout gives", module)


def open_names(assignment: Assignment, component: str) -> dict[str, list[str]]:
    """Return the public names that students have to define, as their stubs do not, by file."""
    stubs = _stubs(assignment)
    found: dict[str, list[str]] = {}
    for file, path in assignment.component_files(component, assignment.secret).items():
        solution = _read(path)
        done = stubs[file].definitions if file in stubs else {}
        found[file] = [
            name
            for name, node in ({} if solution is None else solution.definitions).items()
            if not name.startswith("_")
            and (name not in done or ast.dump(done[name]) != ast.dump(node))
        ]
    return found


def given_by(assignment: Assignment, released: bool = False) -> Given:
    """Return what is recognised as given; with `released`, of what is in a release alone."""
    names = {
        file.removesuffix(".py"): found
        for component in assignment.totals
        for file, found in open_names(assignment, component).items()
    }
    # What a stub holds is there to be kept.
    stubs = _stubs(assignment).values()
    kept = {stub.form(name) for stub in stubs for name in (*stub.definitions, WHOLE)}
    forms: dict[str, str] = {}
    for text in texts_of(assignment):
        if text.released or not released:
            # A test is asked of a component, and is none.
            tests = {name for name in text.module.definitions if name.startswith("test_")}
            for name in (*sorted(text.module.definitions.keys() - tests), WHOLE):
                forms.setdefault(text.module.form(name), text.words)
    return Given(names, {form: words for form, words in forms.items() if form not in {"", *kept}})


def _read(path: Path) -> Module | None:
    return module_of(path.read_bytes()) if path.is_file() else None


def _stubs(assignment: Assignment) -> dict[str, Module]:
    read = {file: module_of(text) for file, text in assignment.stubs().items()}
    return {file: module for file, module in read.items() if module is not None}


def _docstrings(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
