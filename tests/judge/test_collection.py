"""What the judge collects, and what it refuses to collect, by name."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.judge.cache import Cache
from autograder.judge.collection import collect
from autograder.judge.reference import import_apart
from autograder.judge.suite import FIXTURES, Case, Suite, SuiteFault
from tests import sources
from tests.tiny import HEAD, HIDDEN, PUBLIC, write_tiny

Write = Callable[..., Assignment]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a project with the smallest suite there can be, and more in its public tests."""

    def make(more: str = "", public: str = PUBLIC, hidden: str = HIDDEN) -> Assignment:
        return load_assignment(write_tiny(tmp_path, public + more, hidden), "norm")

    return make


def outcomes(suite: Suite, folder: Path) -> dict[str, bool]:
    session = import_apart(folder, "layer_norm")
    return {
        criterion.id.partition(".")[2]: suite.run(criterion, session).failure is None
        for criterion in suite.criteria["layer_norm"]
    }


def test_public_and_hidden_criteria_are_filed_in_order(write: Write) -> None:
    suite = collect(write())
    assert [
        (criterion.id, criterion.title, criterion.points, criterion.source, criterion.visibility)
        for criterion in suite.criteria["layer_norm"]
    ] == [
        ("layer_norm.shape", "the shape is kept", 1.0, "page 1", "public"),
        ("layer_norm.values", "the values are right", 1.0, "page 2", "hidden"),
    ]
    assert len(suite.plans["layer_norm.shape"]) == 1
    assert len(suite.plans["layer_norm.values"]) > 1


def test_what_is_drawn_follows_from_the_seed(write: Write) -> None:
    assignment = write()
    frames = [
        [planned.frame for planned in collect(assignment, seed).plans["layer_norm.values"]]
        for seed in (None, None, 8)
    ]
    assert frames[0] == frames[1] != frames[2]


@pytest.mark.parametrize("written", [0, 1])
def test_fewer_examples_are_the_first_ones(write: Write, written: int) -> None:
    own = "@example(seed=3, size=2)\n" * written
    hidden = "from hypothesis import example\n" + HIDDEN.replace("@given(", f"{own}@given(")

    def frames(mark: str) -> list[bytes]:
        suite = collect(write(hidden=hidden.replace("points=1", f"points=1{mark}")))
        return [planned.frame for planned in suite.plans["layer_norm.values"]]

    assert frames(", examples=2") == frames("")[: written + 2]
    assert len(frames("")) == written + 4


def test_the_suite_tells_right_from_wrong(write: Write, tmp_path: Path) -> None:
    assignment = write()
    suite = collect(assignment)
    assert outcomes(suite, assignment.secret) == {"shape": True, "values": True}
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "layer_norm.py").write_text(sources.WRONG)
    assert outcomes(suite, tmp_path / "wrong") == {"shape": True, "values": False}


def test_the_cases_of_a_criterion_share_its_points(write: Write) -> None:
    public = '''
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.criterion(points=1, source="page 1")
def test_shape(component, expect, make, size):
    """the shape is kept"""
    x = make.normal(size, seed=1)
    expect.shape(component.call("layer_norm", x).output, x.shape)
'''
    assignment = write(public=public)
    suite = collect(assignment)
    assert outcomes(suite, assignment.secret) == {"shape": True, "values": True}
    plan = suite.plans["layer_norm.shape"]
    assert [tuple(planned.request.tensors()[0].shape) for planned in plan] == [(2,), (3,)]


@pytest.mark.parametrize("wanted", ["tmp_path", "compnent", "request", "monkeypatch", "capsys"])
def test_a_fixture_that_the_judge_does_not_have_is_refused_by_name(
    write: Write, wanted: str
) -> None:
    with pytest.raises(SuiteFault, match=rf"layer_norm\.shape: there is no fixture '{wanted}'"):
        collect(write(public=PUBLIC.replace("make):", f"make, {wanted}):")))


def test_the_refusal_names_what_there_is(write: Write) -> None:
    with pytest.raises(SuiteFault) as caught:
        collect(write(public=PUBLIC.replace("make):", "make, tmp_path):")))
    assert str(caught.value).endswith(", ".join(FIXTURES))


