"""Make an assignment of a notebook (nbgrader's or otter's) or of stubs, solutions and pytest files.

A source is read into `Component`s and foreign `Test`s; `authoring/rewriting.py` makes criteria of
the tests, and `write` makes the files. Nothing of the source is run. What cannot be carried stands
at the end of the hidden suite, in comments that begin with the mark of unfinished places, so that
no release is made before somebody has looked at it.
"""

from __future__ import annotations

import ast
import doctest
import importlib.metadata
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from autograder.assignment import check_component_name, load_assignment
from autograder.authoring import stubs
from autograder.authoring.folders import filled, whole, write_files
from autograder.authoring.new import check_names, new_seed
from autograder.authoring.rewriting import (
    NotCarried,
    Subject,
    free_names,
    imports_of,
    names_in,
    rewrite,
)
from autograder.authoring.stubs import MARK
from autograder.errors import UsageError
from autograder.project import FOLDERS
from autograder.text import clean

_MAX_BYTES = 20_000_000
_MAX_FILES = 300
_BEGIN, _END = re.compile(r"\s*#+ *BEGIN SOLUTION"), re.compile(r"\s*#+ *END SOLUTION")
_HIDDEN = re.compile(r"^ *#+ *BEGIN HIDDEN TESTS.*?^ *#+ *END HIDDEN TESTS[^\n]*\n?", re.M | re.S)
_SUITE_MODULES = {"hypothesis", "pytest", "torch", "numpy", "collections", "fractions"}
_SUITE_MODULES |= {"functools", "itertools", "json", "math", "pathlib", "string"}
_TOOLS = {"otter", "nbgrader", "IPython", "nose", "unittest", "__future__"}
_SOLUTIONS = {"solution", "solutions", "reference", "answers"}
_FIXTURES = {"component", "expect", "make"}
_USUAL = {"torch": "import torch", "np": "import numpy as np", "pytest": "import pytest"}
_Import = ast.Import | ast.ImportFrom


@dataclass(frozen=True)
class Row:
    """A line of the table that an import ends with."""

    what: str
    outcome: Literal["carried", "to do", "dropped"]
    why: str = ""


@dataclass
class Test:
    """A foreign test; `points` are those of all cases."""

    name: str
    body: list[ast.stmt]
    points: Decimal = Decimal(1)
    hidden: bool = False
    title: str = ""
    parameters: tuple[str, ...] = ()
    decorators: tuple[ast.expr, ...] = ()


@dataclass
class Component:
    """A component: its solution, with the lines of it that students are not given."""

    name: str
    text: str
    secret: set[int]
    kept: list[ast.stmt]
    tests: list[Test] = field(default_factory=list)
    around: list[ast.stmt] = field(default_factory=list)  # what tests may take names from
    left: list[tuple[str, str, str]] = field(default_factory=list)  # what, why, code


@dataclass
class Source:
    """All that was read."""

    origin: str
    handout: str = ""
    components: list[Component] = field(default_factory=list)
    questions: list[tuple[str, Decimal, str, str]] = field(default_factory=list)
    provided: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)


def import_assignment(path: Path, root: Path, name: str) -> list[Row]:
    """Write an assignment of the project at `root`, and return the table of what was carried.

    Raises:
        UsageError: the source cannot be read or holds no solution, or the name cannot be used.
    """
    check_names(root, name, [name])
    try:
        if path.is_dir():
            notebooks = sorted(path.glob("*.ipynb"))
            source = _of_notebook(notebooks[0], name) if len(notebooks) == 1 else _of_folder(path)
        else:
            source = _of_notebook(path, name)
        files, values = _files(source, name)
    except (RecursionError, MemoryError) as error:
        raise UsageError(f"{path} is nested too deeply to be read") from error
    with whole(root, [f"{part}/{name}" for part in FOLDERS]) as made:
        for folder in ("imported", *(["imported_questions"] if source.questions else [])):
            write_files(made, filled(folder, values))
        write_files(made, {place: text.encode() for place, text in files.items()})
        stubs.write(load_assignment(made, name))
    return source.rows


# Reading.


