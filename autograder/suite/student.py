"""Run the public suite in the student's own `pytest`, on the modules beside it."""

from __future__ import annotations

import contextlib
import functools
import inspect
import traceback
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis.errors import Flaky

from autograder.exchange.guard import PROVIDED, Guard, belongs_to
from autograder.exchange.messages import StudentError
from autograder.exchange.names import NameGuard
from autograder.exchange.rules import Rules
from autograder.suite.answer import StudentRaised
from autograder.suite.component import Component
from autograder.suite.condensed import MORE, condensed
from autograder.suite.criterion import MARKER, Criterion, component_of, criterion_of
from autograder.suite.expect import Expect
from autograder.suite.known_mistakes import read_known
from autograder.suite.local import LocalSession, Terms
from autograder.suite.make import Make
from autograder.suite.page import Line, document
from autograder.suite.run import Run, drawings_of
from autograder.suite.tally import HIDDEN_CHECKS, Tally
from autograder.suite.upstream import Upstream
from autograder.suite.wording import error_words, find, forbidden_words, lines_of
from autograder.text import clean

_LETTERS = {
    "not attempted": ("n", ("NOT ATTEMPTED", {"yellow": True})),
    "missing": ("m", ("MISSING", {"yellow": True})),
    "upstream": ("u", ("UPSTREAM", {"yellow": True})),
    "not run": ("-", ("NOT RUN", {"red": True})),
}


def _unseen(excinfo: object, style: object = None) -> str:
    return ""


