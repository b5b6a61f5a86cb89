"""One component from its first question to its result, behind a sandbox that does as it is told.

A child answers as the solution does, but where the test wants otherwise: it dies, claims, or takes
its time. No process is started.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.api.executor import Executor
from autograder.api.messages import Reply, Request, StudentError
from autograder.api.operations import Ask
from autograder.assignment import load_assignment
from autograder.judge.cache import Cache
from autograder.judge.collection import collect
from autograder.judge.component import Judge
from autograder.judge.diagnosis import Diagnoser, Diagnosis
from autograder.judge.reference import solution_of
from autograder.judge.submission import grade_component, grade_submission
from autograder.results import ComponentResult
from autograder.rules.forbidden import ForbiddenUse
from autograder.rules.reading import read_files
from autograder.sandbox.handle import ChildGone, Clock
from autograder.sandbox.profile import Profile
from autograder.settings import Limits
from tests.judge.fakes import AnsweringChild

SOLUTION = """\
def double(x):
    return 2 * x


def half(x):
    if x < 0:
        raise ValueError("less than nothing")
    return x / 2


def third(x):
    return x / 3
"""
PUBLIC = '''\
import pytest


@pytest.mark.criterion(points=1, source="page 1")
def test_double(component, expect):
    """double doubles"""
    expect.same(component.call("double", 2).number, 4)


@pytest.mark.criterion(points=1, source="page 2")
def test_half(component, expect):
    """half halves"""
    expect.same(component.call("half", 2).number, 1.0)


@pytest.mark.criterion(points=1, source="page 2")
def test_refuses(component, expect):
    """half refuses"""
    expect.raises(component.call("half", -1), "ValueError", "ImportError", "Exception")
'''
HIDDEN = '''\
import pytest


@pytest.mark.criterion(points=1, source="page 3")
def test_third(component, expect):
    """third divides by three"""
    expect.same(component.call("third", 3).number, 1.0)
'''
VIEWS = """\
def work(component, show):
    show.table("first", ["x"], [[component.call("double", 100).number]])
    show.table("second", ["x"], [[component.call("double", 101).number]])
"""
TOML = """\
schema = 1
name = "small"
title = "Small"

[limits]
call_cpu_s = 100
call_wall_s = 1000
component_cpu_s = 1000
component_wall_s = 1000
submission_wall_s = 100_000
deaths = 2

