"""Collect an assignment's suites: pytest finds tests, Hypothesis draws, a `Suite` comes back.

A test file is read before: what would not mean the same to everyone who is asked is refused.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from unittest import mock

import hypothesis
import pytest
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.internal.conjecture import providers

from autograder.api.criterion import EXAMPLES, MARKER, criterion_of
from autograder.api.rules import resolve
from autograder.api.run import VIEWS, drawings_of
from autograder.api.scopes import dotted_name
from autograder.assignment import Assignment
from autograder.judge.cache import Cache
from autograder.judge.places import cache_folder
from autograder.judge.reference import ReferenceSession, solution_of, workplace
from autograder.judge.suite import FIXTURES, Case, Check, Suite, SuiteFault
from autograder.text import did_you_mean

# None of these is needed to collect, and some cost seconds.
_QUIET = (
    *("terminal", "cacheprovider", "faulthandler", "unraisableexception", "threadexception"),
    *("logging", "warnings", "capture", "junitxml", "pastebin", "doctest", "unittest", "nose"),
    *("hypothesispytest", "stepwise", "debugging", "recwarn", "monkeypatch", "tmpdir"),
)
# What a test file may import, and what it may do with a component.
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


def collect(
    assignment: Assignment,
    seed: int | None = None,
    *,
    only: str = "",
    lenient: bool = False,
    tell: Callable[[str], None] = lambda words: None,
    cache: Cache | None = None,
) -> Suite:
    """Collect the public and the hidden suite and grade the solutions, which draws the examples.

    Args:
        assignment: whose.
        seed: seeds the examples; by default the assignment's own.
        only: the one component whose tests are collected; by default all are.
        lenient: where a solution loses a criterion, or the points do not add up, note it in the
            suite's `losses` and `faults`, and go on.
        tell: is told what is being done.
        cache: where the solutions' answers are kept; by default the user's own.

    Raises:
        SuiteFault: the suite is broken.
        ReferenceFault: a solution cannot be imported, or fails where it is compared with.
    """
    cache = Cache(cache_folder()) if cache is None else cache
    tell("collecting the tests")
    _check_files(assignment)
    _load_profile()
    checks = _checks_of(assignment, only)
    wrong_points = list(_wrong_points(assignment, checks))
    if wrong_points and not lenient:
        raise SuiteFault(wrong_points[0])
    for check in (check for found in checks.values() for check in found if check.is_property):
        hypothesis.seed(assignment.seed if seed is None else seed)(check.function)
    references = {name: ReferenceSession(solution_of(assignment, name)) for name in checks}
    suite = Suite(checks, references, drawings_of(assignment.public / "tests"), lenient)
    suite.faults += wrong_points
    with warnings.catch_warnings(), workplace(assignment), _drawing_alike():
        warnings.simplefilter("ignore")
        for component in checks:
            key = cache.key_of(assignment, component, f"examples of seed {seed}")
            suite.faults += suite.only_form(component)
            if suite.restore(component, cache.load(key)):
                continue
            tell(f"drawing examples and asking the solution: {component}")
            suite.meet(component, solution_of(assignment, component))
            suite.replay(component, solution_of(assignment, component))
            if not suite.losses:
                cache.save(key, suite.kept(component))
    return suite


def _load_profile() -> None:
    """Have Hypothesis draw few examples and keep none; tests take it up when they are imported."""
    hypothesis.settings.register_profile(
        "gradeformer-judge",
        max_examples=EXAMPLES,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.load_profile("gradeformer-judge")
    # Else its table of characters would be left in the folder that the command is run in.
    kept = cache_folder()
    set_hypothesis_home_dir(os.devnull if kept is None else kept / "hypothesis")


def _checks_of(assignment: Assignment, only: str) -> dict[str, list[Check]]:
    """Return the tests of all components, or of one, by component."""
    public, hidden = assignment.public / "tests", assignment.secret / "tests"
    # First, because a test that imports what it may not is told so.
    pattern = f"test_{only or '*'}.py"
    tests = [path for folder in (public, hidden) for path in sorted(folder.glob(pattern))]
    for path in [*tests, public / VIEWS] if (public / VIEWS).is_file() else tests:
        for complaint in complaints(path, public=path.is_relative_to(public)):
            raise SuiteFault(complaint)
    totals = {name: points for name, points in assignment.totals.items() if only in ("", name)}
    return _filed(_found_in([public, hidden], tests if only else []), public, totals)


@contextlib.contextmanager
def _drawing_alike() -> Iterator[None]:
    """Have Hypothesis draw the same whatever else is imported.

    Among its examples are numbers that stand in the text of any module outside site-packages: the
    marks would depend on how this package is installed, and on who collects.
    """
    if not hasattr(providers, "_get_local_constants"):
        # An older Hypothesis draws nothing of the kind.
        yield
        return
    from hypothesis.internal.constants_ast import Constants

    none = Constants()
    # What it has drawn before in this process is kept apart, too.
    unused = type(providers.CONSTANTS_CACHE)(1024)
    with mock.patch.multiple(providers, _get_local_constants=lambda: none, CONSTANTS_CACHE=unused):
        yield


def _wrong_points(assignment: Assignment, checks: Mapping[str, Sequence[Check]]) -> Iterator[str]:
    for spec in assignment.components:
        if spec.name not in checks:
            continue
        # As they are written: a tenth has no exact float.
        points = sum(
            (Decimal(str(check.criterion.points)) for check in checks[spec.name]), Decimal()
        )
        if points != spec.points:
            yield (
                f"the criteria of {spec.name} add up to {_written(points)} points, "
                f"assignment.toml gives it {_written(spec.points)}"
            )


def _written(points: Decimal) -> str:
    return f"{points.normalize():f}"


def _check_files(assignment: Assignment) -> None:
    """See that everything is there that a suite is about."""
    for folder in (assignment.public / "tests", assignment.secret / "tests"):
        if not folder.is_dir():
            raise SuiteFault(f"there is no {folder}: put the tests there")
    used = {name for spec in assignment.components for name in spec.uses}
    for name in sorted(used):
        if not assignment.stand_in(name).is_file():
            raise SuiteFault(
                f"there is no stand-in {assignment.stand_in(name)}, which components that use "
                f"{name} are graded with when it is broken"
            )
    for spec in assignment.components:
        for dotted in spec.rules.functions:
            try:
                resolve(dotted)
            except LookupError as error:
                raise SuiteFault(f"assignment.toml, {spec.name}, functions: {error}") from error


class _Collector:
    """Keeps what pytest collects."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []
        self.fault = ""

    def pytest_configure(self, config: pytest.Config) -> None:
        """Declare the marker, so that it is none that is unknown."""
        config.addinivalue_line("markers", MARKER)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep the tests."""
        self.items = list(session.items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a test file that cannot be collected."""
        if report.failed and not self.fault:
            last = str(report.longrepr).strip().splitlines()[-1]
            self.fault = f"{report.nodeid} cannot be collected: {last}"


