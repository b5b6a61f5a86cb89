"""Generate the stubs from the solutions, and find what an author has still to fill in."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from autograder.assignment import Assignment
from autograder.authoring.mutants import without_marks
from autograder.errors import UsageError

# Stands in the files of a new assignment wherever something is to be said.
MARK = "REPLACE(author)"
_MARKED = (".json", ".md", ".py", ".diff", ".toml")
_BEGIN = "### BEGIN SOLUTION"
_END = "### END SOLUTION"


def make_stub(solution: str, name: str) -> str:
    """Return a solution with one NotImplementedError for each region, and no marks of mutants.

    Raises:
        UsageError: the markers of the regions do not pair up, or there is none.
    """
    lines: list[str] = []
    inside = False
    regions = 0
    for number, line in enumerate(solution.splitlines(), start=1):
        marker = line.strip()
        if marker in (_BEGIN, _END):
            if inside == (marker == _BEGIN):
                raise UsageError(f"{name}, line {number}: {marker!r} has no partner")
            inside = not inside
            if inside:
                regions += 1
                indent = line[: len(line) - len(line.lstrip())]
                lines += [f"{indent}# Your code here.", f"{indent}raise NotImplementedError"]
        elif not inside:
            lines.append(line)
    if inside or not regions:
        what = f"a region has no {_END!r}" if inside else f"it has no {_BEGIN!r} region"
        raise UsageError(f"{name}: {what}")
    return without_marks("\n".join(lines) + "\n", name)


def model_solution(assignment: Assignment, component: str) -> dict[str, str]:
    """Return a component's solution as students read it, by file: without any marks.

    Raises:
        UsageError: there is no solution.
    """
    return {
        file: without_marks(_without_markers(text), file)
        for file, text in _solution(assignment, component).items()
    }


def _without_markers(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() not in (_BEGIN, _END)]
    return "\n".join(lines) + "\n"


def stub_of(assignment: Assignment, component: str) -> dict[str, str]:
    """Return the stub that a component's solution gives, by file.

    In a package a file without a region is given as it is.

    Raises:
        UsageError: there is no solution, or its regions are no pairs of markers.
    """
    texts = _solution(assignment, component)
    given = {
        file
        for file, text in texts.items()
        if file != f"{component}.py" and _BEGIN not in text and _END not in text
    }
    if given == texts.keys():
        raise UsageError(f"{component}: none of its files has a {_BEGIN!r} region")
    return {
        file: without_marks(text, file) if file in given else make_stub(text, file)
        for file, text in texts.items()
    }


def _solution(assignment: Assignment, component: str) -> dict[str, str]:
    paths = assignment.component_files(component, assignment.secret)
    if not paths:
        raise UsageError(
            f"there is no solution {assignment.secret / assignment.component(component).file}"
        )
    return {file: _python(path) for file, path in paths.items()}


def _python(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
        ast.parse(text)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not written in UTF-8: {error}") from error
    except SyntaxError as error:
        raise UsageError(f"{path}, line {error.lineno}: {error.msg}") from error
    return text


def drifted(assignment: Assignment, components: Iterable[str] = ()) -> list[str]:
    """Return the stubs in `assignments/` that differ from those that the solutions give.

    By default all components are looked at.
    """
    found = []
    there = replace(assignment, fresh={}).stubs()
    for component in components or assignment.totals:
        stub = stub_of(assignment, component)
        found += [file for file, text in stub.items() if there.get(file) != text]
    return found


def write(assignment: Assignment) -> list[str]:
    """Write the stubs that have drifted and return their names."""
    changed = drifted(assignment)
    for component in assignment.totals:
        for file, text in stub_of(assignment, component).items():
            if file in changed:
                (assignment.public / file).parent.mkdir(parents=True, exist_ok=True)
                (assignment.public / file).write_text(text, encoding="utf-8")
    return changed


def unfilled(assignment: Assignment) -> Iterator[tuple[Path, int]]:
    """Yield every file and line that is still to be filled in; stubs follow their solutions."""
    stubs = {assignment.public / file for file in assignment.stubs()}
    for folder in (assignment.secret, assignment.public):
        for path in sorted(folder.rglob("*")):
            if path.suffix not in _MARKED or path in stubs or not path.is_file():
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            for number, line in enumerate(text.splitlines(), start=1):
                if MARK in line:
                    yield path, number


def must_be_filled_in(assignment: Assignment) -> None:
    """Check that nothing is left to be filled in.

    Raises:
        UsageError: something is; the message names the first place.
    """
    found = list(unfilled(assignment))
    if found:
        path, line = found[0]
        more = f", and {len(found) - 1} more places" if len(found) > 1 else ""
        raise UsageError(
            f"{assignment.name} is not filled in: {path.relative_to(assignment.root)}, line "
            f"{line}{more}, where {MARK} says what is wanted; take out the mark when it is there"
        )
