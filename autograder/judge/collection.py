"""Collect an assignment's suites: pytest finds tests, Hypothesis draws, a `Suite` comes back.

A test file is read before: what would not mean the same to everyone who is asked is refused.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import hypothesis
import pytest
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.internal.conjecture import providers

from autograder.api.criterion import EXAMPLES, MARKER, Criterion, criterion_of
from autograder.api.run import VIEWS, drawings_of
from autograder.assignment import Assignment
from autograder.environment import alone
from autograder.errors import UsageError
from autograder.judge.cache import Cache
from autograder.judge.ordinary_files import component_of_file, is_ordinary, is_test_file
from autograder.judge.ordinary_suite import (
    OrdinaryCheck,
    checks_of,
    survey,
    twice_named,
)
from autograder.judge.places import cache_folder
from autograder.judge.reference import (
    ReferenceFault,
    ReferenceProcess,
    ReferenceSession,
    solution_of,
    workplace,
)
from autograder.judge.suite import FIXTURES, Case, Check, Suite, SuiteFault
from autograder.rules.forbidden import resolve
from autograder.rules.reader import dotted_name
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
        SuiteFault: the suite is broken; it says everything that is wrong with the test files.
        ReferenceFault: a solution cannot be imported, or fails where it is compared with.
    """
    cache = Cache(cache_folder()) if cache is None else cache
    tell("collecting the tests")
    _load_profile()
    names = [name for name in assignment.totals if only in ("", name)]
    keys = {n: cache.key_of(assignment, n, f"examples of seed {seed}") for n in names}
    with workplace(assignment):
        kept = {name: cache.load(key) for name, key in keys.items()}
    # Examples are kept of sound tests alone: these need not be read again.
    known = {f"test_{name}.py" for name, value in kept.items() if value is not None}
    references = {name: ReferenceSession(solution_of(assignment, name)) for name in names}
    modules = {name: found.module for name, found in references.items()}
    notes: list[str] = []
    checks, faults = _checks_of(assignment, only, known, modules, cache, notes)
    if faults := [*_missing(assignment), *faults]:
        raise SuiteFault(_listed(faults))
    wrong_points = list(_wrong_points(assignment, checks))
    if wrong_points and not lenient:
        raise SuiteFault(_listed(wrong_points))
    for check in (check for found in checks.values() for check in found if check.is_property):
        hypothesis.seed(assignment.seed if seed is None else seed)(check.function)
    suite = Suite(checks, references, drawings_of(assignment.public / "tests"), lenient)
    suite.faults += wrong_points
    with warnings.catch_warnings(), workplace(assignment), _drawing_alike():
        warnings.simplefilter("ignore")
        for component in checks:
            suite.faults += suite.only_form(component)
            if suite.restore(component, kept[component]):
                continue
            tell(f"drawing examples and asking the solution: {component}")
            with closing(ReferenceProcess(assignment, component)) as process:
                suite.meet(component, solution_of(assignment, component), process)
            suite.replay(component, solution_of(assignment, component))
            if not suite.losses:
                cache.save(keys[component], suite.kept(component))
    for check in suite.checks.values():
        if isinstance(check, OrdinaryCheck):
            notes += check.notes(suite.plans[check.criterion.id])
    suite.notes = notes
    return suite


def listed(assignment: Assignment) -> dict[str, dict[str, Criterion]]:
    """Return the public ordinary tests that count, by file and name.

    Raises:
        UsageError: the suite is broken.
    """
    found: dict[str, dict[str, Criterion]] = {}
    try:
        checks = collect(assignment, lenient=True).checks
    except (SuiteFault, ReferenceFault) as error:
        raise UsageError(f"the suite of {assignment.name} is broken: {error}") from error
    for check in checks.values():
        if isinstance(check, OrdinaryCheck) and check.criterion.visibility == "public":
            file, _, node = check.node.partition("::")
            name = ".".join(node.split("::"))
            found.setdefault(Path(file).name, {})[name] = check.criterion
    return found


