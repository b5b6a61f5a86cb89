"""Ordinary tests as criteria: which files they stand in, what each is worth, and how one is run."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, Decimal
from pathlib import Path
from typing import Any

from autograder.api.answer import CheckFailed, Question, StudentRaised
from autograder.api.component import Session
from autograder.api.criterion import Criterion
from autograder.api.messages import Reply, Request
from autograder.api.operations import OrdinaryAsk
from autograder.api.values import Value
from autograder.assignment import Assignment
from autograder.judge.ordinary import Found, OutOfLimits, Place, Ran, Report, run_tests
from autograder.judge.reference import ReferenceProcess
from autograder.judge.session import NotRun, Planned
from autograder.judge.suite import Attempt, Case, Check
from autograder.proxies.examiner import Rights, rights_of
from autograder.rules.reader import dotted_name
from autograder.sandbox.handle import ChildGone

# To what part of a point shares are rounded, so that what is written adds up.
_SHARE = Decimal("0.0001")
Modules = Sequence[Any]
# What an object of the component's answers by itself.
_COMPARISONS = frozenset(("eq", "ne", "lt", "le", "gt", "ge", "contains", "bool"))
_CLOCKS = frozenset(("time", "perf_counter", "monotonic", "process_time", "time_ns", "thread_time"))


class OverLimits(ChildGone):
    """A test used more than it may with what the component answered: it counts as a death."""


@dataclass
class OrdinaryCheck(Check):
    """An ordinary test, which pytest runs in a process of its own.

    Attributes:
        place: where it lies.
        node: by what name pytest runs it.
        moved: where the solution's calls left the generators, by the number of the question.
        cpu_s: the computing time that it took with the solution.
    """

    place: Place = field(default_factory=lambda: Place((), ()))
    is_ordinary = True
    node: str = ""
    moved: dict[int, tuple[str, Value]] = field(default_factory=dict)
    cpu_s: float = 0.0

    def attempt(self, session: Session, plan: Sequence[Planned] | None) -> Attempt:
        """Run the test.

        Args:
            session: answers for the component.
            plan: what the solution was asked and answered; None while it is asked itself.
        """
        rights = None
        if plan is not None:
            asked = [(planned.request, planned.reply) for planned in plan]
            rights = Rights(rights_of(asked), self.moved)
        attempt = Attempt(self.criterion, cases=len(self.cases))
        left = [case.name for case in self.cases]
        while left:
            gone, report = self._ran(session, left, rights)
            if plan is None:
                self.moved, self.cpu_s = report.moved, report.cpu_s
            self._take(attempt, report, gone, left)
            attempt.left_open = attempt.left_open or report.left_open
            done = {ran.name for ran in report.ran}
            # After a death those that are left begin again, with a child of their own.
            left, before = [name for name in left if name not in done], left
            renew = getattr(session, "renew", None)
            # Without a death it is in the middle of a call.
            can_go_on = gone is not None or (report.ended and renew is not None)
            if not can_go_on or isinstance(gone, NotRun) or left == before:
                self._lose(attempt, left, report, gone)
                break
            if gone is None and renew is not None:
                renew(None)
        return attempt

    def notes(self, plan: Sequence[Planned]) -> Iterator[str]:
        """Yield what an author should know of the test."""
        where = f"{self.criterion.id} ({self.node.rpartition('/')[2]})"
        if clock := _clock_in(self.node):
            yield f"{where} reads a clock, {clock}: its mark depends on how busy the machine is"
        asked = [planned.request.ops[-1] for planned in plan]
        judged = [
            op.verb for op in asked if isinstance(op, OrdinaryAsk) and op.verb in _COMPARISONS
        ]
        if judged:
            yield (
                f"{where} compares objects of the component's ({', '.join(sorted(set(judged)))}): "
                "what their class says decides; compare values that they hold, too"
            )

    def noted(self) -> Any:
        """Return what was noted while the solution was asked, to be kept."""
        return self.moved, self.cpu_s

    def note(self, noted: Any) -> None:
        """Take what was kept."""
        self.moved, self.cpu_s = noted

    def _ran(
        self, session: Session, names: Sequence[str], rights: Rights | None
    ) -> tuple[BaseException | None, Report]:
        gone: BaseException | None = None

        def perform(request: Request) -> Reply | None:
            nonlocal gone
            try:
                return session.perform(request)
            except (ChildGone, NotRun) as ended:
                gone = ended
                return None

        nodes = [f"{self.node}[{name}]" if name else self.node for name in names]
        if len(names) == len(self.cases):
            nodes = [self.node]
        try:
            report = run_tests(self.place, nodes, perform, rights, self.cpu_s)
        except OutOfLimits as out:
            return OverLimits("timeout", str(out)), Report(left_open=True)
        return gone, report

    def _take(
        self, attempt: Attempt, report: Report, gone: BaseException | None, left: Sequence[str]
    ) -> None:
        """Count the cases that passed: those that the solution has, each once."""
        passed = {ran.name for ran in report.ran if ran.passed}
        attempt.passed += len(passed.intersection(left))
        for ran in report.ran:
            if not ran.passed and attempt.failure is None:
                ended = report.ended and ran is report.ran[-1]
                attempt.failure = gone if ended and gone is not None else failure_of(ran)
                attempt.case, attempt.question = self._words(ran.name), ran.question
                attempt.place = ran.place

    def _lose(
        self, attempt: Attempt, names: Sequence[str], report: Report, gone: BaseException | None
    ) -> None:
        """Note those that did not come about."""
        if not names or attempt.failure is not None:
            return
        attempt.case = self._words(names[0])
        attempt.failure = gone or _uncollected(report)

    def _words(self, name: str) -> str:
        return next((case.words for case in self.cases if case.name == name), name)


def failure_of(ran: Ran) -> BaseException:
    """Return the failure that stands for a case that did not pass."""
    if ran.refused is not None:
        fact, detail, hint = ran.refused
        return CheckFailed(fact, detail=detail, hint=hint, question=ran.question)
    if ran.error is not None and ran.question is not None:
        return StudentRaised(ran.error, ran.question)
    if ran.fault:
        return CheckFailed(ran.fault)
    if ran.skipped:
        return CheckFailed(f"the test did not come to its end: {ran.skipped}")
    return CheckFailed(ran.words or "the test failed", question=ran.question)


def _clock_in(node: str) -> str:
    """Return the call in a test's function that reads a clock, with its line; empty for none."""
    file, _, name = node.partition("::")
    function = name.rpartition("::")[2]
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    for found in ast.walk(tree):
        if isinstance(found, ast.FunctionDef) and found.name == function:
            for call in (n for n in ast.walk(found) if isinstance(n, ast.Call)):
                dotted = dotted_name(call.func)
                if dotted.rpartition(".")[2] in _CLOCKS and dotted.startswith(("time.", "perf")):
                    return f"{dotted} in line {call.lineno}"
    return ""