class StudentPlugin:
    """Points and plain words instead of tracebacks.

    Args:
        folder: where the student's component files are.
        terms: those of every component, in order.
        known: the table of known mistakes, where there is one.
        page: where to write the results as HTML, if they are wanted so.
        stand_ins: working components, by name, for those that others use.
    """

    def __init__(
        self,
        folder: Path,
        terms: Mapping[str, Terms],
        known: Path | None = None,
        page: Path | None = None,
        stand_ins: Mapping[str, str] | None = None,
    ) -> None:
        self._run = Run(self.session)
        self._known = {} if known is None else read_known(known)
        self._page = page
        self._guard = Guard(folder, (), ours=(PROVIDED, "tests"))
        self._names: NameGuard | None = None
        self._enforced = Rules()
        self._tested = ""
        self._folder = folder
        self._terms = terms
        self._sessions: dict[str, LocalSession] = {}
        self._criteria: dict[str, Criterion] = {}
        self._upstream = Upstream(folder, terms, stand_ins or {})
        # What an example ran into that is not written yet; there is nothing to be made smaller.
        self._unwritten: StudentRaised | None = None
        self._condenses = False
        self._tally = Tally(terms, {n: w for k in self._known.values() for n, w in k.worth.items()})

    @pytest.fixture
    def component(self, request: pytest.FixtureRequest) -> Component:
        """The component under test, named by the test file."""
        return self._run.component(component_of(request.path))

    @pytest.fixture
    def expect(self) -> Expect:
        """Expectations that fail in words a student understands."""
        return Expect(self._run.coarse)

    @pytest.fixture
    def make(self) -> Make:
        """Seeded tensors."""
        return Make()

    def session(self, component: str) -> LocalSession:
        """Import the component at its first use."""
        if component not in self._sessions:
            self._tested = component
            self._enforce(self._terms[component].rules)
            program = self._terms[component].program
            self._sessions[component] = LocalSession(self._folder, component, program)
        return self._sessions[component]

    def _is_others(self, file: str) -> bool:
        """Tell whether a file is another component's than the one that is tested."""
        name = file.removesuffix(".py")
        return name in self._terms and name != self._tested

    def _enforce(self, rules: Rules) -> None:
        """Refuse what one component may not use, and nothing else."""
        if self._names is not None:
            self._names.enforce([*rules.modules, *rules.functions])
        if rules.operations != self._enforced.operations:
            self._guard.uninstall()
            self._guard.forbid(rules.operations)
            self._guard.install(reversible=True)
        self._enforced = rules

    def pytest_configure(self, config: pytest.Config) -> None:
        """Draw the same examples in every run, and shrink the one that fails."""
        config.addinivalue_line("markers", MARKER)
        self._condenses = config.getoption("verbose") < 1
        rules = [terms.rules for terms in self._terms.values()]
        modules = [name for rule in rules for name in rule.modules]
        functions = [name for rule in rules for name in rule.functions]
        self._names = self._guard.refuse_names(modules, functions, False, self._is_others)
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate, hypothesis.Phase.shrink]
        hypothesis.settings.register_profile(
            "gradeformer-student",
            max_examples=30,
            phases=phases,
            deadline=None,
            database=None,
            derandomize=True,
            report_multiple_bugs=False,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        hypothesis.settings.load_profile("gradeformer-student")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Read every test's criterion; keep the components in the handout's order."""
        order = list(self._terms)
        for item in items:
            self._criteria[item.nodeid] = criterion_of(item, "public")
        items.sort(key=lambda item: order.index(component_of(item.path)))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip what cannot run: a file that is not there or cannot be imported."""
        component = component_of(item.path)
        self._tested = component
        self._enforce(self._terms[component].rules)
        file = f"{component}.py"
        if not (self._folder / file).is_file():
            self._tally.stopped[component] = ("missing", f"missing: there is no {file}")
        elif component not in self._tally.stopped:
            load_error = self.session(component).load_error
            if load_error is not None:
                words, other = error_words(load_error), load_error.file.removesuffix(".py")
                if other in self._terms[component].uses:
                    words += f"; repair {other} first"
                self._tally.stopped[component] = ("not run", words)
        if component in self._tally.stopped:
            pytest.skip(self._tally.stopped[component][1])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Begin the test; for a property, begin every example it draws."""
        self._unwritten = None
        with self._beginning(item):
            return (yield)

    @contextlib.contextmanager
    def _beginning(self, item: pytest.Item) -> Iterator[None]:
        self._run.begin({})
        handle = getattr(getattr(item, "obj", None), "hypothesis", None)
        if handle is None:
            yield
            return
        inner = handle.inner_test
        fixtures = set(getattr(item, "fixturenames", ()))

        @functools.wraps(inner)
        def noted(*args: Any, **kwargs: Any) -> None:
            self._run.begin({key: value for key, value in kwargs.items() if key not in fixtures})
            try:
                inner(*args, **kwargs)
            except StudentRaised as raised:
                if raised.error.kind != "NotAttempted":
                    raise
                self._unwritten = raised
                pytest.skip("not written yet")

        handle.inner_test = noted
        try:
            yield
        finally:
            handle.inner_test = inner

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, Any]:
        """Replace tracebacks through the test machinery by what the student needs to know."""
        if call.when == "call":
            # To write it out reads the sources of this machinery, and nobody would see it.
            item.repr_failure = _unseen  # type: ignore[method-assign]
        report: Any = yield
        criterion = self._criteria[item.nodeid]
        outcome = ""
        if call.when == "setup" and criterion.component in self._tally.stopped:
            outcome = "stopped"
            report.gradeformer = self._tally.stopped[criterion.component][0]
        elif call.when == "call":
            outcome = "passed"
            failure = None if call.excinfo is None else self._unwritten or call.excinfo.value
            if failure is not None and not self._because_of_others(item, report, failure):
                outcome = self._failed(report, criterion, failure)
            outcome = self._charged(report, criterion, outcome)
        if outcome:
            case = item.callspec.id if hasattr(item, "callspec") else ""
            self._tally.add(criterion, outcome, case)
        return report

    def _because_of_others(self, item: pytest.Item, report: Any, failure: BaseException) -> bool:
        """Tell whether a check passes with working components in the place of broken ones."""
        criterion = self._criteria[item.nodeid]
        error = failure.error if isinstance(failure, StudentRaised) else None
        own = error is not None and error.file == f"{criterion.component}.py"
        if error is not None and (
            error.kind == "Forbidden" or (own and error.kind == "NotAttempted")
        ):
            return False
        used = self._upstream.used_by(criterion.component)
        broken = [name for name in used if self._tally.broken(name)]
        if not broken or isinstance(failure, KeyboardInterrupt | pytest.exit.Exception):
            return False
        asked, drawn, plain = self._run.question, self._run.drawn, self._sessions
        # A working component may call what the student's may not.
        self._enforce(Rules())
        try:
            working = self._upstream.session(criterion.component, broken)
            if working is None:
                return False
            self._sessions = {**plain, criterion.component: working}
            call = item.obj  # type: ignore[attr-defined]
            given = item.funcargs  # type: ignore[attr-defined]
            with self._beginning(item):
                call(**{n: given[n] for n in inspect.signature(call).parameters if n in given})
        except (Exception, pytest.skip.Exception):
            return False
        finally:
            self._enforce(self._terms[criterion.component].rules)
            self._sessions = plain
            self._run.question, self._run.drawn = asked, drawn
        names = ", ".join(broken)
        report.outcome = "skipped"
        report.longrepr = (str(self._folder), 0, f"fails only because of {names}")
        report.gradeformer = "upstream"
        self._tally.follow(criterion, names)
        return True

    def _charged(self, report: Any, criterion: Criterion, outcome: str) -> str:
        """Fail what used something forbidden, even if nothing came of it: so does the grader."""
        file = f"{criterion.component}.py"
        used = [use for use in self._guard.uses() if use.file == file]
        if outcome != "passed" or not used:
            return outcome
        words = forbidden_words(used[0])
        report.outcome = "failed"
        report.longrepr = f"{criterion.title}\n{words}; a file that does so scores 0"
        self._tally.tell(criterion, [Line(words)])
        return "failed"

    def _failed(self, report: Any, criterion: Criterion, failure: BaseException) -> str:
        if isinstance(failure, KeyboardInterrupt | pytest.exit.Exception):
            return "failed"
        lines = [criterion.title, f"source: {criterion.source}"]
        if isinstance(failure, Flaky):
            lines.append("it answers the same call differently each time")
            outcome = "failed"
        else:
            found = find(failure, self._run.question)
            outcome = found.outcome
            fact, *more = lines_of(found.facts, found.hints)
            causes = self._causes(criterion, outcome)
            if causes:
                self._tally.recognised.add(criterion.id)
            told = [Line(fact), *(Line(words, cause=True) for words in causes), *map(Line, more)]
            self._tally.tell(criterion, told)
            leads = ["likely cause: ", *["or: "] * len(causes)]
            named = [lead + words for lead, words in zip(leads, causes, strict=False)]
            lines += [fact, *named, *more]
        if outcome == "not_attempted":
            report.outcome = "skipped"
            report.longrepr = (str(self._folder), 0, lines[-1])
            report.gradeformer = "not attempted"
            return outcome
        if self._run.drawn:
            shown = ", ".join(f"{key}={value!r}" for key, value in self._run.drawn.items())
            lines.append("smallest failing input: " + clean(shown))
        if isinstance(failure, StudentRaised):
            lines += self._student_traceback(criterion.component, failure.error)
        if not isinstance(failure, StudentRaised | AssertionError | Flaky):
            lines += [f"{type(failure).__name__}: {clean(str(failure))}"]
        report.longrepr = "\n".join(lines)
        return outcome

    def _causes(self, criterion: Criterion, outcome: str) -> list[str]:
        """Return the words of the known mistakes that may be behind a lost criterion."""
        known = self._known.get(criterion.component)
        if known is None or outcome == "not_attempted":
            return []
        session = self.session(criterion.component)
        # Its questions come after the one that failed, whose traceback is still to be shown.
        raised = session.executor.raised
        causes = known.causes(criterion.id, session)
        session.executor.raised = raised
        return causes

    def _student_traceback(self, component: str, error: StudentError) -> list[str]:
        raised = self.session(component).executor.raised
        if raised is None:
            return []
        folder = str(self._folder)
        # Neither torch's own lines nor those of this machinery say anything to the student.
        shown = [
            frame
            for frame in traceback.extract_tb(raised.__traceback__)
            if belongs_to(frame.filename, folder)
            and not belongs_to(frame.filename, str(self._folder / "tests"))
        ]
        return "".join(traceback.format_list(shown)).splitlines()

    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, Any] | None:
        """Count what was not attempted apart from what failed."""
        found = getattr(report, "gradeformer", None)
        return (found, *_LETTERS[found]) if found else None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, Any, Any]:
        """Show the first failures of every component; close with one line a component."""
        stats = terminalreporter.stats
        held = {
            name: stats.pop(name)
            for name in ("failed", "warnings")
            if self._condenses and name in stats
        }
        result = yield
        stats.update(held)
        if not self._tally.components:
            return result
        failures: dict[str, list[list[str]]] = {}
        for report in held.get("failed", ()):
            component = self._criteria[report.nodeid].component
            failures.setdefault(component, []).append(str(report.longrepr).splitlines())
        if failures:
            terminalreporter.section("failed checks")
        for line in condensed(failures):
            terminalreporter.write_line(line)
        terminalreporter.section("points on the public checks")
        for component in self._tally.components:
            terminalreporter.write_line(self._tally.line(component))
        terminalreporter.write_line(HIDDEN_CHECKS)
        if failures:
            terminalreporter.write_line(MORE)
        return result

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the page; what is not attempted is not a success."""
        if self._page is not None:
            pages = [self._page_of(component) for component in self._tally.components]
            self._page.write_text(document(pages), encoding="utf-8")
        if not self._tally.complete and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _page_of(self, component: str) -> str:
        drawn = self._tally.runs(component)
        views = self._run.views(component, drawings_of(self._folder / "tests")) if drawn else []
        return self._tally.page(component, views)
