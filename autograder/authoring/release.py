"""Make the student's folder: a copy out of `assignments/`, and one generated conftest.py."""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
import multiprocessing
import os
import pprint
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from autograder.api.criterion import component_of
from autograder.assignment import Assignment
from autograder.authoring import workbook
from autograder.authoring.folders import must_be_new, text_of, whole, write_files
from autograder.authoring.stubs import model_solution, must_be_filled_in
from autograder.environment import alone
from autograder.errors import UsageError
from autograder.given import given_by
from autograder.grading.workers import Tell, cores, unheard
from autograder.judge.ordinary_files import files_below, has_ordinary, is_ordinary
from autograder.text import did_you_mean

_PACKAGE = Path(__file__).resolve().parents[1]
# What ships to students: whole rooms. They import nothing but each other.
SHIPPED = ("api", "rules", "student", "diagnosis", "text.py")
_KNOWN_FILE = "known_mistakes.json.gz"
# What decides the form of the table in it.
_FORM = ("authoring/known_numbers.py", "diagnosis/table.py")


def release(
    assignment: Assignment,
    out: Path,
    known: Callable[[Assignment], Mapping[str, Any]],
    with_workbook: bool = False,
) -> list[str]:
    """Write the student's folder and return the paths of its files.

    `known` computes the numbers of known mistakes, by component.

    Raises:
        UsageError: `out` cannot take them, or a stub, the handout or the workbook is missing.
    """
    must_be_new(out, "give --out a new folder")
    stubs = [
        file
        for spec in assignment.components
        for file in (assignment.component_files(spec.name, assignment.public) or [spec.file])
    ]
    for source in (assignment.public / name for name in ("README.md", *stubs)):
        if not source.is_file():
            raise UsageError(f"there is no {source}, which every release needs")
    suite = sorted((assignment.public / "tests").iterdir())
    is_with_ordinary = has_ordinary(assignment)
    for path in suite:
        if path.name == "conftest.py" and not is_with_ordinary:
            raise UsageError(
                f"{path} would be replaced by the one that a release brings: delete it"
            )
        if path.suffix == ".py" and path.name.startswith("test_") and not is_ordinary(path):
            _must_be_of_a_component(assignment, path)
    tests = [f"tests/{path.name}" for path in suite if path.suffix in (".py", ".json", ".toml")]
    if is_with_ordinary:
        # Data and helper files beside them are theirs.
        folder = assignment.public
        tests = [path.relative_to(folder).as_posix() for path in files_below(folder / "tests")]
    copied = ("README.md", *stubs, *tests)
    files = {name: (assignment.public / name).read_bytes() for name in copied}
    files |= assignment.provided()
    # A suite's own conftest.py keeps its place.
    place = "" if "tests/conftest.py" in files else "tests/"
    files[f"{place}conftest.py"] = conftest(assignment, place).encode()
    if with_workbook:
        files[workbook.FILE] = workbook.plain(assignment)
    if numbers := known(assignment):
        files[f"{place}{_KNOWN_FILE}"] = _packed(numbers)
    with whole(out, secret=False) as made:
        write_files(made, files)
    return sorted(files)


def _must_be_of_a_component(assignment: Assignment, path: Path) -> None:
    """See that a test file is about a component: else its points would count nowhere.

    Raises:
        UsageError: it is not.
    """
    name = component_of(path)
    if name not in assignment.totals:
        meant = did_you_mean(name, assignment.totals, "test_{}.py")
        raise UsageError(
            f"{path} is about no component of {assignment.name}{meant and f': {meant}'}"
        )


def write_solutions(assignment: Assignment, out: Path) -> list[str]:
    """Write the model answers and return the paths of their files; other accounts cannot read them.

    Raises:
        UsageError: `out` cannot take them, or a component has no solution.
    """
    must_be_new(out, "give --out a new folder")
    must_be_filled_in(assignment)
    texts = {
        file: text
        for name in assignment.totals
        for file, text in model_solution(assignment, name).items()
    }
    if answers := workbook.model_answers(assignment):
        texts["answers.md"] = f"{answers}\n"
    with whole(out) as made:
        write_files(made, {name: text.encode() for name, text in texts.items()})
    return sorted(texts)