[[components]]
name = "work"
points = 4
rules = { forbidden = ["layer_norm"] }
"""
FILES = {"work.py": SOLUTION.encode()}


class FakeSandbox:
    """Forks children that answer as the solution, unless `reply` says otherwise.

    Attributes:
        reply: what a child answers to a call, given its name and first argument; None for right.
        loaded: what it answers when the component is imported.
        ends: what is told of the end of each child in turn, and its slowest call.
        forks: how many there were.
        terms: of the last.
        until: the moments until which calls were waited for.
    """

    def __init__(self, solution: Executor) -> None:
        self.solution = solution
        self.reply: Callable[[str, float], Reply | None] = lambda name, argument: None
        self.loaded: Callable[[], Reply] = Reply
        self.ends: deque[tuple[float, float]] = deque()
        self.forks = 0
        self.alive = 0
        self.terms: Profile | None = None
        self.until: set[float] = set()
        self.clock: Clock | None = None

    def read(self, files: Mapping[str, bytes], terms: Mapping[str, Any]) -> list[dict[str, Any]]:
        return read_files(files, terms)

    def fork(self, name: str, files: object, terms: Profile) -> FakeChild:
        self.forks += 1
        self.alive += 1
        self.terms = terms
        return FakeChild(self, *(self.ends.popleft() if self.ends else (0.0, 0.0)))


class FakeChild(AnsweringChild):
    def __init__(self, sandbox: FakeSandbox, cpu_s: float, slowest: float) -> None:
        super().__init__()
        self._sandbox, self._cpu_s, self.slowest_call_s = sandbox, cpu_s, slowest

    def perform(self, request: Request) -> Reply:
        self._sandbox.until.add(self.end_of_time)
        self._sandbox.clock = self.clock
        if not request.ops:
            return self._sandbox.loaded()
        call = request.ops[-1]
        assert isinstance(call, Ask)
        found = self._sandbox.reply(call.name, call.args[1])
        return self._sandbox.solution.perform(request) if found is None else found

    def close(self) -> dict[str, Any]:
        self._sandbox.alive -= 1
        return {"cpu_s": self._cpu_s}


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    root = tmp_path_factory.mktemp("small")
    texts = {
        "assignments/small/assignment.toml": TOML,
        "assignments/small/README.md": "# Small\n",
        "assignments/small/work.py": "def double(x):\n    raise NotImplementedError\n",
        "assignments/small/tests/test_work.py": PUBLIC,
        "assignments/small/tests/views.py": VIEWS,
        "reference/small/work.py": SOLUTION,
        "reference/small/tests/test_work.py": HIDDEN,
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        Path(root, name).write_text(text)
    assignment = load_assignment(root, "small")
    suite = collect(assignment, cache=Cache(None))
    sandbox: Any = FakeSandbox(solution_of(assignment, "work"))
    return Judge(assignment, suite, sandbox, Diagnoser(assignment, suite.public_plans()))


@pytest.fixture
def sandbox(judge: Judge) -> FakeSandbox:
    found: Any = judge.sandbox
    found.__init__(found.solution)
    return found


def graded(judge: Judge, **how: Any) -> ComponentResult:
    result = grade_submission(judge, FILES, **how)["work"]
    sandbox: Any = judge.sandbox
    assert sandbox.alive == 0, "a child is left"
    return result


def outcomes(result: ComponentResult) -> list[tuple[str, bool | None]]:
    return [(criterion.outcome, criterion.passed) for criterion in result.criteria]


RIGHT = ("passed", True)
DIED = ("crashed", False)
NOT_RUN = ("not_run", None)


def dying(*at: tuple[str, float], reason: str = "crashed") -> Callable[[str, float], Reply | None]:
    """Die over these calls, each time."""

    def reply(name: str, argument: float) -> Reply | None:
        if (name, argument) in at:
            raise ChildGone(reason, "the process died")
        return None

    return reply


def test_right_work_has_all_points_and_every_view(judge: Judge, sandbox: FakeSandbox) -> None:
    result = graded(judge)
    assert (result.status, result.score) == ("graded", 4)
    assert outcomes(result) == [RIGHT] * 4
    assert [view["title"] for view in result.views] == ["first", "second"]
    # One that has heard no hidden question, and one that answers those.
    assert sandbox.forks == 2


# What was used.


def test_usage_is_the_sum_over_all_children(judge: Judge, sandbox: FakeSandbox) -> None:
    sandbox.reply = lambda name, x: Reply(value=0.0) if name == "double" and x == 2 else None
    sandbox.ends.extend([(1.5, 0.25), (0.25, 0.125), (1.0, 0.125)])
    result = graded(judge)
    # One that is asked ahead, one that the test asks, and one for hidden questions.
    assert sandbox.forks == 3
    assert result.usage is not None
    assert (result.usage.cpu_s, result.usage.call_s) == (2.75, 0.25)


def test_usage_has_all_that_was_waited(judge: Judge, sandbox: FakeSandbox) -> None:
    sandbox.reply = passing(sandbox, 4)
    result = graded(judge)
    assert result.usage is not None
    # Four criteria and two views.
    assert result.usage.wall_s == 24


# Deaths.


def test_after_a_crash_the_next_criterion_has_a_new_child(
    judge: Judge, sandbox: FakeSandbox
) -> None:
    sandbox.reply = dying(("half", 2))
    result = graded(judge)
    assert outcomes(result) == [RIGHT, DIED, RIGHT, RIGHT]
    # Each of the two that half was asked of has died over it, which is one death.
    assert (result.status, result.score, sandbox.forks) == ("graded", 3, 4)


@pytest.mark.parametrize("reason", ["crashed", "timeout"])
def test_so_many_deaths_as_the_assignment_says_are_the_last(
    judge: Judge, sandbox: FakeSandbox, reason: str
) -> None:
    sandbox.reply = dying(("double", 2), ("half", 2), reason=reason)
    result = graded(judge)
    assert outcomes(result) == [(reason, False), (reason, False), NOT_RUN, NOT_RUN]
    assert (result.status, result.score, sandbox.forks) == (reason, 0, 4)
    assert "what came after was not run" in result.message


def test_without_a_diagnosis_the_first_death_is_the_last(
    judge: Judge, sandbox: FakeSandbox
) -> None:
    sandbox.reply = dying(("double", 2))
    result = graded(judge, diagnose=False)
    assert outcomes(result) == [DIED, NOT_RUN, NOT_RUN, NOT_RUN]
    assert sandbox.forks == 2


def test_a_death_over_the_import_is_the_only_one(judge: Judge, sandbox: FakeSandbox) -> None:
    def died() -> Reply:
        raise ChildGone("timeout", "no answer")

    sandbox.loaded = died
    result = graded(judge)
    assert outcomes(result) == [("timeout", False), NOT_RUN, NOT_RUN, NOT_RUN]
    assert (result.status, result.score, sandbox.forks) == ("timeout", 0, 1)


@pytest.mark.parametrize("reason", ["crashed", "timeout"])
@pytest.mark.parametrize("at", [100, 101])
def test_a_death_over_a_view_costs_nothing(
    judge: Judge, sandbox: FakeSandbox, reason: str, at: float
) -> None:
    # Nor are criteria lost that come after it: with one more death it would be over.
    sandbox.reply = dying(("half", 2), ("double", at), reason=reason)
    result = graded(judge)
    assert outcomes(result) == [RIGHT, (reason, False), RIGHT, RIGHT]
    assert (result.status, result.score) == ("graded", 3)
    assert result.views == []
    # Ahead: for half, for the view, and hidden. For tests: for half, and for the view.
    assert sandbox.forks == 5


def test_a_death_over_a_view_is_none_of_those_that_are_allowed(
    judge: Judge, sandbox: FakeSandbox
) -> None:
    sandbox.reply = dying(("double", 100), ("third", 3))
    result = graded(judge)
    assert outcomes(result) == [RIGHT, RIGHT, RIGHT, DIED]
    assert (result.status, result.score) == ("graded", 3)


def test_a_forbidden_call_in_a_view_counts(judge: Judge, sandbox: FakeSandbox) -> None:
    use = ForbiddenUse("layer_norm", "work.py", 2)
    sandbox.reply = lambda name, x: Reply(value=2 * x, forbidden=[use]) if x == 100 else None
    result = graded(judge)
    assert (result.status, result.score) == ("forbidden", 0)
    assert "(work.py, line 2)" in result.message


# What is claimed.


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (("layer_norm", "work.py", 2), "torch's layer_norm was called (work.py, line 2): it is"),
        (("layer_norm", "work.py", 99), "torch's layer_norm was called: it is"),
        (("layer_norm", "elsewhere.py", 1), "torch's layer_norm was called: it is"),
        (("layer_norm", "", 0), "torch's layer_norm was called: it is"),
        # No word of the student's own is shown as what was used.
        (("4242 secrets", "work.py", 2), "something forbidden was used (work.py, line 2)"),
        (("softmax", "work.py", 2), "something forbidden was used (work.py, line 2)"),
    ],
)
def test_a_claimed_use_is_believed_as_far_as_it_can_be(
    judge: Judge, sandbox: FakeSandbox, use: tuple[str, str, int], said: str
) -> None:
    sandbox.reply = lambda name, x: Reply(value=2 * x, forbidden=[ForbiddenUse(*use)])
    result = graded(judge)
    assert (result.status, result.score) == ("forbidden", 0)
    assert said in result.message
    assert "4242" not in result.model_dump_json()
    assert {criterion.passed for criterion in result.criteria} == {False}


def test_a_death_of_its_own_is_nothing_forbidden(judge: Judge, sandbox: FakeSandbox) -> None:
    def died(name: str, argument: float) -> Reply:
        raise ChildGone("crashed", "the process ended itself")

    sandbox.reply = died
    result = graded(judge)
    assert (result.status, outcomes(result)[0]) == ("crashed", DIED)
    assert "forbidden" not in result.model_dump_json()


# What cannot be imported.


@pytest.mark.parametrize("kind", ["ValueError", "ImportError", "Exception", "NotImplementedError"])
def test_what_cannot_be_imported_fulfils_nothing_not_even_what_expects_an_error(
    judge: Judge, sandbox: FakeSandbox, kind: str
) -> None:
    error = StudentError(kind, "import", "x", "work.py", 3, bases=("ValueError", "Exception"))
    sandbox.loaded = lambda: Reply(error=error)
    result = graded(judge)
    assert (result.status, result.score) == ("import_error", 0)
    assert outcomes(result) == [NOT_RUN] * 4
    assert result.views == []
    assert result.message == f"the file could not be imported: {kind} (work.py, line 3): x"
    assert {criterion.message for criterion in result.criteria} == {result.message}


def test_an_error_while_importing_that_is_claimed_late_is_not_the_one_expected(
    judge: Judge, sandbox: FakeSandbox
) -> None:
    late = StudentError("ValueError", "import", "x", "work.py", 3)
    sandbox.reply = lambda name, x: Reply(error=late) if x == -1 else None
    result = graded(judge)
    assert outcomes(result) == [RIGHT, RIGHT, ("student_error", False), RIGHT]


# Time.


def passing(sandbox: FakeSandbox, seconds: float) -> Callable[[str, float], None]:
    """Let every call of the sandbox's children take so long."""

    def passes(name: str, argument: float) -> None:
        assert sandbox.clock is not None
        sandbox.clock.now += seconds

    return passes