def _uncollected(report: Report) -> BaseException:
    if report.refused is not None:
        fact, detail, hint = report.refused
        return CheckFailed(fact, detail=detail, hint=hint)
    if report.error is not None:
        return StudentRaised(report.error, Question("the import", None))
    return CheckFailed(report.words or "the test did not run")


@dataclass(frozen=True)
class Survey:
    """What ordinary tests are there for a component, and what the solution makes of them."""

    found: tuple[tuple[Found, bool], ...] = ()  # each with whether it is public
    ran: Mapping[tuple[bool, str, str], Ran] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


def place_of(assignment: Assignment, public: bool, modules: Modules) -> Place:
    """Return where ordinary tests of an assignment lie."""
    own, other = assignment.public / "tests", assignment.secret / "tests"
    names = tuple(assignment.totals)
    if public:
        return Place((own,), names)
    return Place((other, own), names, tuple(modules), hidden=True)


def survey(
    assignment: Assignment, component: str, files: Sequence[tuple[Path, bool]], modules: Modules
) -> Survey:
    """Collect a component's ordinary tests, and run them with the solution once.

    Args:
        assignment: whose.
        component: the component.
        files: its test files, each with whether it is public.
        modules: the modules of the solutions, the component's first.
    """
    found: list[tuple[Found, bool]] = []
    ran: dict[tuple[bool, str, str], Ran] = {}
    faults: list[str] = []
    solution = ReferenceProcess(assignment, component)
    try:
        for public in (True, False):
            nodes = [str(path) for path, is_public in files if is_public == public]
            if not nodes:
                continue
            place = place_of(assignment, public, modules)
            report = run_tests(place, nodes, solution.perform, None, cpu_s=60.0)
            faults += report.faults
            found += [(one, public) for one in report.found]
            ran |= {(public, one.node, one.name): one for one in report.ran}
    finally:
        solution.close()
    return Survey(tuple(found), ran, tuple(faults))