def _read(path: Path) -> str:
    try:
        if not path.is_file():
            raise UsageError(f"{path} is not a file or folder that can be read")
        if path.stat().st_size > _MAX_BYTES:
            raise UsageError(f"{path} has more than {_MAX_BYTES // 10**6} MB")
        return path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not written in UTF-8") from error


def _parsed(text: str, where: object) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{where} holds code that is not valid Python: {error}") from error


def _of_notebook(path: Path, name: str) -> Source:
    """Read a notebook into one component."""
    try:
        import nbformat
    except ImportError as error:
        raise UsageError("notebooks need nbformat: pip install 'gradeformer[nbgrader]'") from error
    try:
        notebook: Any = nbformat.reads(_read(path), as_version=4)
        cells = [(cell.cell_type, str(cell.source), dict(cell.metadata)) for cell in notebook.cells]
        language = str(dict(notebook.metadata.get("kernelspec", {})).get("language", "python"))
    except UsageError:
        raise
    except Exception as error:
        # nbformat raises whatever malformed JSON leads to.
        raise UsageError(f"{path} is not a notebook: {clean(str(error), 120)}") from error
    if language.lower() != "python":
        raise UsageError(f"{path} is written in {clean(language, 40)}, not in Python")
    source = Source(path.name)
    tests: list[Test] = []
    lines: list[str] = []
    secret: set[int] = set()
    question, points, manual, inside = "", Decimal(0), False, ""
    prompt: list[str] = []
    for number, (kind, text, metadata) in enumerate(cells, start=1):
        about = metadata.get("nbgrader", {})
        about = about if isinstance(about, dict) else {}
        marker = re.match(r"\W*(BEGIN|END) (QUESTION|SOLUTION|TESTS)", text)
        if marker and (kind != "code" or len(text.splitlines()) < 2):
            inside = marker[2] if marker[1] == "BEGIN" else ""
            if marker[0].endswith("BEGIN QUESTION"):
                settings = dict(re.findall(r"^\W*(\w+): *(\S+)", text, re.M))
                question, points = settings.get("name", ""), _points(settings.get("points", "1"))
                manual, prompt = settings.get("manual") == "true", []
            continue
        grade, solution = about.get("grade"), about.get("solution")
        if about:
            question, points = str(about.get("grade_id", "")), _points(about.get("points", 0))
            manual = bool((grade and solution) or about.get("task"))
        where = f"{path.name}, cell {number}"
        if manual and (about or inside == "SOLUTION"):
            asked = "\n\n".join(prompt[-1:]) or question
            if about.get("task"):
                asked, text = text, f"{MARK}: what a good answer says."
            source.questions.append((_slug(question or "question"), points, asked, text))
            source.rows.append(Row(f"question {question}", "carried", "for a person to mark"))
            if kind != "code":
                continue
        if kind == "markdown" and (solution or inside == "SOLUTION"):
            source.rows.append(Row(f"text of {question or where}", "dropped", "it is a solution"))
        elif kind == "markdown":
            prompt.append(text)
            source.handout += text + "\n\n"
        elif kind == "code" and (inside == "TESTS" or (grade and not solution)):
            split = _hidden_apart(text) if about else [(text, bool(re.match(r"# *HIDDEN", text)))]
            for part, hidden in split:
                body = _parsed(_without_magic(part), where).body
                tests.append(Test(_slug(question), body, points / len(split), hidden))
        elif kind == "code" and text.strip():
            cleaned, own = _secret_lines(_without_magic(text), where)
            _parsed("\n".join(cleaned), where)
            whole_cell = solution or inside == "SOLUTION"
            own = own or (set(range(1, len(cleaned) + 1)) if whole_cell else set())
            secret |= {len(lines) + number for number in own}
            lines += [*cleaned, ""]
    if not any("nbgrader" in metadata for _, _, metadata in cells):
        # Otter's question has points, which its tests share.
        counts = Counter(test.name for test in tests)
        for test in tests:
            test.points /= counts[test.name]
    for file in sorted(path.parent.glob("tests/*.py")):
        tests += _ok_tests(_parsed(_read(file), file), file)
    if not secret:
        raise UsageError(
            f"{path} holds no solution: give the instructors' version, in which solutions stand "
            "between `### BEGIN SOLUTION` and `### END SOLUTION`"
        )
    text = "\n".join(lines) + "\n"
    tree = _parsed(text, path)
    kept = _kept(tree.body, secret, source)
    # An answer that stands in a variable must not come into a public suite.
    around = [node for node in tree.body if not _lines_of(node) & secret]
    source.components.append(Component(name, text, secret, kept, tests, around))
    return source