def test_a_component_is_over_with_its_time(judge: Judge, sandbox: FakeSandbox) -> None:
    sandbox.reply = passing(sandbox, 600)
    result = graded(judge)
    # The second is begun before 1000 s are over.
    assert outcomes(result) == [RIGHT, RIGHT, NOT_RUN, NOT_RUN]
    assert (result.status, result.score) == ("timeout", 2)
    assert "its time (1000 s) is over; what came after was not run" in result.message
    assert {criterion.max_score for criterion in result.criteria} == {1}


def test_a_component_that_hangs_until_its_time_is_over_is_told_so(
    judge: Judge, sandbox: FakeSandbox
) -> None:
    hangs = passing(sandbox, 1001)

    def loaded() -> Reply:
        hangs("", 0)
        raise ChildGone("timeout", "no answer")

    sandbox.loaded = loaded
    result = graded(judge)
    assert outcomes(result) == [("timeout", False), NOT_RUN, NOT_RUN, NOT_RUN]
    assert result.status == "timeout"
    assert "its time (1000 s) is over" in result.message


def test_a_component_is_over_with_the_time_of_the_whole_submission(
    judge: Judge, sandbox: FakeSandbox
) -> None:
    sandbox.reply = passing(sandbox, 300)
    short = replace(judge.assignment, submission_wall_s=500)
    result = graded(replace(judge, assignment=short))
    assert outcomes(result) == [RIGHT, RIGHT, NOT_RUN, NOT_RUN]
    assert result.status == "timeout"
    assert "the time of the whole submission (500 s) is used up" in result.message