def test_a_fixture_of_the_file_itself_is_refused(write: Write) -> None:
    own = "\n@pytest.fixture\ndef mine():\n    return 1\n"
    public = PUBLIC.replace("make):", "make, mine):")
    with pytest.raises(SuiteFault, match="there is no fixture 'mine'"):
        collect(write(own, public=public))


def test_a_fixture_that_applies_by_itself_is_refused(write: Write) -> None:
    with pytest.raises(SuiteFault, match="the grader's own fixtures only"):
        collect(write("\n@pytest.fixture(autouse=True)\ndef seeded():\n    pass\n"))
    # What is called before every test is a fixture by another name.
    with pytest.raises(SuiteFault, match="there is no fixture '_xunit_setup_function"):
        collect(write("\ndef setup_function(function):\n    pass\n"))


def test_a_class_of_tests_is_refused(write: Write) -> None:
    lines = PUBLIC.strip().replace("test_shape(", "test_shape(self, ").splitlines()
    inside = "\nclass TestShape:\n" + "".join(f"    {line}\n" for line in lines)
    with pytest.raises(SuiteFault, match="not a method of a class"):
        collect(write(public=inside))


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("labels0-0.5", {"labels": [0, 1], "share": 0.5}, "[0, 1]-0.5"),
        ("path0", {"path": ["a\\1"]}, r"['a\\1']"),
        ("make0", {"make": object()}, "make0"),
        ("long0", {"long": list(range(99))}, "long0"),
        ("an id", {"labels": [0]}, "an id"),
    ],
)
def test_a_case_is_told_by_its_values(name: str, parameters: dict[str, Any], words: str) -> None:
    assert Case(name, parameters).words == words


@pytest.mark.parametrize(
    "mark",
    [
        'skip(reason="later")',
        'skipif(True, reason="later")',
        "xfail",
        'usefixtures("component")',
        'filterwarnings("ignore")',
    ],
)
def test_a_mark_that_the_judge_would_pass_over_is_refused_by_name(write: Write, mark: str) -> None:
    name = mark.partition("(")[0]
    with pytest.raises(SuiteFault, match=f"layer_norm.shape: the judge does not know .*'{name}'"):
        collect(write(public=PUBLIC.replace("\n@", f"\n@pytest.mark.{mark}\n@", 1)))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("points=1", "points=2", "add up to 3 points, assignment.toml gives it 2"),
        ('"""the shape is kept"""', "pass", "it has no docstring, whose first line is its title"),
        (', source="page 1"', "", r"its criterion\(\.\.\.\) has no source="),
        ("points=1", "points=-1", "points=-1 cannot be: give a number above 0"),
        ("points=1", 'points="one"', "points='one' cannot be: give a number above 0"),
        ("points=1", "points=True", "points=True cannot be: give a number above 0"),
        (
            '@pytest.mark.criterion(points=1, form=True, source="page 1")',
            "",
            "is missing above the test",
        ),
        ("form=True", "fre=True", "has no 'fre'; did you mean free"),
        (
            "points=1, ",
            "points=1, examples=0, ",
            "examples=0 cannot be: give a whole number from 1",
        ),
        ("points=1, ", "points=1, examples=True, ", "examples=True cannot be"),
        ("points=1, ", "points=1, examples=5, ", "examples=5 cannot be: .* from 1 to 4"),
        ("points=1, ", "points=1, examples=2, ", r"layer_norm\.shape: nothing is drawn for it"),
        ("component.call(", "component.session(", "has only asking, build, call"),
        ("    expect.shape(", "    assert print(", "use expect"),
        ("expect.shape(", "expect._shape(", "_shape is private"),
        ("def test_shape(", "def test_values(", "two criteria are called layer_norm.values"),
        ("x.shape)", "(1,))", r"the solution loses layer_norm\.shape"),
    ],
)
def test_a_broken_suite_is_refused(write: Write, old: str, new: str, said: str) -> None:
    assert old in PUBLIC
    with pytest.raises(SuiteFault, match=said):
        collect(write(public=PUBLIC.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("import os", "may not import os"),
        ("import nothing_here", "may not import nothing_here"),
        ("import math.nothing", "cannot be collected: .*math"),
    ],
)
def test_what_a_test_may_not_import_is_named(write: Write, line: str, said: str) -> None:
    with pytest.raises(SuiteFault, match=said):
        collect(write(f"\n{line}\n"))


