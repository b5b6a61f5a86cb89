"""Run the public suite in the student's own `pytest`, on the modules beside it."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import hypothesis
import pytest
from hypothesis.errors import Flaky

from autograder.api.answer import StudentRaised
from autograder.api.component import Component, Session
from autograder.api.criterion import MARKER, Criterion, component_of, criterion_of
from autograder.api.executor import Executor
from autograder.api.expect import Expect
from autograder.api.lazy import loaded, torch
from autograder.api.make import Make
from autograder.api.messages import Reply, Request
from autograder.api.run import Run, drawings_of
from autograder.api.wording import error_words, find, forbidden_words, lines_of
from autograder.rules.files import main_file
from autograder.rules.forbidden import Rules, used_by
from autograder.rules.given import Given, spell
from autograder.rules.guard import PROVIDED, Guard
from autograder.rules.reader import Ordinary
from autograder.rules.reading import Finding, each_reading, instead, read
from autograder.student.local import (
    Terms,
    Upstream,
    may_be_upstream,
    noting_files,
    own_files,
    student_lines,
)
from autograder.student.memory import Memory
from autograder.student.ordinary import OrdinaryTests
from autograder.student.page import Line, document
from autograder.student.tally import HIDDEN_CHECKS, Condensed, Tally
from autograder.student.watch import LONGEST_S, Timeout, Watch
from autograder.text import clean

_LETTERS = {
    "not attempted": ("n", ("NOT ATTEMPTED", {"yellow": True})),
    "missing": ("m", ("MISSING", {"yellow": True})),
    "upstream": ("u", ("UPSTREAM", {"yellow": True})),
    "waiting": ("w", ("WAITING", {"yellow": True})),
    "not run": ("-", ("NOT RUN", {"red": True})),
    "given": ("g", ("GIVEN", {"red": True})),
    "held": ("h", ("HELD FOR REVIEW", {"yellow": True})),
}


# What a check that fails may raise.
_FAILURES = (Exception, pytest.skip.Exception)


def _held(finding: Finding) -> str:
    return f"{clean(finding.words)}; {instead(finding.what)}"


def _joined(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _unseen(excinfo: object, style: object = None) -> str:
    return ""


class Known(Protocol):
    """Names the known mistakes of components by what they answer."""

    def causes(self, component: str, criterion: str, session: Session) -> list[str]:
        """Return the words of the mistakes that a failed criterion may be due to."""


def load_profile() -> None:
    """Draw the same examples in every run, and shrink the one that fails."""
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


class Examples:
    """Begins every test, and every example of a property.

    Attributes:
        ended_by: the unwritten code or endless call that ended the last property; else None.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.ended_by: StudentRaised | None = None

    @contextlib.contextmanager
    def beginning(self, item: pytest.Item) -> Iterator[None]:
        """Begin a test; for a property, begin every example it draws."""
        self.ended_by = None
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
                if raised.error.kind != "NotAttempted" and not _is_endless(raised):
                    raise
                # There is nothing to be made smaller.
                self.ended_by = raised
                pytest.skip("not written yet, or endless")

        handle.inner_test = noted
        try:
            yield
        finally:
            handle.inner_test = inner


def out_of_the_ordinary(
    folder: Path, terms: Mapping[str, Terms], packages: Sequence[str] = ()
) -> dict[str, list[Finding]]:
    """Return what is out of the ordinary in what every component runs.

    Args:
        folder: where the student's component files are.
        terms: those of every component.
        packages: the modules that it may import beside torch and numpy.
    """
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*.py")
        if path.relative_to(folder).parts[0] not in (PROVIDED, "tests")
        and not any(part.startswith((".", "_")) for part in path.parent.parts[1:])
    }
    programs = [f"{name}.py" for name, one in terms.items() if one.program]
    kinds = {
        name: (one.ordinary, one.unusual, (*one.rules.modules, *one.rules.functions))
        for name, one in terms.items()
    }
    readings = each_reading(
        kinds,
        {name: one.uses for name, one in terms.items()},
        lambda kind: read(files, Ordinary(packages, [*terms, PROVIDED], programs, *kind)),
    )
    return {name: found.about(main_file(name, files), without) for name, found, without in readings}


