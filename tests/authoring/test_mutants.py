"""Mutants: one small change each, shortly described, marked where nothing can tell them apart."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.assignment import Assignment
from autograder.authoring import stubs
from autograder.authoring.mutants import Mutant, marks_of, mutants_of, sampled, without_marks
from autograder.authoring.proof import settle
from autograder.errors import UsageError
from tests.conftest import ROOT

# Of every kind of change a line, and what it may become.
KINDS = [
    ("return a + b", ["return a - b", "return a", "return b", "return None"]),
    ("return a @ b", ["return b @ a"]),
    ("return -(a - b)", ["return a - b", "return -(b - a)"]),
    ("return (a + b) * a", ["return (a - b) * a", "return a + b", "return (a + b) / a"]),
    ("return 2 ** (a * b)", ["return 2 ** (a / b)", "return 2", "return 3 ** (a * b)"]),
    ("return a / b**2", ["return a / (b * 2)", "return a / b", "return a * b ** 2"]),
    ("return a < b", ["return a <= b", "return a >= b"]),
    ("return a is not b", ["return a is b"]),
    ("return a not in b", ["return a in b"]),
    ("return a and b or c", ["return (a or b) or c", "return (a and b) and c", "return b or c"]),
    ("return not a", ["return a"]),
    ("return a.sum(dim=-1)", ["return a.sum(dim=0)", "return a.sum(dim=-2)", "return a.sum()"]),
    ("return a.sum(dim=-1)", ["return a", "return a.mean(dim=-1)"]),
    ("return torch.sqrt(a + b) / c", ["return (a + b) / c"]),
    ("return f(a, b)", ["return f(b, a)", "return f(a)", "return a"]),
    ("return f(a, keep=True)", ["return f(a, keep=False)", "return f(a)"]),
    ("return a[1:b]", ["return a[:b]", "return a[1:]", "return a[2:b]", "return a[1:b + 1]"]),
    ("return a if b else c", ["return a", "return c"]),
    ("return a, b", ["return (b, a)"]),
    ("return {a: b, b: c}", ["return {a: c, b: b}"]),
    ("return [a for a in b if c]", ["return [a for a in b if True]"]),
    ('return "é" + b', ["return 'é'", "return '' + b"]),
    ("a += b", ["a -= b", "a = b", "pass"]),
    ("a = a * b", ["pass", "a = a.__imul__(b)"]),
    ("f(a)", ["pass"]),
    ("raise ValueError(a)", ["raise RuntimeError(a)", "pass"]),
    ("return a * 0.5", ["return a * 1.0", "return a * 0.05"]),
    ("return f(range(b))", ["return f(range(b + 1))", "return f(range(b - 1))"]),
    ("if a: f(b)", ["if True:\n        f(b)", "if False:\n        f(b)"]),
    ("while a: break", ["while False:\n        break", "while a:\n        continue"]),
    ("with torch.no_grad(): f(b)", ["if True:\n        f(b)"]),
    ("self.q, self.k = a, b", ["self.q, self.k = (b, a)", "pass"]),
]
HEAD = "import torch\n\ndef g(self, a, b, c):\n"


def lines_of(body: str) -> list[str]:
    """Return what the body of a function may become, a line each."""
    return [m.source.removeprefix(HEAD).strip() for m in mutants_of(f"{HEAD}    {body}\n", "x.py")]


@pytest.mark.parametrize("line, expected", KINDS)
def test_every_kind_of_change_is_made(line: str, expected: list[str]) -> None:
    assert set(expected) <= set(lines_of(line))


def test_siblings_and_words_of_a_class_are_taken_for_each_other() -> None:
    source = (
        "class A:\n"
        "    def __init__(self, kind='pre'):\n"
        "        self.one = Linear(1)\n"
        "        self.two = Linear(2)\n"
        "        if kind == 'post':\n"
        "            self.other = 3\n\n"
        "    def f(self, x):\n"
        "        return self.one(x)\n"
    )
    changed = {(m.line, m.new) for m in mutants_of(source, "x.py")}
    assert (9, "return self.two(x)") in changed
    assert (2, "def __init__(self, kind='post'):") in changed
    assert (5, "if kind == 'pre':") in changed


@pytest.mark.parametrize(
    "text",
    [
        '"""A docstring of 3 words."""\n',
        "def f(a: int | None = None) -> 'list[1]':\n    '''Say 3.'''\n",
        "import math\nfrom a import b\n",
        "if __name__ == '__main__':\n    print(1 + 2)\n",
        "x: 'tuple[int, 3]'\n",
        "__all__ = ['a', 'b']\n",
        "x = y\n",
    ],
)
def test_what_decides_nothing_is_left_alone(text: str) -> None:
    assert mutants_of(text, "x.py") == []


def test_messages_are_left_alone() -> None:
    source = "def f(a):\n    if a:\n        raise ValueError('at most 3', a + 1)\n"
    source += "    assert a, 'b' * 2\n"
    for mutant in mutants_of(source, "x.py"):
        assert "'at most 3', a + 1" in mutant.source or "ValueError" not in mutant.source
        assert "'b' * 2" in mutant.source or "assert" not in mutant.source


def test_changes_that_compile_alike_are_one() -> None:
    # Python adds constants up beforehand: -1 - 0 and 0 - 1 are one mutant, 0 - 0 is none.
    assert sorted(lines_of("return 0 + 0")) == ["return -1 + 0", "return 1 + 0", "return None"]


@functools.cache
def found_in(path: Path) -> tuple[str, list[Mutant]]:
    return path.read_text(), mutants_of(path.read_text(), path.name)


FILES = [
    *sorted((ROOT / "reference" / "transformer_block").glob("*.py")),
    *sorted((ROOT / "tests" / "courses" / "basics" / "reference" / "basics").glob("*.py")),
    # Some that use more of the language.
    ROOT / "autograder" / "authoring" / "wrong_variants.py",
    ROOT / "autograder" / "authoring" / "pasted.py",
]


@pytest.mark.release
@given(path=st.sampled_from(FILES), data=st.data())
def test_a_mutant_is_a_program_that_differs_in_one_place(path: Path, data: st.DataObject) -> None:
    source, found = found_in(path)
    mutant = data.draw(st.sampled_from(found))
    old = [line.strip() for line in ast.unparse(ast.parse(source)).split("\n")]
    new = [line.strip() for line in mutant.source.rstrip("\n").split("\n")]
    assert old != new
    # What the report shows is all that differs.
    place = next(i for i, (one, two) in enumerate(zip(old, new, strict=False)) if one != two)
    after = (
        len(old)
        - place
        - next(n for n in range(len(old)) if " ".join(old[place : place + n]) == mutant.old)
    )
    assert old[len(old) - after :] == new[len(new) - after :]
    assert " ".join(new[place : len(new) - after]) == mutant.new
    assert 1 <= mutant.line <= len(source.split("\n"))


def test_a_program_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match=r"x\.py is no Python"):
        mutants_of("def f(:\n", "x.py")


@given(count=st.integers(0, 20), line=st.integers(1, 7))
def test_a_sample_is_steady_and_has_what_is_marked(count: int, line: int) -> None:
    found = mutants_of("def f(a, b):\n" + "    a = a + b * 2\n" * 6, "x.py")
    first = sampled(found, [line], count, "seed")
    assert first == sampled(found, [line], count, "seed")
    assert len(first) >= min(count, len(found))
    assert [m for m in found if m.line == line] == [m for m in first if m.line == line]


# Marks.

MARKED = """\
def f(a, b=1):  # (B, T)  # equivalent: nobody asks
    # equivalent: a reason
    #   that goes on
    # A word on the sum.
    c = a + b
    return "# equivalent: no mark" + c
