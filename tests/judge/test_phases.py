"""What is shown is settled first: nothing that is answered after a hidden question gets into it.

Children answer as the solution does, but where the test says otherwise. No process is started.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.api.messages import Reply, Request, StudentError
from autograder.api.operations import Ask
from autograder.assignment import load_assignment
from autograder.judge.cache import Cache
from autograder.judge.collection import collect
from autograder.judge.component import Judge
from autograder.judge.diagnosis import Diagnoser
from autograder.judge.reference import solution_of
from autograder.judge.submission import grade_submission
from autograder.reports.shown import component_page, shown_component
from autograder.results import ComponentResult
from autograder.rules.forbidden import ForbiddenUse
from autograder.rules.reading import read_files
from autograder.sandbox.handle import ChildGone
from autograder.sandbox.profile import Profile
from tests.judge.fakes import AnsweringChild

BASE = "def double(x):\n    return 2 * x\n\n\ndef third(x):\n    return x / 3\n"
SIDE = "def same(x):\n    return x\n"
IMPORTS = "from base import double\nfrom side import same\n"
TOP = f"{IMPORTS}\n\ndef four(x):\n    return double(double(x))\n"
TEST = '''\
import pytest


@pytest.mark.parametrize("x", [2, 4])
@pytest.mark.criterion(points=1, source="page 1")
def test_{name}(component, expect, x):
    """{name} is right"""
    expect.same(component.call("{name}", x).number, {right} * x)
'''
TWO = '''

@pytest.mark.parametrize("x", [3, 6])
@pytest.mark.criterion(points=1, source="page 2")
def test_more(component, expect, x):
    """more is right"""
    expect.same(component.call("{name}", 1000 * x).number, {right} * x)
'''
VIEWS = """\
def base(component, show):
    show.table("double", ["x"], [[component.call("double", 100).number]])


def top(component, show):
    show.table("four", ["x"], [[component.call("four", 100).number]])
"""
TOML = """\
schema = 1
name = "small"
title = "Small"

[[components]]
name = "base"
points = 2
rules = { forbidden = ["layer_norm"] }

[[components]]
name = "side"
points = 2