def test_a_component_that_is_graded_alone_has_its_own_time(
    judge: Judge, sandbox: FakeSandbox
) -> None:
    sandbox.reply = passing(sandbox, 600)
    result, _ = grade_component(judge, judge.assignment.component("work"), FILES, (), ((), ()))
    assert outcomes(result) == [RIGHT, RIGHT, NOT_RUN, NOT_RUN]


def test_no_call_is_waited_for_when_the_time_is_over(judge: Judge, sandbox: FakeSandbox) -> None:
    sandbox.reply = passing(sandbox, 100)
    graded(judge)
    (until,) = sandbox.until
    assert until == pytest.approx(1000)


def test_a_component_that_keeps_to_its_time_is_not(judge: Judge, sandbox: FakeSandbox) -> None:
    # Views are called for, too.
    sandbox.reply = passing(sandbox, 160)
    result = graded(judge)
    assert (result.status, result.score) == ("graded", 4)


def test_what_the_judge_computes_takes_no_time_of_the_component(
    judge: Judge, sandbox: FakeSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    begin = now

    def diagnose(*about: object) -> Diagnosis:
        nonlocal now
        now += 5000
        return Diagnosis()

    monkeypatch.setattr(judge.diagnoser, "diagnose", diagnose)
    wrong = Reply(value=0.0)
    sandbox.reply = lambda name, argument: wrong if name == "double" else None
    result = graded(judge)
    assert now == begin + 5000
    assert outcomes(result) == [("failed", False), RIGHT, RIGHT, RIGHT]


def test_a_child_is_given_the_limits_of_its_component(judge: Judge, sandbox: FakeSandbox) -> None:
    graded(judge)
    assert sandbox.terms is not None
    budget = sandbox.terms.budget
    assert (budget.call_cpu_s, budget.call_wall_s, budget.cpu_s) == (100, 1000, 1000)
    assert sandbox.terms.rules.operations == ("layer_norm",)


def test_the_limits_that_an_assignment_has_if_it_says_nothing() -> None:
    assert Limits().model_dump() == {
        "call_cpu_s": 2.0,
        "call_wall_s": 20.0,
        "component_cpu_s": 10,
        "component_wall_s": 60.0,
        "memory_mb": 1024,
        "output_kb": 1024,
        "deaths": 3,
        "submission_wall_s": None,
    }