def _points(value: object) -> Decimal:
    try:
        found = Decimal(str(value))
    except ArithmeticError as error:
        raise UsageError(f"{clean(str(value), 40)!r} are no points") from error
    if not found.is_finite() or not 0 <= found <= 10_000:
        raise UsageError(f"{clean(str(value), 40)} are no points")
    return found.normalize()


def _slug(text: str) -> str:
    return re.sub(r"\W+", "_", text.lower(), flags=re.A).strip("_") or "check"


def _without_magic(text: str) -> str:
    return re.sub(r"^\s*(?:[%!]|grader\.|\?).*$", "", text, flags=re.M)


def _hidden_apart(text: str) -> list[tuple[str, bool]]:
    """Part an nbgrader test cell in what students see and what they do not."""
    hidden = "".join(
        re.sub(r"^ *#.*(BEGIN|END) HIDDEN TESTS.*$", "", part, flags=re.M)
        for part in _HIDDEN.findall(text)
    )
    seen = _HIDDEN.sub("", text)
    parts = [(seen, False), (hidden, True)]
    return [(part, flag) for part, flag in parts if _parsed(_without_magic(part), "a test").body]


def _secret_lines(text: str, where: str) -> tuple[list[str], set[int]]:
    """Take out the markers of solutions, and return the lines and which of them are secret."""
    lines: list[str] = []
    secret: set[int] = set()
    inside = False
    for line in text.split("\n"):
        if _BEGIN.match(line) or _END.match(line):
            if inside == bool(_BEGIN.match(line)):
                raise UsageError(f"{where}: {line.strip()!r} has no partner")
            inside = not inside
            continue
        own = re.search(r"#+ *SOLUTION( NO PROMPT)?\s*$", line)
        lines.append(line[: own.start()].rstrip() if own else line)
        if inside or own:
            secret.add(len(lines))
    if inside:
        raise UsageError(f"{where}: a solution has no END SOLUTION")
    return lines, secret