"""


def test_marks_are_read_with_what_they_are_about() -> None:
    first, second = marks_of(MARKED, "f.py")
    assert (first.line, first.target, first.reason) == (1, 1, "nobody asks")
    assert (second.line, second.target, second.reason) == (2, 5, "a reason that goes on")


def test_no_mark_is_left_in_a_stub() -> None:
    assert without_marks(MARKED, "f.py") == (
        "def f(a, b=1):  # (B, T)\n"
        "    # A word on the sum.\n"
        "    c = a + b\n"
        '    return "# equivalent: no mark" + c\n'
    )
    source = MARKED + "    ### BEGIN SOLUTION\n    ### END SOLUTION\n"
    assert "nobody asks" not in stubs.make_stub(source, "f.py")
    assert "goes on" not in stubs.make_stub(source, "f.py")


def test_stubs_of_the_assignment_hold_no_mark(assignment: Assignment) -> None:
    names = list(assignment.totals)
    assert any(marks_of((assignment.secret / f"{n}.py").read_text(), n) for n in names)
    for name in names:
        for stub in stubs.stub_of(assignment, name).values():
            assert not re.search(r"#\s*equivalent", stub)


@pytest.mark.parametrize("mark", ["# equivalent:", "# equivalent", "# equivalent: "])
def test_a_mark_without_a_reason_is_refused(mark: str) -> None:
    with pytest.raises(UsageError, match=r"f\.py, line 2: the mark gives no reason"):
        marks_of(f"x = 1\n{mark}\ny = 2\n", "f.py")


def test_a_word_on_equivalence_is_no_mark() -> None:
    assert marks_of("# equivalent to the formula of page 3\nx = 1\n", "f.py") == []


def mutant(line: int, new: str) -> Mutant:
    return Mutant("f.py", line, "old", new, f"{line}{new}")


ONE, TWO, OTHER = mutant(2, "x = 2 + 1"), mutant(2, "x = 1 - 1"), mutant(3, "y = 2")


@pytest.mark.parametrize(
    ("survivors", "accepted"),
    [([ONE], [ONE]), ([ONE, TWO], [ONE, TWO]), ([ONE, OTHER, TWO], [ONE, TWO])],
)
def test_a_mark_accepts_every_survivor_of_its_line_and_of_no_other(
    survivors: list[Mutant], accepted: list[Mutant]
) -> None:
    marks = marks_of("# equivalent: a reason\nx = 1 + 1\ny = 1\n", "f.py")
    assert settle(marks, survivors) == (dict.fromkeys(accepted, "a reason"), [])


@pytest.mark.parametrize("survivors", [[], [OTHER]])
def test_a_mark_on_a_line_without_a_survivor_is_a_fault(survivors: list[Mutant]) -> None:
    marks = marks_of("# equivalent: a reason\nx = 1 + 1\ny = 1\n", "f.py")
    assert settle(marks, survivors) == (
        {},
        ["f.py, line 1: the mark accepts nothing: no mutant of line 2 survives: remove it"],
    )