def checks_of(
    assignment: Assignment, component: str, surveyed: Survey, given: Decimal, modules: Modules
) -> tuple[list[OrdinaryCheck], list[str], list[str]]:
    """Return the ordinary tests of a component as criteria.

    Args:
        assignment: whose.
        component: the component.
        surveyed: what was found.
        given: the points that its other criteria have.
        modules: the modules of the solutions, the component's first.

    Returns:
        The checks, what is wrong with the tests, and which are skipped.
    """
    checks: list[OrdinaryCheck] = []
    unmarked: list[OrdinaryCheck] = []
    faults: list[str] = []
    over: list[str] = []
    hidden = 0
    for found, public in surveyed.found:
        hidden += not public
        cases = [Case(name) for name in found.cases]
        skipped = [
            surveyed.ran[public, found.node, case.name].skipped
            for case in cases
            if (public, found.node, case.name) in surveyed.ran
        ]
        marker = next((kwargs for name, _, kwargs in found.marks if name == "criterion"), None)
        if any(skipped):
            reason = next(filter(None, skipped))
            words = f"{_where(found)} is skipped with the solution ({reason})"
            (over if marker is None else faults).append(
                words if marker is None else f"{words}, and has points: take the mark away"
            )
            continue
        try:
            criterion = _criterion(component, found, public, marker or {}, hidden)
        except ValueError as error:
            faults.append(str(error))
            continue
        place = place_of(assignment, public, modules)
        node = f"{found.file}::{found.node.partition('::')[2]}"
        check = OrdinaryCheck(criterion, _no_function, (), cases, place=place, node=node)
        checks.append(check)
        if "points" not in (marker or {}):
            unmarked.append(check)
    marked = sum((Decimal(str(c.criterion.points)) for c in checks if c not in unmarked), Decimal())
    total = Decimal(assignment.component(component).points)
    if unmarked:
        faults += _share_out(unmarked, total - given - marked, component)
    return checks, faults, over


def _no_function(*args: object) -> None:
    raise TypeError("an ordinary test is run by pytest")


def _where(found: Found) -> str:
    return f"{'/'.join(found.file.parts[-4:])}::{found.name}"


def _share_out(checks: Sequence[OrdinaryCheck], left: Decimal, component: str) -> list[str]:
    """Give each of these checks an equal share of what is left."""
    if left <= 0:
        return [
            f"the marked criteria of {component} have all of its points, and {len(checks)} tests "
            f"without a mark are left, as {checks[0].criterion.id}: give {component} more points "
            "in assignment.toml, or mark these tests, too"
        ]
    share = (left / len(checks)).quantize(_SHARE, ROUND_DOWN)
    # The last ones have what rounding leaves.
    over = int((left - share * len(checks)) / _SHARE)
    for place, check in enumerate(checks):
        more = _SHARE if place >= len(checks) - over else Decimal()
        check.criterion = replace(check.criterion, points=float(share + more))
    return []


_OPTIONS = {"points", "source", "title", "form", "free"}


def _criterion(
    component: str, found: Found, public: bool, marker: Mapping[str, Any], hidden: int
) -> Criterion:
    """Make a criterion of a test.

    Raises:
        ValueError: its mark says what cannot be.
    """
    unknown = sorted(marker.keys() - _OPTIONS)
    if unknown == ["examples"]:
        raise ValueError(
            f"{_where(found)}: examples= is for tests that take `component`; say "
            "`@settings(max_examples=...)` of Hypothesis's"
        )
    if unknown:
        raise ValueError(f"{_where(found)}: a criterion has no {unknown[0]!r}")
    points = marker.get("points", 1.0)
    if type(points) not in (int, float) or not 0 < points < math.inf:
        raise ValueError(f"{_where(found)}: points={points!r} cannot be: give a number above 0")
    title = str(marker.get("title", ""))
    if public:
        name = ".".join(part.removeprefix("test_") for part in found.name.split("."))
        first = found.doc.strip().partition("\n")[0].rstrip(".")
        title = title or first or name.replace("_", " ").replace(".", ": ")
        name = name.replace(".", "_")
    else:
        name = f"hidden_{hidden}"
        title = title or f"hidden check {hidden} of {component}"
    return Criterion(
        f"{component}.{name}",
        component,
        title,
        float(points),
        str(marker.get("source", "")),
        "public" if public else "hidden",
        bool(marker.get("form", False)),
        bool(marker.get("free", False)),
    )


def twice_named(checks: Iterable[Check]) -> Iterator[str]:
    """Yield a sentence for each name that two criteria have."""
    seen: set[str] = set()
    for check in checks:
        if check.criterion.id in seen:
            yield f"two criteria are called {check.criterion.id}"
        seen.add(check.criterion.id)