def _ok_tests(tree: ast.Module, file: Path) -> Iterator[Test]:
    """Yield the tests of a file of otter's: doctests in a dictionary, or functions."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="test")], value=value):
                try:
                    about = ast.literal_eval(value)
                    cases = [case for suite in about["suites"] for case in suite["cases"]]
                    share = _points(about.get("points") or 1) / len(cases)
                    found = [(str(case["code"]), bool(case.get("hidden"))) for case in cases]
                    asked = [(doctest.DocTestParser().get_examples(c), h) for c, h in found]
                except (ValueError, TypeError, KeyError, ZeroDivisionError) as error:
                    raise UsageError(f"{file} is not a test of otter's: {error}") from error
                for examples, hidden in asked:
                    text = "".join(map(_as_assert, examples))
                    yield Test(_slug(file.stem), _parsed(text, file).body, share, hidden)
    yield from _pytest_tests(tree)


def _as_assert(example: doctest.Example) -> str:
    want, source = example.want.strip(), example.source.strip()
    if not want:
        return example.source
    return f"assert {source}\n" if want == "True" else f"assert ({source}) == ({want})\n"


def _pytest_tests(tree: ast.Module) -> Iterator[Test]:
    """Yield the test functions of a file, and the methods of its test classes."""
    for node in tree.body:
        above = f"{node.name}_" if isinstance(node, ast.ClassDef) else ""
        for one in node.body if isinstance(node, ast.ClassDef) else [node]:
            if not isinstance(one, ast.FunctionDef):
                continue
            called = {ast.unparse(d).partition("(")[0] for d in one.decorator_list}
            if one.name.startswith("test") or "test_case" in called:
                parameters = tuple(a.arg for a in one.args.args if a.arg != "self")
                title = (ast.get_docstring(one) or "").partition("\n")[0]
                decorators = tuple(
                    d for d in one.decorator_list if "test_case" not in ast.unparse(d)
                )
                yield Test(
                    _slug(above + one.name.removeprefix("test_")),
                    one.body,
                    title=title,
                    parameters=parameters,
                    decorators=decorators,
                )


def _of_folder(folder: Path) -> Source:
    """Read a folder: solutions, stubs of the same names, and pytest files."""
    found = [
        path
        for path in sorted(folder.rglob("*.py"))
        if not any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)
    ]
    if len(found) > _MAX_FILES:
        raise UsageError(f"{folder} holds more than {_MAX_FILES} Python files: give one assignment")
    source = Source(folder.name)
    solutions: dict[str, str] = {}
    others: dict[str, str] = {}
    tests: list[tuple[Path, ast.Module]] = []
    for path in found:
        text = _read(path)
        stem = re.sub(r"^solution_|_(solution|sol)$", "", path.stem)
        inside = _SOLUTIONS.intersection(path.relative_to(folder).parts[:-1])
        if path.stem.startswith("test_") or path.stem.endswith("_test"):
            tests.append((path, _parsed(text, path)))
        elif path.stem == "conftest":
            source.rows.append(Row("conftest.py", "dropped", "a suite has no fixtures of its own"))
        elif inside or stem != path.stem or re.search(_BEGIN.pattern, text):
            if stem in solutions:
                raise UsageError(f"{folder} holds two solutions of {stem}")
            solutions[stem] = text
        else:
            others[stem] = text
    if not solutions:
        raise UsageError(f"{folder} holds no solutions: put them into a folder {folder}/solutions")
    for readme in sorted(folder.glob("*.md")):
        source.handout += _read(readme) + "\n\n"
    used = {name for text in solutions.values() for name in _names_of_modules(text)}
    for stem, text in others.items():
        if stem in solutions:
            continue
        if stem in used:
            source.provided[stem] = text
            source.rows.append(Row(f"{stem}.py", "carried", "as provided code"))
        else:
            source.rows.append(Row(f"{stem}.py", "dropped", "no solution has its name or uses it"))
    for stem in _in_order(solutions):
        text = _imports_changed(solutions[stem], solutions, source.provided)
        lines, secret = _secret_lines(text, f"{stem}.py")
        text = "\n".join(lines)
        tree = _parsed(text, f"{stem}.py")
        stub = others.get(stem)
        secret = secret or _differing(tree, _parsed(stub, f"{stem}.py") if stub else None)
        if not secret:
            raise UsageError(f"the stub and the solution of {stem} do the same")
        source.components.append(Component(stem, text, secret, tree.body))
    for path, tree in tests:
        _deal_out(path, tree, source)
    return source


def _names_of_modules(text: str) -> set[str]:
    return {name.rpartition(".")[2] for name in imports_of(_parsed(text, "a solution").body)}


def _in_order(solutions: dict[str, str]) -> list[str]:
    """Return the names of solutions, each behind those that it imports."""
    needs = {name: _names_of_modules(text) & solutions.keys() for name, text in solutions.items()}
    order: list[str] = []
    while left := [name for name in needs if name not in order]:
        ready = [name for name in left if needs[name] <= {*order, name}]
        if not ready:
            raise UsageError(f"the solutions {', '.join(left)} import one another in a circle")
        order += ready
    return order


def _imports_changed(text: str, solutions: Iterable[str], provided: Iterable[str]) -> str:
    """Import components by their file names, and provided code from `provided`."""

    def changed(found: re.Match[str]) -> str:
        name = found[2].rpartition(".")[2]
        if name in provided:
            return f"{found[1]}from provided.{name} import"
        return f"{found[1]}from {name} import" if name in solutions else found[0]

    return re.sub(r"^( *)from +([\w.]+) +import", changed, text, flags=re.M)


def _differing(tree: ast.Module, stub: ast.Module | None) -> set[int]:
    """Return the lines of all functions whose body differs in the stub."""

    def functions(of: ast.AST) -> dict[str, ast.FunctionDef]:
        found = {}
        for node in ast.iter_child_nodes(of):
            if isinstance(node, ast.FunctionDef):
                found[node.name] = node
            elif isinstance(node, ast.ClassDef):
                found |= {f"{node.name}.{name}": one for name, one in functions(node).items()}
        return found

    given = {} if stub is None else functions(stub)
    return {
        line
        for name, node in functions(tree).items()
        if name not in given or ast.dump(given[name]) != ast.dump(node)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def _deal_out(path: Path, tree: ast.Module, source: Source) -> None:
    """Give each test of a file to the component that it uses."""
    known = {one.name: one for one in source.components}
    imported = {name.rpartition(".")[2] for name in imports_of(tree.body)}
    froms = (node for node in tree.body if isinstance(node, ast.ImportFrom))
    imported |= {alias.name for node in froms for alias in node.names}
    for test in _pytest_tests(tree):
        names = names_in(ast.Module(test.body, []))
        using = [
            one
            for one in source.components
            if one.name in imported
            and names & {one.name, *(n for kept in one.kept for n in names_in(kept, ast.Store))}
        ]
        if len(using) == 1 or len(known) == 1:
            one = (using or source.components)[0]
            one.tests.append(test)
            one.around += [node for node in tree.body if node not in one.around]
        else:
            why = "it uses several components" if using else "it uses no component by its name"
            code = ast.unparse(ast.Module(test.body, []))
            (using or source.components)[-1].left.append((f"test {test.name}", why, code))


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _lines_of(node: ast.stmt) -> set[int]:
    return set(range(_first_line(node), (node.end_lineno or node.lineno) + 1))


def _kept(body: list[ast.stmt], secret: set[int], source: Source) -> list[ast.stmt]:
    """Return what of a notebook makes the component: solutions, and what they use."""
    answers = [n for n in body if _lines_of(n) & secret and not isinstance(n, _Import)]
    kept: list[ast.stmt] = []
    for node in answers:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            kept.append(node)
        else:
            what = clean(ast.unparse(node), 60)
            source.rows.append(Row(what, "to do", "no function: a criterion asks functions"))
    others = [node for node in body if node not in answers]
    while more := [
        node for node in others if node not in kept and names_in(node, ast.Store) & free_names(kept)
    ]:
        kept += more
    for node in others:
        if node not in kept and not isinstance(node, _Import):
            source.rows.append(Row(clean(ast.unparse(node), 60), "dropped", "no solution uses it"))
    return [node for node in body if node in kept]


# Writing.


def _solution(component: Component) -> str:
    """Return the text of a solution, with markers around what students do not get."""
    lines = component.text.split("\n")
    begins: dict[int, str] = {}
    ends: dict[int, str] = {}
    regions: list[tuple[ast.stmt, ast.stmt]] = []
    for top in component.kept:
        of_class = top.body if isinstance(top, ast.ClassDef) else []
        for node in of_class or [top]:
            if _lines_of(node) & component.secret:
                if isinstance(node, ast.FunctionDef):
                    regions.append(_region(node.body, component.secret))
                elif of_class and not _is_text(node):
                    regions.append((node, node))
    for first, last in regions:
        indent = " " * first.col_offset
        begins[_first_line(first)] = f"{indent}### BEGIN SOLUTION"
        ends[last.end_lineno or last.lineno] = f"{indent}### END SOLUTION"
    text = []
    for top in component.kept:
        block = []
        for number in sorted(_lines_of(top)):
            block += [begins[number]] if number in begins else []
            block.append(lines[number - 1])
            block += [ends[number]] if number in ends else []
        apart = isinstance(top, ast.FunctionDef | ast.ClassDef)
        text += ["\n\n" * apart + "\n".join(block) + "\n\n" * apart]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(text)).strip("\n") + "\n"


def _region(body: list[ast.stmt], secret: set[int]) -> tuple[ast.stmt, ast.stmt]:
    """Return the first and the last statement of a function that stand for its solution."""
    if len(body) > 1 and _is_text(body[0]):
        body = body[1:]
    touched = [node for node in body if _lines_of(node) & secret] or body
    inner: list[ast.stmt] = getattr(touched[0], "body", [])
    alone = len(touched) == 1 and not isinstance(touched[0], ast.FunctionDef | ast.ClassDef)
    if alone and inner and _lines_of(touched[0]) & secret <= set().union(*map(_lines_of, inner)):
        return _region(inner, secret)
    return touched[0], touched[-1]


def _files(source: Source, name: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the modules of the assignment by their paths, and what the templates are filled with.

    What is noted meanwhile completes the table.
    """
    public, secret = (f"{part}/{name}" for part in FOLDERS)
    heading = re.search(r"^# +(.+)", source.handout, re.M)
    title = clean(heading[1] if heading else "", 100) or name
    handout = source.handout.strip() or f"# {title}\n\n{MARK}: what students build here."
    names = [component.name for component in source.components]
    files = {f"{public}/provided/{stem}.py": text for stem, text in source.provided.items()}
    components: list[dict[str, object]] = []
    modules: set[str] = set()
    for component in source.components:
        try:
            check_component_name(component.name)
        except ValueError as error:
            raise UsageError(f"a component cannot be called so: {error}") from error
        imported = [one.partition(".")[0] for one in imports_of(component.kept)]
        modules.update(imported)
        uses = [one for one in dict.fromkeys(imported) if one in names and one != component.name]
        for used in uses:
            files[f"{secret}/stand_ins/{used}.py"] = (
                f'"""{MARK}: a working {used} of other make than the solution; see the page for '
                'authors, Stand-ins."""\n'
            )
        files[f"{secret}/{component.name}.py"] = _solution(component)
        points, suites = _suites(component, source)
        components.append({"name": component.name, "points": points or 1, "uses": uses})
        for part, text in zip((public, secret), suites, strict=True):
            files[f"{part}/tests/test_{component.name}.py"] = text
    own = {*names, "provided", "torch", "numpy", *sys.stdlib_module_names, *_TOOLS}
    distributions = importlib.metadata.packages_distributions()
    for one in sorted(modules - own - distributions.keys()):
        source.rows.append(Row(f"import {one}", "to do", "is not installed here"))
    return files, {
        "name": name,
        "title": title,
        "handout": handout,
        "seed": new_seed(),
        "packages": [
            distributions[one][0] for one in sorted(modules - own) if one in distributions
        ],
        "components": components,
        "torch": any("import torch" in text for text in files.values()),
        "introduction": handout.replace("\n# ", "\n### ").lstrip("# "),
        "questions": [
            (
                question,
                f"{worth:f} point{'' if worth == 1 else 's'}",
                re.sub(r"^# ", "### ", asked, flags=re.M),
                re.sub(r"^#+ ", "", answer, flags=re.M),
            )
            for question, worth, asked, answer in source.questions
        ],
    }