def known_numbers(
    assignment: Assignment,
    tell: Tell = unheard,
    check: Callable[[Assignment], None] | None = None,
    keep: bool = False,
) -> dict[str, Any]:
    """Return the table of known mistakes by component, as it is kept beside the solutions.

    What is not kept there, or for other files, is computed in processes of their own.

    Args:
        assignment: whose mistakes.
        tell: is told how far it is.
        check: a function of a module, called meanwhile; what it raises is raised here.
        keep: whether to keep it so from now on.

    Raises:
        UsageError: the suite or the misconceptions are broken, or it cannot be kept.
    """
    found = {} if keep else kept_numbers(assignment)
    with alone():
        missing = [name for name in assignment.totals if name not in found]
        words = "what the known mistakes answer"
        found |= _side_by_side(_known_numbers_of, assignment, missing, words, tell, check)
    numbers = {name: found[name] for name in assignment.totals}
    if keep:
        follow = _followed_from(assignment)
        kept = {name: {"of": follow[name], "table": table} for name, table in numbers.items()}
        path = assignment.secret / _KNOWN_FILE
        try:
            path.write_bytes(_packed(kept))
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    return numbers


def prepare(assignment: Assignment, tell: Tell = unheard) -> None:
    """Have the judge compute and keep what it needs when a component is first diagnosed.

    Raises:
        UsageError: the suite or the misconceptions are broken.
    """
    names, words = list(assignment.totals), "what grading compares with"
    with alone():
        _side_by_side(_prepare, assignment, names, words, tell)


def kept_numbers(assignment: Assignment) -> dict[str, Any]:
    """Return the tables that are kept beside the solutions, of components that are as they were."""
    path = assignment.secret / _KNOWN_FILE
    try:
        kept = json.loads(gzip.decompress(path.read_bytes())) if path.is_file() else {}
        return {
            name: kept[name]["table"]
            for name, hashed in _followed_from(assignment).items()
            if name in kept and kept[name]["of"] == hashed
        }
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError):
        return {}


def _followed_from(assignment: Assignment) -> dict[str, str]:
    """Return for each component a hash of what its table follows from.

    Of this package that is what decides the form of a table. How an answer is computed may change:
    it stays the same number.
    """
    of_package = [(name, (_PACKAGE / name).read_bytes()) for name in _FORM]
    # A public test file and a hidden one have the same name.
    files = [
        (name, name.encode() + hashlib.sha256(data).digest())
        for name, data in (*assignment.own_deciding(), *of_package)
    ]
    return {
        component: hashlib.sha256(
            b"".join(hashed for name, hashed in files if assignment.concerns(name, component))
        ).hexdigest()
        for component in assignment.totals
    }


def _packed(table: Mapping[str, Any]) -> bytes:
    # Some 4 MB, and a sixth of it so. Without a time the same table is the same file.
    return gzip.compress(json.dumps(table, separators=(",", ":")).encode(), mtime=0)


def _side_by_side(
    work: Callable[[Assignment, str], Any],
    assignment: Assignment,
    names: Sequence[str],
    words: str,
    tell: Tell,
    check: Callable[[Assignment], None] | None = None,
) -> dict[str, Any]:
    """Return what a function of a module returns for some components, and call `check`.

    This process never imports torch, except for one or two components: a new process needs as long
    to import torch as a small component takes.
    """
    side_by_side = min(cores(), len(names) // 2)
    if side_by_side < 2:
        if names:
            tell(f"computing {words}")
        if check is not None:
            check(assignment)
        return {name: work(assignment, name) for name in names}
    # This process may have threads, so it is not forked itself.
    fresh = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if fresh else "spawn")
    context.set_forkserver_preload(["autograder.authoring.known_numbers"])
    with ProcessPoolExecutor(side_by_side, context, _end_with_parent) as pool:
        # The last components build on the others and take longest, so they begin.
        begun = {name: pool.submit(work, assignment, name) for name in names[::-1]}
        checked = pool.submit(check, assignment) if check is not None else None
        try:
            for number, done in enumerate(as_completed(begun.values()), 1):
                done.result()
                tell(f"{words}: {number} of {len(names)} components")
            if checked is not None:
                checked.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return {name: begun[name].result() for name in names}