class _Watched(Executor):
    """The student's component, of which a call that never ends is ended."""

    watch: Watch

    def perform(self, request: Request) -> Reply:
        with self.watch.over():
            return super().perform(request)


def _is_endless(failure: BaseException) -> bool:
    return isinstance(failure, StudentRaised) and Timeout.__name__ in failure.error.classes


class StudentPlugin:
    """Points and plain words instead of tracebacks.

    Args:
        folder: where the student's component files are.
        terms: those of every component, in order.
        known: what names known mistakes.
        page: where to write the results as HTML, if they are wanted so.
        stand_ins: working components, by name, for those that others use.
        packages: the modules that they may import beside torch and numpy.
        longest_s: how long one call may take.
        memory_mb: the memory that grading gives each component, where that is known.
        given: the text that students are given, which earns nothing.
        listed: the ordinary tests that count, by file and name.

    Attributes:
        folder: as given.
    """

    def __init__(
        self,
        folder: Path,
        terms: Mapping[str, Terms],
        known: Known | None = None,
        page: Path | None = None,
        stand_ins: Mapping[str, str] | None = None,
        packages: Sequence[str] = (),
        longest_s: float = LONGEST_S,
        memory_mb: Mapping[str, int] | None = None,
        given: Given | None = None,
        listed: Mapping[str, Mapping[str, Criterion]] | None = None,
    ) -> None:
        self._memory = Memory(memory_mb or {})
        self._run = Run(self.session)
        self._known = known
        self.folder = folder
        self._page = page
        rules = [one.rules for one in terms.values()]
        names = [name for rule in rules for name in (*rule.operations, *rule.functions)]
        self._guard = Guard(names, ours=(PROVIDED, "tests"))
        self._tested = ""
        self._packages = packages
        self._terms = terms
        self._sessions: dict[str, Executor] = {}
        self._criteria: dict[str, Criterion] = {}
        self._upstream = Upstream(folder, terms, stand_ins or {})
        self._examples = Examples(self._run)
        self._found: dict[str, list[Finding]] = {}
        self._condenses = False
        self._tally = Tally(terms)
        self._watch = Watch(longest_s)
        self._given = given or Given()
        self._stubs = {file: text for one in terms.values() for file, text in one.stubs.items()}
        self._ordinary = OrdinaryTests(folder, self._stubs, listed or {})
        # Ordinary tests that failed. What is asked to find out why could change what later tests
        # see: it is asked when all have run.
        self._unexplained: list[tuple[Any, Criterion, list[str]]] = []

    @pytest.fixture
    def component(self, request: pytest.FixtureRequest) -> Component:
        """The component under test, named by the test file."""
        return self._run.component(component_of(request.path))

    @pytest.fixture
    def expect(self) -> Expect:
        """Expectations that fail in words a student understands."""
        return Expect(self._run.coarse, self._run.asked)

    @pytest.fixture
    def make(self) -> Make:
        """Seeded tensors."""
        return Make()

    def session(self, component: str) -> Executor:
        """Import the component at its first use."""
        if component not in self._sessions:
            self._enforce(component)
            terms = self._terms[component]
            with self._watch.over():
                session = _Watched(
                    self.folder,
                    component,
                    program=terms.program,
                    stubs=self._stubs,
                )
                if terms.review == "hold":
                    session.code.watch()
            session.watch = self._watch
            self._sessions[component] = session
            if session.load_error is None and loaded():
                # More take longer over the small tensors of the questions than they save.
                torch.set_num_threads(1)
        return self._sessions[component]

    def _file_of(self, component: str) -> str:
        """Return the file that a component is imported from, as it was given."""
        return main_file(component, self._terms[component].stubs)

    def _enforce(self, component: str) -> None:
        """Enforce the rules of the component that is tested from now on."""
        if component != self._tested:
            self._tested = component
            self._guard.forget()
        uses = {name: one.uses for name, one in self._terms.items()}
        others = [f"{other}.py" for other in used_by(component, uses)]
        self._guard.begin(self.folder, self._terms[component].rules, others=others)

    def pytest_configure(self, config: pytest.Config) -> None:
        """Draw the same examples in every run, and shrink the one that fails."""
        config.addinivalue_line("markers", MARKER)
        self._condenses = config.getoption("verbose") < 1
        self._guard.install()
        self._ordinary.find_components(self._terms)
        load_profile()
        # What a file of ordinary tests cannot import stops the tests of other components not.
        config.option.continue_on_collection_errors = True

    def pytest_unconfigure(self) -> None:
        """Leave this process as it was."""
        self._guard.uninstall()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Read what a person would have to look at, before anything runs."""
        files = own_files(self.folder, self._terms)
        for component, words in self._given.found_in(spell(files, self._given.names)).items():
            self._tally.stopped[component] = ("given", words)
        self._found = out_of_the_ordinary(self.folder, self._terms, self._packages)
        for component, found in self._found.items():
            if found and self._terms[component].review == "hold":
                self._tally.stopped[component] = ("held", f"held for review: {_held(found[0])}")

    def pytest_report_header(self) -> list[str]:
        """Say first what was read."""
        found = (finding for findings in self._found.values() for finding in findings)
        held = dict.fromkeys(f"out of the ordinary: {_held(finding)}" for finding in found)
        return [*held, *self._memory.header()]

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        """Say in a sentence why a file of ordinary tests cannot be collected."""
        report: Any = yield
        criteria = self._ordinary.of_file(collector.path)
        if report.failed and criteria:
            component = criteria[0].component
            file = self._file_of(component)
            word, words = "not run", self._ordinary.unread(report)
            if not (self.folder / file).is_file():
                word, words = "missing", f"missing: there is no {file}"
            report.longrepr = words
            self._tally.stopped[component] = (word, words)
            for criterion in criteria:
                self._tally.add(criterion, "stopped")
        return report

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Read every test's criterion; keep the components in the handout's order."""
        order = list(self._terms)
        for item in items:
            if not self._ordinary.holds(item):
                self._criteria[item.nodeid] = criterion_of(item, "public")
            elif (listed := self._ordinary.criterion(item)) is not None:
                self._criteria[item.nodeid] = listed

        def place(item: pytest.Item) -> int:
            criterion = self._criteria.get(item.nodeid)
            return len(order) if criterion is None else order.index(criterion.component)

        items.sort(key=place)
        # The test files have imported what they and the components use.
        self._memory.begin()

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip what cannot run: a file that is not there or cannot be imported."""
        if item.nodeid not in self._criteria:
            # A test of the student's own.
            return
        component = self._criteria[item.nodeid].component
        self._enforce(component)
        file = self._file_of(component)
        if not (self.folder / file).is_file():
            self._tally.stopped[component] = ("missing", f"missing: there is no {file}")
        if component not in self._tally.stopped:
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
        if self._ordinary.holds(item):
            with self._watch.over():
                return (yield)
        with self._examples.beginning(item):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, Any]:
        """Replace tracebacks through the test machinery by what the student needs to know."""
        if self._ordinary.holds(item):
            return (yield from self._ordinary_report(item, call))
        if call.when == "call":
            # To write it out reads the sources of this machinery, and nobody would see it.
            item.repr_failure = _unseen  # type: ignore[method-assign]
        report: Any = yield
        vars(item).pop("repr_failure", None)
        criterion = self._criteria[item.nodeid]
        outcome = ""
        if call.when == "setup" and criterion.component in self._tally.stopped:
            outcome = "stopped"
            report.gradeformer = self._tally.stopped[criterion.component][0]
        elif call.when == "call":
            outcome = "passed"
            failure = (
                None if call.excinfo is None else self._examples.ended_by or call.excinfo.value
            )
            if failure is not None:
                outcome = self._because_of_others(item, report, failure) or self._failed(
                    report, criterion, failure
                )
            outcome = self._charged(report, criterion, outcome)
        self._memory.look(criterion.component)
        if outcome:
            self._tally.add(criterion, outcome)
        return report

    def _ordinary_report(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, Any]:
        """Say of an ordinary test what pytest says, and count it at its end."""
        report: Any = yield
        criterion = self._criteria.get(item.nodeid)
        if criterion is None:
            return report
        if call.when == "setup" and criterion.component in self._tally.stopped:
            report.gradeformer = self._tally.stopped[criterion.component][0]
            self._ordinary.ends(item, "stopped")
        elif call.excinfo is not None:
            told, outcome = self._ordinary.told(report, criterion, call.excinfo)
            self._ordinary.ends(item, outcome)
            self._tally.tell(criterion, [Line(words) for words in told])
            if outcome == "failed" and not isinstance(call.excinfo.value, Timeout):
                self._unexplained.append((report, criterion, told))
        if call.when == "teardown":
            self._memory.look(criterion.component)
            self._tally.add(criterion, self._charged(report, criterion, self._ordinary.end(item)))
        return report

    def _because_of_others(self, item: pytest.Item, report: Any, failure: BaseException) -> str:
        """Return "passed" for a check that passes with working components in place of broken ones.

        It is "waiting" where a broken one is run that nothing here stands in for; else empty.
        """
        criterion = self._criteria[item.nodeid]
        component = criterion.component
        if _is_endless(failure) or not may_be_upstream(failure, component):
            return ""
        broken = [name for name in self._upstream.used_by(component) if self._tally.broken(name)]
        without = [n for n in self._upstream.waited_for(component) if self._tally.broken(n)]
        if not broken and not without:
            return ""
        asked, drawn, plain = self._run.question, self._run.drawn, self._sessions

        def again(working: Executor) -> None:
            self._sessions = {**plain, component: working}
            call, given = item.obj, item.funcargs  # type: ignore[attr-defined]
            with self._examples.beginning(item):
                call(**{n: given[n] for n in inspect.signature(call).parameters if n in given})

        ran: set[str] = set()
        # What runs now is not the student's alone.
        self._guard.begin(self.folder, Rules())
        try:
            guilty = self._upstream.guilty(component, broken, again)
            if without and not guilty:
                with noting_files(self.folder, ran), contextlib.suppress(*_FAILURES):
                    again(plain[component])
        finally:
            self._enforce(component)
            self._sessions = plain
            self._run.question, self._run.drawn = asked, drawn
        waited_for = [name for name in without if f"{name}.py" in ran]
        if guilty:
            names = _joined(guilty)
            outcome, report.gradeformer = "passed", "upstream"
            words = f"fails only because of {names}"
            self._tally.follow(criterion, names)
        elif waited_for:
            names = _joined(waited_for)
            outcome = report.gradeformer = "waiting"
            words = f"waits for a working {names}"
            self._tally.wait(criterion, names)
        else:
            return ""
        report.outcome = "skipped"
        report.longrepr = (str(self.folder), 0, words)
        return outcome

    def _charged(self, report: Any, criterion: Criterion, outcome: str) -> str:
        """Fail what used something forbidden, even if nothing came of it: so does the grader."""
        others = {f"{name}.py" for name in self._terms if name != criterion.component}
        # What has no line may be what a component does that this one uses.
        alone = not self._terms[criterion.component].uses
        uses = self._guard.uses()
        used = [use for use in uses if use.file not in others and (use.file or alone)]
        if not used:
            return outcome
        words = forbidden_words(used[0])
        self._tally.forbidden[criterion.component] = words
        if outcome != "passed":
            return outcome
        report.outcome = "failed"
        report.longrepr = f"{criterion.title}\n{words}; the component scores 0"
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
            # Each of their questions might take as long.
            causes = [] if _is_endless(failure) else self._causes(criterion, outcome)
            told = [Line(fact), *(Line(words, cause=True) for words in causes), *map(Line, more)]
            self._tally.tell(criterion, told)
            leads = ["likely cause: ", *["or: "] * len(causes)]
            named = [lead + words for lead, words in zip(leads, causes, strict=False)]
            lines += [fact, *named, *more]
        if outcome == "not_attempted":
            report.outcome = "skipped"
            report.longrepr = (str(self.folder), 0, lines[-1])
            report.gradeformer = "not attempted"
            return outcome
        report.outcome = "failed"
        if self._run.drawn:
            shown = ", ".join(f"{key}={value!r}" for key, value in self._run.drawn.items())
            lines.append("smallest failing input: " + clean(shown))
        if isinstance(failure, StudentRaised):
            raised = self.session(criterion.component).raised
            lines += student_lines(raised, self.folder)
        if not isinstance(failure, StudentRaised | AssertionError | Flaky):
            lines += [f"{type(failure).__name__}: {clean(str(failure))}"]
        report.longrepr = "\n".join(lines)
        return outcome

    def _explain(self, report: Any, criterion: Criterion, told: Sequence[str]) -> None:
        """Name the known mistakes that may be behind a failed ordinary test."""
        self._enforce(criterion.component)
        with self._watch.over(), contextlib.suppress(Timeout):
            causes = self._causes(criterion, "failed")
            leads = ["likely cause: ", *["or: "] * len(causes)]
            named = [lead + words for lead, words in zip(leads, causes, strict=False)]
            report.longrepr = "\n".join([str(report.longrepr), *named])
            lines = [*map(Line, told), *(Line(words, cause=True) for words in causes)]
            self._tally.tell(criterion, lines)

    def _causes(self, criterion: Criterion, outcome: str) -> list[str]:
        """Return the words of the known mistakes that may be behind a lost criterion."""
        if self._known is None or outcome == "not_attempted":
            return []
        session = self.session(criterion.component)
        # Its questions come after the one that failed, whose traceback is still to be shown.
        raised = session.raised
        causes = self._known.causes(criterion.component, criterion.id, session)
        session.raised = raised
        return causes

    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, Any] | None:
        """Count what was not attempted apart from what failed."""
        found = getattr(report, "gradeformer", None)
        return (found, *_LETTERS[found]) if found else None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, Any, Any]:
        """Show the first failures of every component; close with one line a component."""
        shown = Condensed(terminalreporter, self._condenses)
        result = yield
        own = Criterion("", "tests of your own", "", 0.0, "", "public")
        shown.write(lambda report: self._criteria.get(report.nodeid, own).component)
        if self._tally.components:
            terminalreporter.section("points on the public checks")
            for component in self._tally.components:
                terminalreporter.write_line(self._tally.line(component))
            for line in self._memory.lines():
                terminalreporter.write_line(line)
            terminalreporter.write_line(HIDDEN_CHECKS)
            shown.write_more()
        return result

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Explain what failed, and write the page; what is not attempted is not a success."""
        for report, criterion, told in self._unexplained:
            self._explain(report, criterion, told)
        if self._page is not None:
            pages = [self._page_of(component) for component in self._tally.components]
            self._page.write_text(document(pages), encoding="utf-8")
        if not self._tally.complete and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _page_of(self, component: str) -> str:
        drawn = self._tally.runs(component)
        views = self._run.views(component, drawings_of(self.folder / "tests")) if drawn else []
        return self._tally.page(component, views)
