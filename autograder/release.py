"""Make the student's folder: a copy out of `assignments/`, and one generated conftest.py."""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from autograder.assignment import Assignment
from autograder.errors import UsageError

_PACKAGE = Path(__file__).resolve().parent
# In this order each needs only what stands before it.
_BUNDLED = (
    "text.py",
    "exchange/operations.py",
    "exchange/messages.py",
    "exchange/rules.py",
    "exchange/errors.py",
    "exchange/executor.py",
    "suite/answer.py",
    "suite/component.py",
    "suite/patterns.py",
    "suite/expect.py",
    "suite/likeness.py",
    "suite/known.py",
    "suite/make.py",
    "suite/show.py",
    "suite/page.py",
    "suite/wording.py",
    "suite/plugin.py",
    "suite/student.py",
)
_KNOWN_FILE = "known_mistakes.json"
_HEADER = '''\
"""Runs the checks in this folder on the files one folder up. Generated; there is nothing to edit.

`pytest` imports this file by itself. It loads your components, asks them the questions of the
tests, and says what came back in plain words.
"""
'''
_FOOTER = '''

TOTALS = {totals!r}
FORBIDDEN_HERE = {forbidden!r}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the workbook ask for a page."""
    parser.addoption("--page", type=Path, help="write the results into this file, as HTML")


def pytest_configure(config: pytest.Config) -> None:
    """Start the checks."""
    folder = Path(__file__).resolve().parent.parent
    known = Path(__file__).resolve().parent / {known_file!r}
    page = config.getoption("--page", None)
    plugin = StudentPlugin(folder, json.loads(TOTALS), FORBIDDEN_HERE, known, page)
    config.pluginmanager.register(plugin, "gradeformer")
'''


def release(
    assignment: Assignment, out: Path, known: Callable[[Assignment], Mapping[str, Any]]
) -> list[str]:
    """Write the student's folder and return the paths of its files.

    Args:
        assignment: the assignment.
        out: a new folder.
        known: computes the numbers of known mistakes, by component.

    Raises:
        UsageError: `out` cannot take them, or a stub or the handout is missing.
    """
    must_be_new(out, "give --out a new folder")
    sources = [assignment.public / "README.md"]
    sources += [assignment.public / f"{component}.py" for component in assignment.totals]
    for source in sources:
        if not source.is_file():
            raise UsageError(f"there is no {source}, which every release needs")
    suite = sorted((assignment.public / "tests").iterdir())
    tests = [path for path in suite if path.suffix in (".py", ".json", ".toml")]
    numbers = known(assignment)
    try:
        (out / "tests").mkdir(parents=True)
        for source in sources:
            shutil.copyfile(source, out / source.name)
        for test in tests:
            shutil.copyfile(test, out / "tests" / test.name)
        (out / "tests" / "conftest.py").write_text(conftest(assignment), encoding="utf-8")
        if numbers:
            table = json.dumps(numbers, separators=(",", ":"))
            (out / "tests" / _KNOWN_FILE).write_text(table + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}") from error
    return sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())


def must_be_new(folder: Path, repair: str) -> None:
    """See that a folder can be filled without touching what is there.

    Raises:
        UsageError: it is a file or holds something; the message ends in `repair`.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "is not empty" if folder.is_dir() else "is a file"
        raise UsageError(f"{folder} {what}: {repair}")


def conftest(assignment: Assignment) -> str:
    """Return the generated conftest.py: the parts of this package that a student's run needs."""
    imports: set[str] = set()
    bodies = []
    for name in _BUNDLED:
        text = (_PACKAGE / name).read_text(encoding="utf-8")
        found, body = _split(text)
        imports |= found
        bodies.append(f"# {'-' * 20} {name}\n\n{body.strip()}\n")
    imports.add("import json")
    imports.add("from pathlib import Path")
    footer = _FOOTER.format(
        totals=json.dumps(assignment.totals),
        forbidden=assignment.rules.forbidden,
        known_file=_KNOWN_FILE,
    )
    head = _HEADER + "\nfrom __future__ import annotations\n\n" + "\n".join(sorted(imports))
    return head + "\n\n" + "\n\n".join(bodies) + footer


def _split(text: str) -> tuple[set[str], str]:
    """Part a module into its imports, without those of this package, and the rest."""
    tree = ast.parse(text)
    lines = text.splitlines()
    imports = set()
    drop: set[int] = set()
    for node in tree.body:
        docstring = node is tree.body[0] and isinstance(node, ast.Expr)
        if not docstring and not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        drop |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        ours = isinstance(node, ast.ImportFrom) and re.match(
            r"autograder\b|__future__", node.module or ""
        )
        if not docstring and not ours:
            imports |= set(ast.unparse(node).splitlines())
    rest = [line for number, line in enumerate(lines, start=1) if number not in drop]
    return imports, "\n".join(rest)