def _end_with_parent() -> None:
    """End this process when the one that waits for it is gone, however that ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _known_numbers_of(assignment: Assignment, name: str) -> dict[str, Any]:
    # Here and not above: it brings torch along.
    from autograder.authoring.known_numbers import of_component

    return of_component(assignment, name)


def _prepare(assignment: Assignment, name: str) -> None:
    # Likewise.
    from autograder.judge.prepared import prepare

    prepare(assignment, name)


def conftest(assignment: Assignment, place: str = "tests/") -> str:
    """Return the generated conftest.py: the rooms of this package that a student's run needs.

    Args:
        assignment: whose.
        place: the folder of the handout that it lies in, empty for the handout itself.
    """
    given = given_by(assignment, released=True)
    head = text_of(
        "release/conftest.py",
        components=pprint.pformat(
            {
                spec.name: (
                    float(spec.points),
                    (spec.rules.forbidden, spec.rules.modules, spec.rules.functions),
                    spec.program,
                    spec.uses,
                    (spec.rules.review, spec.rules.ordinary, spec.rules.unusual),
                )
                for spec in assignment.components
            },
            width=96,
            sort_dicts=False,
        ),
        stubs=_texts(assignment.stubs()),
        stand_ins=_stand_ins(assignment),
        given=pprint.pformat((given.names, given.forms), width=96, sort_dicts=False),
        known=repr(_KNOWN_FILE),
        packages=[*(["torch"] if assignment.uses_torch else []), *assignment.packages],
        modules=list(assignment.modules),
        listed=pprint.pformat(_listed(assignment), width=96, sort_dicts=False),
        root="HERE.parent" if place else "HERE",
        memory_mb={spec.name: spec.limits.memory_mb for spec in assignment.components},
    )
    return head + "".join(
        f"\nSOURCES[{name!r}] = {_literal(source)}\n" for name, source in _shipped().items()
    )


def _listed(assignment: Assignment) -> dict[str, dict[str, tuple[Any, ...]]]:
    """Return the public ordinary tests that count, by file and name."""
    if not has_ordinary(assignment):
        return {}
    # Here and not above: it brings torch along.
    from autograder.judge.collection import listed

    return {
        file: {
            name: (c.id, c.component, c.title, c.points, c.source, c.visibility, c.form)
            for name, c in found.items()
        }
        for file, found in listed(assignment).items()
    }


def _stand_ins(assignment: Assignment) -> str:
    """Write the sources of the stand-ins that are given as a dictionary that can be read."""
    used = dict.fromkeys(name for spec in assignment.components for name in spec.uses)
    for name in used:
        if not (stand_in := assignment.stand_in(name)).is_file():
            raise UsageError(
                f"there is no stand-in {stand_in}, which students' runs need where {name} is broken"
            )
    given = {name: assignment.given_stand_in(name) for name in used}
    sources = {n: path.read_text(encoding="utf-8") for n, path in given.items() if path.is_file()}
    return _texts(sources)


def _texts(texts: Mapping[str, str]) -> str:
    """Write texts by name as a dictionary that can be read."""
    items = "".join(f"    {name!r}: {_literal(text)},\n" for name, text in texts.items())
    return f"{{\n{items}}}" if items else "{}"


def _shipped() -> dict[str, str]:
    """Return the sources of what ships, by the name of the module."""
    found = {_PACKAGE.name: ""}
    for room in SHIPPED:
        place = _PACKAGE / room
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            parts = path.relative_to(_PACKAGE.parent).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = path.read_text(encoding="utf-8")
    return found


def _literal(text: str) -> str:
    """Write a text as a Python literal that can be read, where that is possible."""
    quoted = f"r'''{text}'''"
    try:
        if ast.literal_eval(quoted) == text:
            return quoted
    except SyntaxError:
        pass
    return repr(text)