def test_all_that_is_wrong_with_a_suite_is_told_at_once(write: Write) -> None:
    wrong = (
        "import socket\nimport os, helper\n\ndef test_two(component, expect):\n    assert expect\n"
    )
    hidden = HIDDEN.replace("reference, expect", "reference, expect, tmp_path", 1)
    assignment = write(wrong, hidden=hidden)
    (assignment.secret / "tests" / "test_other.py").write_text("nowhere()\n")
    (assignment.secret / "tests" / "test_third.py").write_text("def test_(:\n")
    first = len((HEAD + PUBLIC).splitlines()) + 1
    with pytest.raises(SuiteFault) as caught:
        collect(assignment)
    told = str(caught.value).splitlines()
    assert told[0] == f"{len(told) - 1} faults"
    said = [
        f"test_layer_norm.py, line {first}: a test may not import socket",
        f"test_layer_norm.py, line {first + 1}: a test may not import os",
        f"test_layer_norm.py, line {first + 1}: a test may not import helper",
        f"test_layer_norm.py, line {first + 4}: use expect",
        "test_third.py cannot be read: ",
        "test_other.py cannot be collected: NameError: name 'nowhere' is not defined",
        "layer_norm.values: there is no fixture 'tmp_path'",
    ]
    assert len(told) == 1 + len(said)
    for line, part in zip(told[1:], said, strict=True):
        assert part in line


def test_a_component_whose_file_is_refused_is_not_said_to_have_no_test(write: Write) -> None:
    with pytest.raises(SuiteFault) as caught:
        collect(write("import os\nimport sys\n", hidden="import os\n" + HIDDEN))
    assert str(caught.value).count("\n  ") == 3
    assert "no test is about" not in str(caught.value)
    assert "add up to" not in str(caught.value)


def test_a_changed_suite_is_collected_anew(write: Write) -> None:
    assert collect(write()).criteria["layer_norm"][0].title == "the shape is kept"
    changed = PUBLIC.replace("the shape is kept", "nothing is lost")
    assert collect(write(public=changed)).criteria["layer_norm"][0].title == "nothing is lost"


def test_what_becomes_unsound_is_refused_though_examples_are_kept(
    write: Write, tmp_path: Path
) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    collect(write(), cache=Cache(folder))
    assert list(folder.iterdir())
    unsound = HIDDEN.replace("expect.close", "assert x is not None; expect.close")
    with pytest.raises(SuiteFault, match="not assert"):
        collect(write(hidden=unsound), cache=Cache(folder))
    collect(write(), cache=Cache(folder))


def test_a_file_about_no_component_is_refused(write: Write) -> None:
    assignment = write()
    tests = assignment.public / "tests"
    (tests / "test_other.py").write_text(HEAD + PUBLIC)
    with pytest.raises(SuiteFault, match=r"test_other\.py is about no component"):
        collect(assignment)


def test_no_tests_at_all_are_refused(write: Write) -> None:
    with pytest.raises(SuiteFault, match="found no tests to collect"):
        collect(write(public="", hidden=""))


def test_a_solution_that_loses_points_is_refused(write: Write) -> None:
    public = PUBLIC.replace("expect.shape(", "expect.close(").replace("x.shape)", "x)")
    with pytest.raises(SuiteFault, match=r"the solution loses layer_norm\.shape: .* is off by"):
        collect(write(public=public))


NUMBERS = """
@pytest.mark.criterion(points=1, source="page 2")
@given(number=st.integers(0, 10**6), size=st.integers(2, 5))
def test_values(component, reference, expect, make, number, size):
    \"\"\"the values are right\"\"\"
    x = make.normal(3, size, seed=number)
    expect.close(component.call("layer_norm", x).output, reference.call("layer_norm", x).output)
"""


@pytest.mark.slow
def test_everybody_draws_the_same_examples_whatever_else_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hypothesis would put in numbers that stand in any module outside site-packages."""
    assignment = load_assignment(write_tiny(tmp_path / "project", hidden=NUMBERS), "norm")

    def drawn() -> list[object]:
        return [
            collect(assignment, seed, cache=Cache(None)).kept("layer_norm")["examples"]
            for seed in range(8)
        ]

    before = drawn()
    path = tmp_path / "somebodys_module.py"
    numbers = list(range(1000, 9000, 10))
    path.write_text(f"NUMBERS = {numbers}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, path.stem, importlib.import_module(path.stem))
    assert drawn() == before