[[components]]
name = "top"
points = 2
uses = ["base", "side"]
rules = { forbidden = ["layer_norm"] }
"""
FILES = {"base.py": BASE.encode(), "side.py": SIDE.encode(), "top.py": TOP.encode()}


class Sandbox:
    """Forks children that answer as the solutions do, but for what `wrong` says of a call.

    Attributes:
        wrong: what a child answers instead, by the name and the argument of a call.
        mended: calls that are answered rightly beside a stand-in.
        log: the number of the child and the call, with its argument.
    """

    def __init__(self, solutions: dict[str, Any]) -> None:
        self.solutions = solutions
        self.wrong: dict[tuple[str, float], Reply | ChildGone] = {}
        self.mended: Collection[tuple[str, float]] = ()
        self.log: list[tuple[int, str, float]] = []
        self.forks = 0

    def read(self, files: Mapping[str, bytes], terms: Mapping[str, Any]) -> list[dict[str, Any]]:
        return read_files(files, terms)

    def fork(self, name: str, files: dict[str, bytes], terms: Profile) -> Child:
        self.forks += 1
        mended = self.mended if files["base.py"] != FILES["base.py"] else ()
        wrong = {call: found for call, found in self.wrong.items() if call not in mended}
        return Child(self, self.solutions[name], self.forks, wrong)


class Child(AnsweringChild):
    slowest_call_s = 0.0

    def __init__(
        self, sandbox: Sandbox, solution: Any, number: int, wrong: dict[tuple[str, float], Any]
    ) -> None:
        super().__init__()
        self.sandbox, self.solution, self.number, self.wrong = sandbox, solution, number, wrong

    def perform(self, request: Request) -> Reply:
        if not request.ops:
            return Reply()
        call = request.ops[-1]
        assert isinstance(call, Ask)
        self.sandbox.log.append((self.number, call.name, call.args[1]))
        found = self.wrong.get((call.name, call.args[1]))
        if isinstance(found, ChildGone):
            raise found
        return self.solution.perform(request) if found is None else found

    def close(self) -> dict[str, Any]:
        return {}


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    root = tmp_path_factory.mktemp("small")
    texts = {
        "assignments/small/assignment.toml": TOML,
        "assignments/small/README.md": "# Small\n",
        "assignments/small/tests/test_base.py": TEST.format(name="double", right=2),
        "assignments/small/tests/test_side.py": TEST.format(name="same", right=1),
        "assignments/small/tests/test_top.py": TEST.format(name="four", right=4),
        "assignments/small/tests/views.py": VIEWS,
        "reference/small/base.py": BASE,
        "reference/small/side.py": SIDE,
        "reference/small/top.py": TOP,
        "assignments/small/stand_ins/base.py": BASE,
        "assignments/small/stand_ins/side.py": SIDE,
        "reference/small/tests/test_base.py": "import pytest\n"
        + TWO.format(name="third", right="1000 / 3"),
        "reference/small/tests/test_side.py": "import pytest\n"
        + TWO.format(name="same", right=1000),
        "reference/small/tests/test_top.py": "import pytest\n"
        + TWO.format(name="four", right=4000),
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        Path(root, name).write_text(text)
    assignment = load_assignment(root, "small")
    suite = collect(assignment, cache=Cache(None))
    sandbox: Any = Sandbox(
        {name: solution_of(assignment, name) for name in ("base", "side", "top")}
    )
    return Judge(assignment, suite, sandbox, Diagnoser(assignment, suite.public_plans()))


def graded(
    judge: Judge,
    wrong: dict[tuple[str, float], Reply | ChildGone],
    mended: Collection[tuple[str, float]] = (),
) -> tuple[dict[str, ComponentResult], list[tuple[int, str, float]]]:
    sandbox: Any = judge.sandbox
    sandbox.__init__(sandbox.solutions)
    sandbox.wrong, sandbox.mended = wrong, mended
    return grade_submission(judge, FILES), sandbox.log


def shown(results: dict[str, ComponentResult]) -> list[str]:
    """All that a student is shown."""
    unseen = {"usage": True, "criteria": {"__all__": {"outcome"}}}
    facts = [result.model_dump_json(exclude=unseen) for result in results.values()]
    return facts + [component_page(shown_component(r, True)) for r in results.values()]


PUBLIC = [("double", 2), ("double", 100), ("same", 2), ("four", 2), ("four", 4), ("four", 100)]
LOWER = [("third", 3000), ("third", 6000), ("same", 3000), ("same", 6000)]
HIDDEN = [*LOWER, ("four", 3000), ("four", 6000)]
USE = ForbiddenUse("layer_norm", "base.py", 1)
WRONG = [
    Reply(value=4242.0),
    Reply(value="4242"),
    Reply(error=StudentError("ValueError", "call", "4242", "base.py", 2)),
    Reply(error=StudentError("NotImplementedError", "call", "4242", "top.py", 1)),
]


@given(wrong=st.dictionaries(st.sampled_from(PUBLIC + HIDDEN), st.sampled_from(WRONG)))
def test_who_answers_what_is_shown_has_heard_no_hidden_question(
    judge: Judge, wrong: dict[tuple[str, float], Reply | ChildGone]
) -> None:
    _, log = graded(judge, wrong)
    first = next(at for at, (_, *call) in enumerate(log) if tuple(call) in HIDDEN)
    before = {child for child, *_ in log[:first]}
    after = {child for child, *_ in log[first:]}
    assert before.isdisjoint(after)
    # What is drawn, and where nothing hidden is lost, all that is public.
    late = [call for _, *call in log[first:] if tuple(call) not in HIDDEN]
    assert not any(argument == 100 for _, argument in late)
    assert not late or not wrong.keys().isdisjoint(LOWER)


@given(
    public=st.dictionaries(st.sampled_from(PUBLIC), st.sampled_from(WRONG)),
    lost=st.sets(st.sampled_from(HIDDEN)),
    data=st.data(),
)
def test_of_hidden_questions_only_what_passed_is_told(
    judge: Judge,
    public: dict[tuple[str, float], Reply | ChildGone],
    lost: set[tuple[str, float]],
    data: st.DataObject,
) -> None:
    ways = [{call: data.draw(st.sampled_from(WRONG)) for call in lost} for _ in range(2)]
    one, other = (shown(graded(judge, public | way)[0]) for way in ways)
    assert one == other


def test_a_forbidden_use_over_a_hidden_question_says_nothing_of_it(judge: Judge) -> None:
    results, _ = graded(judge, {("third", 3000): Reply(value=1000.0, forbidden=[USE])})
    assert (results["base"].status, results["base"].score) == ("forbidden", 0)
    assert results["base"].message == "something forbidden was used"


def test_two_deaths_over_hidden_questions_differ_in_their_kind_alone(judge: Judge) -> None:
    gone = [ChildGone("crashed", words) for words in ("the process died", "otherwise")]
    one, other = (shown(graded(judge, {("third", 3000): death})[0]) for death in gone)
    assert one == other


def test_what_a_component_lost_by_hidden_mistakes_of_another_is_not_lost_again(
    judge: Judge,
) -> None:
    """An error costs its points once, also where only hidden questions find it."""
    wrong: dict[tuple[str, float], Reply | ChildGone] = dict.fromkeys(
        [("four", 2), ("four", 4)], WRONG[0]
    )
    results, _ = graded(judge, wrong, mended={("four", 2)})
    assert (results["base"].score, results["top"].score) == (2, 1)
    wrong[("third", 3000)] = WRONG[0]
    results, _ = graded(judge, wrong, mended={("four", 2)})
    assert (results["base"].score, results["top"].score) == (1.5, 1.5)
    words = "graded with a working base\n1 of 2 cases pass"
    assert results["top"].criteria[0].message == words
    results, _ = graded(judge, wrong, mended={("four", 2), ("four", 4)})
    assert (results["base"].score, results["top"].score) == (1.5, 2)
    assert results["top"].criteria[0].message == "graded with a working base"
    assert results["top"].stand_ins == ["base"]


def test_what_provided_code_imports_has_a_stand_in_too(judge: Judge) -> None:
    """A driver may bring components together of which none names the other."""
    alone = {**FILES, "top.py": b"def four(x):\n    return 4 * x\n"}
    joint = {"provided/joint.py": b"def both(x):\n    from base import double\n"}
    sandbox: Any = judge.sandbox
    sandbox.__init__(sandbox.solutions)
    sandbox.wrong = {("double", 2): WRONG[0], ("four", 2): WRONG[0]}
    sandbox.mended = {("four", 2)}
    assert grade_submission(judge, alone)["top"].stand_ins == []
    top = grade_submission(replace(judge, provided=joint), alone)["top"]
    assert (top.score, top.stand_ins) == (2, ["base"])


def test_a_run_with_other_stand_ins_says_nothing_of_hidden_questions_either(judge: Judge) -> None:
    """Hidden questions find one more component broken than public ones did."""
    forbidden = Reply(value=8.0, forbidden=[ForbiddenUse("layer_norm", "", 0)])
    wrong: dict[tuple[str, float], Reply | ChildGone] = {
        ("double", 2): WRONG[0],
        ("same", 3000): WRONG[0],
        ("four", 2): forbidden,
        ("four", 4): WRONG[0],
        ("four", 3000): WRONG[2],
        ("four", 6000): WRONG[2],
    }
    results, _ = graded(judge, wrong, mended={("four", 2), ("four", 4)})
    top = results["top"]
    assert [criterion.passed for criterion in top.criteria] == [True, False]
    assert "4242" not in top.criteria[1].message
    assert top.stand_ins == ["base", "side"]


def test_each_phase_is_one_run(judge: Judge) -> None:
    """What builds on a broken component is asked beside its stand-in, and not by itself before."""
    wrong: dict[tuple[str, float], Reply | ChildGone] = dict.fromkeys(
        [("double", 2), ("four", 2), ("four", 3000)], WRONG[0]
    )
    results, log = graded(judge, wrong, mended=wrong)
    assert (results["base"].score, results["top"].score) == (1.5, 2)
    asked = [tuple(call) for _, *call in log]
    assert [asked.count(call) for call in (("four", 2), ("four", 3000))] == [1, 1]
    note = "graded with a working base"
    assert {c.message for c in results["top"].criteria} == {note}
    assert (results["top"].stand_ins, results["top"].notes) == (["base"], [note])


def test_hidden_mistakes_elsewhere_make_one_more_run_of_what_was_lost(judge: Judge) -> None:
    wrong: dict[tuple[str, float], Reply | ChildGone] = {
        ("third", 3000): WRONG[0],
        ("four", 2): WRONG[0],
    }
    results, log = graded(judge, wrong, mended={("four", 2)})
    assert (results["base"].score, results["top"].score) == (1.5, 2)
    asked = [tuple(call) for _, *call in log]
    # Ahead, by the test, and once more because it failed; then with a working base.
    assert asked.count(("four", 2)) == 4
    # What was not lost is not run again.
    results, log = graded(judge, {("third", 3000): WRONG[0]})
    asked = [tuple(call) for _, *call in log]
    assert asked.count(("four", 2)) == 1
    assert results["top"].stand_ins == ["base"]
    assert [c.message for c in results["top"].criteria] == ["", "graded with a working base"]


@pytest.mark.parametrize("in_public", [True, False])
def test_a_criterion_counts_the_better_of_its_runs(judge: Judge, in_public: bool) -> None:
    """A working part may also suit less than the own one."""
    wrong: dict[tuple[str, float], Reply | ChildGone] = {("third", 3000): WRONG[0]}
    wrong[("four", 4)] = WRONG[0]
    results, _ = graded(judge, wrong, mended=() if in_public else {("four", 4)})
    assert results["top"].score == (1.5 if in_public else 2)
    words = results["top"].criteria[0].message
    assert words.startswith("1 of 2 cases pass") == in_public
