"""Plain pytest as criteria: their names and points, and what is wrong with a suite of them."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.judge.cache import Cache
from autograder.judge.collection import collect
from autograder.judge.reference import ReferenceProcess
from autograder.judge.suite import Suite, SuiteFault

TOML = """\
schema = 1
name = "plain"
title = "Plain"

[[components]]
name = "words"
points = {points}
{more}
"""
SOLUTION = """\
class Empty(ValueError):
    pass


def longest(text):
    found = text.split()
    if not found:
        raise Empty("there are no words")
    return max(found, key=len)


def each(function, text):
    return [function(word) for word in text.split()]
"""
STUB = """\
class Empty(ValueError):
    pass


def longest(text):
    raise NotImplementedError


def each(function, text):
    raise NotImplementedError
"""
PUBLIC = '''\
import pytest

from words import Empty, each, longest


def test_longest():
    """the first of the longest words"""
    assert longest("a bb cc") == "bb"


@pytest.mark.parametrize("text", ["", " "])
def test_no_words(text):
    with pytest.raises(Empty, match="no words"):
        longest(text)


class TestEach:
    def test_every_word(self):
        assert each(len, "a bb") == [1, 2]
'''
HIDDEN = '''\
import pytest

from reference import longest as right
from words import longest


def test_secret_name_of_a_rule():
    """a secret docstring"""
    assert longest("x yy") == right("x yy")


@pytest.mark.criterion(title="long texts", points=1)
def test_long():
    assert longest("a " * 50 + "bb") == "bb"
'''


ONE = "from words import longest\n\n\ndef test_one():\n    assert longest('a') == 'a'\n"


def write(
    root: Path, public: str = PUBLIC, hidden: str = HIDDEN, points: str = "10", more: str = ""
) -> Assignment:
    """Write a project with one component and return its assignment."""
    for place, tests, source in (("assignments", public, ""), ("reference", hidden, SOLUTION)):
        folder = root / place / "plain"
        (folder / "tests").mkdir(parents=True)
        (folder / "words.py").write_text(source or STUB)
        (folder / "tests" / "test_words.py").write_text(tests)
    toml = TOML.format(points=points, more=more)
    (root / "assignments" / "plain" / "assignment.toml").write_text(toml)
    return load_assignment(root, "plain")


def collected(assignment: Assignment) -> Suite:
    """Collect the suites anew."""
    return collect(assignment, cache=Cache(None))


def test_tests_are_criteria_with_equal_shares_of_what_is_left(tmp_path: Path) -> None:
    found = {c.id: c for c in collected(write(tmp_path)).criteria["words"]}
    points = {name: criterion.points for name, criterion in found.items()}
    assert points == {
        "words.longest": 2.25,
        "words.no_words": 2.25,
        "words.TestEach_every_word": 2.25,
        "words.hidden_1": 2.25,
        "words.hidden_2": 1.0,
    }
    assert found["words.longest"].title == "the first of the longest words"
    assert found["words.no_words"].title == "no words"
    assert found["words.hidden_2"].title == "long texts"


def test_shares_that_do_not_come_out_even_add_up(tmp_path: Path) -> None:
    criteria = collected(write(tmp_path, points="2", hidden=HIDDEN)).criteria["words"]
    assert round(sum(c.points for c in criteria), 10) == 2
    assert {c.points for c in criteria} == {0.25, 1.0}
    third = write(tmp_path / "third", hidden=ONE, points="1")
    criteria = collected(third).criteria["words"]
    assert round(sum(c.points for c in criteria), 10) == 1


def test_nothing_of_a_hidden_test_is_told(tmp_path: Path) -> None:
    hidden = [c for c in collected(write(tmp_path)).criteria["words"] if c.visibility == "hidden"]
    assert "secret" not in repr(hidden)
    assert hidden[0].title == "hidden check 1 of words"


def test_cases_of_one_test_share_its_points(tmp_path: Path) -> None:
    suite = collected(write(tmp_path))
    assert len(suite.checks["words.no_words"].cases) == 2


def test_a_test_that_is_skipped_is_no_criterion_and_is_named(tmp_path: Path) -> None:
    over = '\n\n@pytest.mark.skipif(True, reason="no GPU")\ndef test_gpu():\n    assert 0\n'
    over += "\n\n@pytest.mark.xfail\ndef test_later():\n    assert 0\n"
    suite = collected(write(tmp_path, public=PUBLIC + over))
    assert not {"words.gpu", "words.later"} & suite.checks.keys()
    assert sum("has no points" in note for note in suite.notes) == 2


def test_one_that_has_a_mark_is_a_fault(tmp_path: Path) -> None:
    over = (
        "\n\n@pytest.mark.criterion(points=1)\n@pytest.mark.skip\ndef test_gpu():\n    assert 0\n"
    )
    with pytest.raises(SuiteFault, match=r"test_gpu is skipped .* take the mark away"):
        collected(write(tmp_path, public=PUBLIC + over))


def test_marks_that_leave_nothing_are_a_fault(tmp_path: Path) -> None:
    with pytest.raises(SuiteFault, match=r"have all of its points.*words\.longest"):
        collected(write(tmp_path, points="1"))


def test_a_file_of_another_name_belongs_to_the_component_that_says_so(tmp_path: Path) -> None:
    assignment = write(tmp_path, more='tests = ["test_week_one.py"]')
    tests = assignment.public / "tests"
    (tests / "test_words.py").rename(tests / "test_week_one.py")
    assert "words.longest" in collected(assignment).checks


def test_ordinary_tests_stand_beside_others(tmp_path: Path) -> None:
    assignment = write(tmp_path)
    text = (
        "import pytest\n\n\n@pytest.mark.criterion(points=2, source='')\n"
        "def test_asked(component, expect):\n"
        '    """asked"""\n    expect.same(component.call("longest", "a bb").value, "bb")\n'
    )
    (assignment.public / "tests" / "test_words.py").write_text(text)
    (assignment.public / "tests" / "test_words_too.py").write_text(PUBLIC)
    criteria = {c.id: c.points for c in collected(assignment).criteria["words"]}
    assert criteria["words.asked"] == 2
    assert criteria["words.longest"] == 1.75


@pytest.mark.parametrize(
    ("public", "said"),
    [
        ("def test_one(absent):\n    assert absent\n", "fixture 'absent' not found"),
        (
            "import pytest\n\n\n@pytest.mark.criterion(points=1, examples=9)\ndef test_one():\n"
            "    pass\n",
            "examples= is for tests that take `component`",
        ),
        ("import nowhere\n\n\ndef test_one():\n    pass\n", "No module named 'nowhere'"),
        ("from words import nothing\n\n\ndef test_one():\n    pass\n", "words.py has no `nothing`"),
        ("from reference import each\n\n\ndef test_one():\n    pass\n", "which no student has"),
        ("import words\n\n\ndef test_one():\n    assert words.longest('a') == 'b'\n", "loses"),
        (
            "import words\nfrom unittest import mock\n\n\ndef test_one():\n"
            "    words.each(mock.Mock(), 'a')\n",
            "write a small function or class in the test",
        ),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(public: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SuiteFault, match=said):
        collected(write(tmp_path, public=public))


def test_what_an_author_should_know_is_noted(tmp_path: Path) -> None:
    more = (
        "\n\nimport time\n\nimport words\n\n\ndef test_fast():\n    begin = time.perf_counter()\n"
        "    words.longest('a')\n    assert time.perf_counter() - begin < 60\n"
    )
    notes = collected(write(tmp_path, public=PUBLIC + more)).notes
    assert [note for note in notes if "words.fast" in note and "reads a clock" in note]


def graded(assignment: Assignment, source: str, tmp_path: Path) -> dict[str, tuple[int, int]]:
    """Return how many cases of each criterion pass with a component's text, as it is run live."""
    suite = collected(assignment)
    folder = tmp_path / "other"
    (folder / "reference" / "plain").mkdir(parents=True)
    (folder / "reference" / "plain" / "words.py").write_text(source)
    (folder / "assignments").symlink_to(assignment.root / "assignments")
    (folder / "reference" / "plain" / "tests").symlink_to(assignment.secret / "tests")
    other = load_assignment(folder, "plain")
    found = {}
    for name in suite.checks:
        with contextlib.closing(ReferenceProcess(other, "words")) as process:
            attempt = suite.run(suite.checks[name].criterion, process)
        found[name] = attempt.passed, attempt.cases
    return found