def _load_profile() -> None:
    """Have Hypothesis draw few examples and keep none; tests take it up when they are imported."""
    # Not from the profile in force, which Hypothesis chooses by the environment.
    hypothesis.settings.register_profile(
        "gradeformer-judge",
        hypothesis.settings.get_profile("default"),
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


def _listed(faults: Iterable[str]) -> str:
    """Return the only fault as it is, or the number of faults and a line for each."""
    first, *others = dict.fromkeys(faults)
    return "\n  ".join([f"{1 + len(others)} faults", first, *others]) if others else first


def _checks_of(
    assignment: Assignment,
    only: str,
    known: Collection[str],
    modules: Mapping[str, Any],
    cache: Cache,
    notes: list[str],
) -> tuple[dict[str, list[Check]], list[str]]:
    """Return the tests of all components, or of one, by component, and what is wrong with them.

    Files of the names in `known` are sound.
    """
    public, hidden = assignment.public / "tests", assignment.secret / "tests"
    for folder in (public, hidden):
        if not folder.is_dir():
            raise SuiteFault(f"there is no {folder}: put the tests there")
    below = [path for folder in (public, hidden) for path in sorted(folder.glob("*.py"))]
    files = [path for path in below if is_test_file(path)]
    pattern = f"test_{only or '*'}.py"
    ordinary = [path for path in files if is_ordinary(path)]
    tests = [path for path in files if path.match(pattern) and path not in ordinary]
    read = [*tests, public / VIEWS] if (public / VIEWS).is_file() else tests
    said = {
        path: [] if path.name in known else list(complaints(path, path.is_relative_to(public)))
        for path in read
    }
    faults = [fault for found in said.values() for fault in found]
    totals = {name: points for name, points in assignment.totals.items() if only in ("", name)}
    # What a test may not import would be told a second time, and less well, if it is not there.
    sound = [path for path in tests if not said[path]]
    if faults and not sound:
        return {}, faults
    items, uncollected = _found_in([public, hidden], sound) if sound else ([], [])
    faults += uncollected
    checks, wrong = _filed(items, public, totals)
    faults += wrong
    faults += _add_ordinary(assignment, checks, ordinary, modules, cache, notes)
    if not faults:
        faults += [
            f"no test is about {name}: write test_{name}.py" for name in totals if not checks[name]
        ]
    return checks, faults


def _add_ordinary(
    assignment: Assignment,
    checks: dict[str, list[Check]],
    files: Sequence[Path],
    modules: Mapping[str, Any],
    cache: Cache,
    notes: list[str],
) -> list[str]:
    """Add the criteria of ordinary tests, public ones first; return what is wrong with them.

    What an author should know of them is added to `notes`.
    """
    faults: list[str] = []
    public = assignment.public / "tests"
    by_component: dict[str, list[tuple[Path, bool]]] = {}
    for path in files:
        component = component_of_file(assignment, path)
        if component is None:
            faults.append(
                f"{_shown(path)} is about no component of the assignment: name it "
                f'test_<component>.py, or say tests = ["{path.name}"] in assignment.toml'
            )
        elif component in checks:
            found = by_component.setdefault(component, [])
            found.append((path, path.is_relative_to(public)))
    for component, own in by_component.items():
        key = cache.key_of(assignment, component, "ordinary tests")
        others = [module for name, module in modules.items() if name != component]
        mine = [modules[component], *others]
        surveyed = cache.kept(key, functools.partial(survey, assignment, component, own, mine))
        faults += surveyed.faults
        given = sum(
            (Decimal(str(check.criterion.points)) for check in checks[component]), Decimal()
        )
        more, wrong, over = checks_of(assignment, component, surveyed, given, mine)
        notes += [f"{words}: it is no criterion, and has no points" for words in over]
        faults += wrong
        both = [*checks[component], *more]
        checks[component] = sorted(both, key=lambda check: check.criterion.visibility != "public")
        faults += twice_named(both)
    return faults


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


def _missing(assignment: Assignment) -> Iterator[str]:
    """Yield what a suite is about and is not there."""
    used = {name for spec in assignment.components for name in spec.uses}
    for name in sorted(used):
        if not assignment.stand_in(name).is_file():
            yield (
                f"there is no stand-in {assignment.stand_in(name)}, which components that use "
                f"{name} are graded with when it is broken"
            )
        own, given = assignment.own_stand_in(name), assignment.given_stand_in(name)
        if own.is_file() and given.is_file():
            yield f"both {own} and {given} stand in for {name}: keep one of them"
    for spec in assignment.components:
        for dotted in spec.rules.functions:
            try:
                resolve(dotted)
            except LookupError as error:
                yield f"assignment.toml, {spec.name}, functions: {error}"


class _Collector:
    """Keeps what pytest collects."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []
        self.faults: list[str] = []

    def pytest_configure(self, config: pytest.Config) -> None:
        """Declare the marker, so that it is none that is unknown."""
        config.addinivalue_line("markers", MARKER)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep the tests."""
        self.items = list(session.items)

    def pytest_exception_interact(
        self, node: pytest.Item | pytest.Collector, report: pytest.CollectReport
    ) -> None:
        """Note a test file that cannot be collected. The report alone does not name all of them."""
        last = str(report.longrepr).strip().splitlines()[-1].removeprefix("E ").strip()
        self.faults.append(f"{_shown(node.path)} cannot be collected: {last}")


def _found_in(
    folders: list[Path], files: Sequence[Path] = ()
) -> tuple[list[pytest.Function], list[str]]:
    """Return the tests in these folders, or in these files, in order; and what cannot be one."""
    collector = _Collector()
    arguments = [f"-pno:{name}" for name in _QUIET]
    arguments += ["--import-mode=importlib", "--assert=plain", "--rootdir", str(folders[0])]
    arguments += ["-c", os.devnull, "--noconftest", "--collect-only", *map(str, files or folders)]
    loaded = set(sys.modules)
    with warnings.catch_warnings(), alone():
        warnings.simplefilter("ignore")
        # Plugins that happen to be installed have no part in it, and take time to load.
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        code = pytest.main(arguments, plugins=[collector])
    # Another assignment's test files have the same names.
    for name in set(sys.modules) - loaded:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if any(Path(file).is_relative_to(folder) for folder in folders):
            del sys.modules[name]
    faults = collector.faults
    if code != pytest.ExitCode.OK and not faults:
        faults.append(f"pytest found no tests to collect (it ended with {code})")
    functions = [item for item in collector.items if isinstance(item, pytest.Function)]
    faults += [
        f"{other.path.name}: {other.name} is no test function"
        for other in collector.items
        if other not in functions
    ]
    return functions, faults


def _filed(
    items: Iterable[pytest.Function], public: Path, totals: dict[str, float]
) -> tuple[dict[str, list[Check]], list[str]]:
    """File every test under its component, public ones first; cases of one test together.

    Returns:
        the tests by component, and what is wrong with others.
    """
    checks: dict[str, list[Check]] = {name: [] for name in totals}
    known: dict[str, tuple[Path, Check]] = {}
    faults = []
    for item in items:
        # Whatever is not surely public is hidden.
        visibility = "public" if item.path.is_relative_to(public) else "hidden"
        try:
            criterion = criterion_of(item, visibility)
        except pytest.UsageError as error:
            faults.append(str(error))
            continue
        if criterion.component not in checks:
            faults.append(f"{item.path.name} is about no component of the assignment")
            continue
        case = Case()
        if hasattr(item, "callspec"):
            case = Case(item.callspec.id, dict(item.callspec.params))
        path, check = known.get(criterion.id, (item.path, None))
        if check is None:
            faults += _not_the_judges(item, criterion.id, case)
            taken = inspect.signature(item.obj).parameters
            fixtures = tuple(fixture for fixture in FIXTURES if fixture in taken)
            check = Check(criterion, item.obj, fixtures)
            if criterion.examples != EXAMPLES and not check.is_property:
                faults.append(f"{criterion.id}: nothing is drawn for it: leave out examples=")
            known[criterion.id] = (item.path, check)
            checks[criterion.component].append(check)
        elif path != item.path or not case.name:
            faults.append(f"two criteria are called {criterion.id}")
        check.cases.append(case)
    return checks, faults


def _not_the_judges(item: pytest.Function, name: str, case: Case) -> Iterator[str]:
    """Yield what a test has or wants that the judge does not know."""
    if item.cls is not None:
        yield f"{name}: a criterion is a plain function, not a method of a class"
    for mark in item.iter_markers():
        if mark.name not in ("criterion", "parametrize"):
            yield f"{name}: the judge does not know the mark {mark.name!r}"
    # Those that apply by themselves, or by way of a mark, are among them.
    for wanted in item.fixturenames:
        if wanted not in FIXTURES and wanted not in case.parameters:
            meant = did_you_mean(wanted, FIXTURES)
            near = f": {meant}" if meant else ""
            yield (
                f"{name}: there is no fixture {wanted!r}{near}; a test may ask for "
                f"{', '.join(FIXTURES)}"
            )


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