def _found_in(folders: list[Path], files: Sequence[Path] = ()) -> list[pytest.Function]:
    """Return the tests in these folders, or in these files of theirs, in order."""
    collector = _Collector()
    arguments = [f"-pno:{name}" for name in _QUIET]
    arguments += ["--import-mode=importlib", "--assert=plain", "--rootdir", str(folders[0])]
    arguments += ["-c", os.devnull, "--noconftest", "--collect-only", *map(str, files or folders)]
    loaded = set(sys.modules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = pytest.main(arguments, plugins=[collector])
    # Another assignment's test files have the same names.
    for name in set(sys.modules) - loaded:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if any(Path(file).is_relative_to(folder) for folder in folders):
            del sys.modules[name]
    if collector.fault:
        raise SuiteFault(collector.fault)
    if code != pytest.ExitCode.OK:
        raise SuiteFault(f"pytest found no tests to collect (it ended with {code})")
    functions = [item for item in collector.items if isinstance(item, pytest.Function)]
    for other in collector.items:
        if other not in functions:
            raise SuiteFault(f"{other.path.name}: {other.name} is no test function")
    return functions


def _filed(
    items: Iterable[pytest.Function], public: Path, totals: dict[str, float]
) -> dict[str, list[Check]]:
    """File every test under its component, public ones first; cases of one test together."""
    checks: dict[str, list[Check]] = {name: [] for name in totals}
    known: dict[str, tuple[Path, Check]] = {}
    for item in items:
        # Whatever is not surely public is hidden.
        visibility = "public" if item.path.is_relative_to(public) else "hidden"
        try:
            criterion = criterion_of(item, visibility)
        except pytest.UsageError as error:
            raise SuiteFault(str(error)) from error
        if criterion.component not in checks:
            raise SuiteFault(f"{item.path.name} is about no component of the assignment")
        case = Case()
        if hasattr(item, "callspec"):
            case = Case(item.callspec.id, dict(item.callspec.params))
        path, check = known.get(criterion.id, (item.path, None))
        if check is None:
            fixtures = _fixtures_of(item, criterion.id, case)
            check = Check(criterion, item.obj, fixtures)
            if criterion.examples != EXAMPLES and not check.is_property:
                raise SuiteFault(f"{criterion.id}: nothing is drawn for it: leave out examples=")
            known[criterion.id] = (item.path, check)
            checks[criterion.component].append(check)
        elif path != item.path or not case.name:
            raise SuiteFault(f"two criteria are called {criterion.id}")
        check.cases.append(case)
    for name, found in checks.items():
        if not found:
            raise SuiteFault(f"no test is about {name}: write test_{name}.py")
    return checks


def _fixtures_of(item: pytest.Function, name: str, case: Case) -> tuple[str, ...]:
    """Return the fixtures that a test takes.

    Raises:
        SuiteFault: it wants what the judge does not have.
    """
    if item.cls is not None:
        raise SuiteFault(f"{name}: a criterion is a plain function, not a method of a class")
    for mark in item.iter_markers():
        if mark.name not in ("criterion", "parametrize"):
            raise SuiteFault(f"{name}: the judge does not know the mark {mark.name!r}")
    # Those that apply by themselves, or by way of a mark, are among them.
    for wanted in item.fixturenames:
        if wanted not in FIXTURES and wanted not in case.parameters:
            meant = did_you_mean(wanted, FIXTURES)
            near = f": {meant}" if meant else ""
            raise SuiteFault(
                f"{name}: there is no fixture {wanted!r}{near}; a test may ask for "
                f"{', '.join(FIXTURES)}"
            )
    taken = inspect.signature(item.obj).parameters
    return tuple(fixture for fixture in FIXTURES if fixture in taken)


def complaints(path: Path, public: bool = False) -> Iterator[str]:
    """Yield one sentence for every place in a test file that must not be there.

    Args:
        path: the file.
        public: whether it is released, and cannot compare with the reference.
    """
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError) as error:
        yield f"{_shown(path)} cannot be read: {str(error).replace('<unknown>, ', '')}"
        return
    for node in ast.walk(tree):
        where = f"{_shown(path)}, line {getattr(node, 'lineno', 0)}"
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


def _shown(path: Path) -> str:
    """Return a test file by its place in the project: a public and a hidden one have one name."""
    return "/".join(path.parts[-4:])


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
    name = dotted_name(node.func)
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