def test_no_more_cases_count_than_the_solution_has(tmp_path: Path) -> None:
    public = (
        "import pytest\n\nimport words\n\n\n@pytest.mark.parametrize('n', words.NUMBERS)\n"
        "def test_number(n):\n    assert n > 0\n"
    )
    assignment = write(tmp_path, public=public)
    solution = assignment.secret / "words.py"
    solution.write_text(SOLUTION + "\n\nNUMBERS = [1, 2]\n")
    more = SOLUTION + "\n\nNUMBERS = list(range(1, 60))\n"
    assert graded(assignment, more, tmp_path)["words.number"] == (2, 2)


def test_the_reference_gets_values_alone(tmp_path: Path) -> None:
    hidden = (
        "from reference import each as right\n\nimport words\n\n\ndef test_given():\n"
        "    right(lambda one: one, [words.each][0] and 'a b')\n"
        "    assert words.longest('a') == 'a'\n\n\n"
        "def test_nested():\n    assert right(len, [words.Empty('x')]) is None\n"
    )
    with pytest.raises(SuiteFault, match="the reference is given an object"):
        collected(write(tmp_path, hidden=hidden))


def test_other_work_loses_what_it_gets_wrong(tmp_path: Path) -> None:
    wrong = SOLUTION.replace("key=len", "key=str")
    found = graded(write(tmp_path), wrong, tmp_path)
    assert found["words.longest"] == (0, 1)
    assert found["words.no_words"] == (2, 2)
    assert found["words.hidden_1"] == (1, 1)


def test_options_of_pytest_from_outside_count_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing")
    assert "words.longest" in collected(write(tmp_path)).checks