def _suites(component: Component, source: Source) -> tuple[Decimal, list[str]]:
    """Return the points of a component, and the texts of its public and its hidden suite."""
    subject = Subject.of(ast.Module(component.kept, []))
    texts: list[list[str]] = [[], []]
    around: list[list[ast.stmt]] = [[], []]
    total = Decimal(0)
    taken: set[str] = set()
    left = list(component.left)
    for test in component.tests:
        code = ast.unparse(ast.Module(test.body, []))
        points = test.points or Decimal(1)
        try:
            text, needed, rest = _criterion(test, component, subject, source, points, taken)
        except NotCarried as reason:
            left.append((f"test {test.name} ({points:f} points)", str(reason), code))
            continue
        texts[test.hidden].append(text)
        around[test.hidden] += [node for node in needed if node not in around[test.hidden]]
        left += [(f"a part of test {test.name}", why, part) for part, why in rest]
        total += points
        seen = "hidden" if test.hidden else "public"
        source.rows.append(Row(f"test {test.name}", "carried", f"{points:f} points, {seen}"))
    for what, why, code in left:
        source.rows.append(Row(what, "to do", why))
        lines = [f"# {MARK}: {what} is not carried: {why}", *code.splitlines()]
        texts[1].append("\n".join([lines[0], *(f"# {line}".rstrip() for line in lines[1:])]))
    if not total:
        source.rows.append(Row(component.name, "to do", "it has no criterion: write one"))
    suites = []
    for kind, found, nodes in zip(("Public", "Hidden"), texts, around, strict=True):
        head = [f'"""{kind} checks of {component.name}.py."""']
        imports = [ast.unparse(n) for n in nodes if isinstance(n, _Import)]
        head += ["\n".join(sorted({"import pytest", *imports}))]
        head += [ast.unparse(n) for n in nodes if not isinstance(n, _Import)]
        suites.append("\n\n\n".join(["\n\n".join(head), *found]) + "\n")
    return total, suites


def _criterion(
    test: Test,
    component: Component,
    subject: Subject,
    source: Source,
    points: Decimal,
    taken: set[str],
) -> tuple[str, list[ast.stmt], list[tuple[str, str]]]:
    """Return the text of a criterion, the statements that it needs above, and what it leaves."""
    cases = [d for d in test.decorators if ast.unparse(d).startswith("pytest.mark.parametrize")]
    drawn = {n.strip() for d in cases for n in re.split(r"[,\W]+", _first_text(d)) if n.strip()}
    for name in test.parameters:
        if name not in drawn | subject.names:
            raise NotCarried(f"it needs the fixture `{name}`")
    if drawn & _FIXTURES:
        raise NotCarried(f"`{min(drawn & _FIXTURES)}` is the name of a fixture")
    if len(cases) < len(test.decorators):
        raise NotCarried("it has a mark or a decorator that a criterion cannot have")
    modules = {component.name}
    for node in component.around:
        for alias in node.names if isinstance(node, _Import) else ():
            if alias.name.rpartition(".")[2] == component.name:
                modules.add(alias.asname or alias.name)
    asserts = [n for n in test.body if isinstance(n, ast.Assert)]
    stated = ast.unparse(asserts[0].test) if asserts else test.name.replace("_", " ")
    documented = ast.get_docstring(ast.Module(test.body, [])) or ""
    title = test.title or documented.partition("\n")[0] or stated
    if test.hidden:
        title = f"further checks of {test.name.replace('_', ' ')}"
    found = rewrite(test.body, subject, modules)
    needs = free_names([*found.body, *(ast.Expr(d) for d in cases)]) - {*_FIXTURES, *drawn}
    needed = _above(needs, component.around, subject)
    name = f"test_{test.name}"
    while name in taken:
        name += "_more"
    taken.add(name)
    fixtures = ["component", "expect", *(["make"] if found.draws else []), *sorted(drawn)]
    form = ", form=True" if found.form else ""
    cited = json.dumps(clean(source.origin, 60), ensure_ascii=False)
    mark = f"@pytest.mark.criterion(points={points:f}{form}, source={cited})"
    words = clean(title, 90).rstrip(".").replace("\\", "/").replace('"', "'") or test.name
    body = ast.unparse(ast.fix_missing_locations(ast.Module(found.body, [])))
    text = [*(f"@{ast.unparse(d)}" for d in cases), f"def {name}({', '.join(fixtures)}):"]
    text += [f'    """{words}"""', *(f"    {line}" for line in body.splitlines())]
    return "\n".join([mark, *text]), needed, found.left


def _first_text(decorator: ast.expr) -> str:
    """Return the names of the parameters of a parametrized test, as it writes them."""
    return ast.unparse(decorator.args[0]) if isinstance(decorator, ast.Call) else ""


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _above(names: set[str], around: list[ast.stmt], subject: Subject) -> list[ast.stmt]:
    """Return the statements that bind names which a test reads, and what these need in turn."""
    needed: list[ast.stmt] = []
    for name in sorted(names):
        binding = [node for node in around if name in names_in(node, ast.Store)]
        if not binding and name in _USUAL:
            binding = ast.parse(_USUAL[name]).body
        if not binding:
            raise NotCarried(f"`{name}` is defined nowhere that a suite can read")
        for node in binding:
            if isinstance(node, _Import):
                bad = {m.partition(".")[0] for m in imports_of([node])} - _SUITE_MODULES
                if bad:
                    raise NotCarried(f"it imports `{min(bad)}`, which a suite cannot")
            elif names_in(node) & subject.names:
                raise NotCarried(f"`{name}` is made by the component's own code")
            else:
                needed += _above(free_names([node]), around, subject)
        needed += binding
    return needed
