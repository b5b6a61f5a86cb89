"""Misconceptions as edits of the solution: each as if it had been edited so, and together."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from autograder.api.messages import Request
from autograder.api.operations import Call, Reset, RunProgram
from autograder.assignment import load_assignment
from autograder.authoring.rows import rows_of
from autograder.diagnosis.table import RIGHT
from autograder.errors import UsageError
from autograder.judge.cache import Cache
from autograder.judge.combining import combined
from autograder.judge.misconceptions import Misconception, file_of, read, with_mistakes
from autograder.judge.places import CACHE_VARIABLE
from autograder.judge.variants import Variants
from tests.tiny import PUBLIC, write_tiny

SOLUTION = '''"""Sums. Source: handout."""

from __future__ import annotations

import math


def scaled(numbers, by=2):
    """Return the numbers times a factor, and their sum."""
    ### BEGIN SOLUTION
    largest = abs(max(numbers))
    # Nothing above the largest.
    total = 0
    for number in numbers:
        total += number
    result = [by * number for number in numbers]
    return result, total + largest
    ### END SOLUTION


class Counter:
    """Counts."""

    def __init__(self, start=0):
        self.count = start

    def add(self, number):
        """Add, and return how much it is."""
        self.count += number
        return self.count

    def said(self, table):
        """Say what is in one place of a table."""
        place = table[1:, 0]
        return f"{place} of {self.count}"
'''
# What it is asked for is what it holds.
TABLE = "type('Table', (), {'__getitem__': lambda self, key: key})()"


def changed(old: str, new: str, source: str = SOLUTION) -> str:
    """Return a source with another text in one place."""
    assert source.count(old) == 1, old
    return source.replace(old, new)


def at(folder: Path, edits: str, solution: str = SOLUTION) -> Path:
    """Write edits of a solution, and return where they are."""
    (folder / "misconceptions").mkdir(exist_ok=True)
    (folder / "sums.py").write_text(solution)
    (folder / "misconceptions" / "sums.diff").write_text(edits)
    return folder / "misconceptions" / "sums.diff"


def of_all(wrongs: Mapping[str, str], solution: str = SOLUTION) -> str:
    """Return the edits that make these of a solution, each of all its lines."""
    old = "".join(f"-{line}\n" for line in solution.splitlines())
    new = {
        name: "".join(f"+{line}\n" for line in text.splitlines()) for name, text in wrongs.items()
    }
    return "".join(f"@@ {name}\nin words\n{old}{new[name]}" for name in wrongs)


def run(source: str | bytes, then: str) -> object:
    """Run a component, and return what an expression is in it, or what it raises."""
    scope: dict[str, Any] = {"__name__": "sums"}
    try:
        exec(compile(source, "sums.py", "exec", dont_inherit=True), scope)
        return eval(then, scope)
    except Exception as error:
        return type(error).__name__


def wrong(path: Path, names: Collection[str], then: str, program: bool = False) -> object:
    """Return what an expression is in a component with these mistakes in force."""
    return run(with_mistakes(combined(path, program), names, program), then)


ROWS = """\
# Both kinds of row.
@@ doubled_total: page 1
you added every number
twice
-        total += number
+        total += 2 * number
@@ no_largest
you left out the largest
-    return result, total + largest
+    return result, total
"""


def test_a_row_is_a_misconception_with_its_words_and_its_source(tmp_path: Path) -> None:
    at(write_tiny(tmp_path, PUBLIC, "") / "reference" / "norm", ROWS)
    (tmp_path / "reference" / "norm" / "sums.py").rename(
        tmp_path / "reference" / "norm" / "layer_norm.py"
    )
    path = tmp_path / "reference" / "norm" / "misconceptions" / "sums.diff"
    assignment = load_assignment(tmp_path, "norm")
    path = path.rename(path.with_name("layer_norm.diff"))
    assert file_of(assignment, "layer_norm") == path
    assert read(assignment, "layer_norm") == {
        "doubled_total": Misconception(
            "layer_norm", "doubled_total", "you added every number twice", "page 1"
        ),
        "no_largest": Misconception(
            "layer_norm", "no_largest", "you left out the largest", "handout"
        ),
    }
    rows = {row.id: row.files["layer_norm.py"] for row in rows_of(assignment, pairs=None)}
    named = rows["layer_norm.doubled_total"], rows["layer_norm.doubled_total+no_largest"]
    results = [run(source, "scaled([1, 2])") for source in named]
    assert results == [([2, 4], 8), ([2, 4], 6)]
    assert run(rows["right-misconceptions-off"], "scaled([1, 2])") == ([2, 4], 5)

    path.with_suffix(".py").write_text("")
    with pytest.raises(UsageError, match=r"layer_norm.py and layer_norm.diff .* delete one"):
        read(assignment, "layer_norm")


ALL = "    return result, total + largest\n"
# Texts of the solution with others in their place, and calls that tell.
ALONE = {
    "an expression": ({"total = 0": "total = 10"}, "scaled([1])"),
    "the words of a string with values": ({" of {": " in {"}, f"Counter().said({TABLE})"),
    "a part of what is between brackets": ({"[1:, 0]": "[0]"}, f"Counter().said({TABLE})"),
    "what is between them": ({"[1:, 0]": "[2:, 0]"}, f"Counter().said({TABLE})"),
    "a string with values": ({"return self.count": "return f'{self.count}'"}, "Counter().add(1)"),
    "a signature": (
        {"numbers, by=2": "numbers, by=3, *more"},
        "scaled([1], 5, 6), scaled([1]), scaled(numbers=[2])",
    ),
    "a signature of a method": ({"start=0": "start=1"}, "Counter().add(2), Counter(5).add(2)"),
    "a call of what was inherited": (
        {
            "class Counter:": "class Other:\n    pass\n\n\nclass Counter:",
            "start=0": "start=1",
            "self.count = start": "super().__init__()\n        self.count = start",
        },
        "Counter().count",
    ),
    "a statement goes": ({"        self.count += number\n": ""}, "Counter().add(2)"),
    "the only one goes": ({"self.count = start": "pass"}, "vars(Counter())"),
    "statements come, and a docstring": (
        {
            "Add, and": "# Now",
            "        self.count +=": "        # Twice.\n\n        number *= 2\n"
            "        number += 1\n        self.count +=",
        },
        "Counter().add(2)",
    ),
    "a method comes": (
        {
            "self.count += number": "self.more(number)",
            "    def add": "    def more(self, number):\n"
            "        self.count -= number\n\n    def add",
        },
        "Counter().add(2)",
    ),
    "imports, functions and numbers come": (
        {
            "import math\n": "import math\nfrom operator import mul as times\n\nTEN = 10\n",
            "class Counter": "def least(_):\n    return times(TEN, math.e)\n\n\nclass Counter",
            "max(numbers)": "least(numbers)",
        },
        "scaled([1, 3])",
    ),
    "a name becomes local": (
        {"largest = abs(": "abs = lambda found: 7\n    largest = abs("},
        "scaled([1])",
    ),
    "a name becomes global": (
        {"    total = 0": "    global total\n    total = 0"},
        "scaled([1]), total",
    ),
    "a generator": ({ALL: "    yield total\n"}, "list(scaled([1, 3]))"),
    "a decorator comes": (
        {
            "import math\n": "import math\n\n\ndef held(f):\n    return lambda *a: [f(*a)]\n",
            "    def add": "    @held\n    def add",
        },
        "Counter().add(2)",
    ),
    "a loop": ({"in numbers:": "in numbers[1:]:"}, "scaled([1, 3])"),
    "a comprehension": (
        {"by * number for number in numbers": "by + n for n in numbers if n > 1"},
        "scaled([1, 3])",
    ),
    "another order": (
        {
            "largest = abs(": "by = 3\n    largest = abs(",
            ALL: "    return total, by\n    largest = 0\n",
        },
        "scaled([1, 3])",
    ),
    "an error": ({"    total = 0": "    raise KeyError(by)\n    total = 0"}, "scaled([1])"),
    "a part of what is indexed": (
        {"return self.count": "return [1, 2, 3][:2]"},
        "Counter().add(0)",
    ),
}
CALLS = ("scaled([1, 3])", "scaled([2], by=5)", "vars(Counter())", "Counter(2).add(3)")


@pytest.mark.parametrize("program", [False, True])
@pytest.mark.parametrize("what", ALONE)
def test_an_edit_is_in_force_as_if_the_solution_had_been_edited_so(
    tmp_path: Path, what: str, program: bool
) -> None:
    texts, then = ALONE[what]
    edited = SOLUTION
    for old, new in texts.items():
        edited = changed(old, new, edited)
    path = at(tmp_path, of_all({"one": edited, "other": changed("+ largest", "- largest")}))
    assert run(edited, then) != run(SOLUTION, then)
    assert wrong(path, ["one"], then, program) == run(edited, then)
    for call in (then, *CALLS):
        assert wrong(path, [], call, program) == run(SOLUTION, call)
    assert wrong(path, ["other"], CALLS[0], program) == ([2, 6], 1)


LINES = st.sampled_from(
    [
        "a = a + 1",
        "a = a * 2",
        "b = a - b",
        "a, b = b, a",
        "if a > b:\n        a -= 3",
        "b += a % 3",
        "return a",
        "for n in range(3):\n        b += n * a",
        "a = (lambda c: c * b)(a)",
        "del b\n    b = 1",
    ]
)
BODIES = st.lists(LINES, min_size=1, max_size=6)


@given(bodies=st.lists(BODIES, min_size=2, max_size=4), program=st.booleans())
def test_any_edits_are_in_force_each_alone(
    bodies: list[list[str]], program: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    solution, *others = (
        "def f(a, b):\n    " + "\n    ".join([*body, "return a, b"]) + "\n" for body in bodies
    )
    wrongs = {f"m{number}": text for number, text in enumerate(others) if text != solution}
    assume(wrongs)
    path = at(tmp_path_factory.mktemp("any"), of_all(wrongs, solution), solution)
    for then in ("f(1, 2)", "f(5, -3)"):
        assert wrong(path, [], then, program) == run(solution, then)
        for name, text in wrongs.items():
            assert wrong(path, [name], then, program) == run(text, then)


TOGETHER = {
    "different statements": (
        [("total = 0", "total = 10"), ("by * number for", "by + number for")],
        ([3, 5], 17),
    ),
    "different parts of one": (
        [
            ("by * number for", "by * 10 for"),
            ("for number in numbers]", "for number in [0, *numbers]]"),
        ],
        ([20, 20, 20], 7),
    ),
    "the same: the first counts": (
        [("total = 0", "total = 10"), ("total = 0", "total = 20")],
        ([2, 6], 17),
    ),
    "around the same": (
        [("max(numbers)", "max(numbers) * 10"), ("max(numbers)", "max(numbers) + 1")],
        ([2, 6], 35),
    ),
    "what is around another": (
        [("abs(max(numbers))", "-abs(max(numbers))"), ("max(numbers)", "min(numbers)")],
        ([2, 6], 3),
    ),
    "less than all, and in what is left": (
        [("= abs(max(numbers))", "= numbers"), ("max(numbers)", "max(numbers[:1])")],
        "TypeError",
    ),
    "the outer one counts": (
        [
            ("total += number", "total += 10"),
            ("    for number in numbers:\n        total += number\n", "    total = 100\n"),
        ],
        ([2, 6], 103),
    ),
    "two that cross": (
        [
            (
                "    total = 0\n    for number in numbers:\n        total += number\n",
                "    total = 50\n",
            ),
            (
                "        total += number\n    result = [by * number for number in numbers]\n",
                "        total -= number\n    by = 1\n    result = [by]\n    result += [by]\n",
            ),
        ],
        ([2, 6], 53),
    ),
    "around one of its kind": (
        [("total + largest", "1 + (total + largest)"), ("total + largest", "total - largest")],
        ([2, 6], 2),
    ),
    "what is around goes": (
        [("abs(max(numbers))", "max(numbers)"), ("abs(max(numbers))", "abs(min(numbers))")],
        ([2, 6], 5),
    ),
    "a part of what is replaced": (
        [("total + largest", "max(total, largest)"), ("total + largest", "total + 3 * largest")],
        ([2, 6], 9),
    ),
    "two heads": ([("by=2", "by=3"), ("by=2", "by=4")], ([3, 9], 7)),
    "a head and a body": ([("by=2", "by=3"), ("total = 0", "total = 10")], ([3, 9], 17)),
}


@pytest.mark.parametrize("what", TOGETHER)
def test_mistakes_combine_where_they_can(tmp_path: Path, what: str) -> None:
    pairs, expected = TOGETHER[what]
    wrongs = {f"m{n}": changed(*pair) for n, pair in enumerate(pairs)}
    path = at(tmp_path, of_all(wrongs))
    assert wrong(path, wrongs, "scaled([1, 3])") == expected
    for name, text in wrongs.items():
        assert wrong(path, [name], "scaled([1, 3])") == run(text, "scaled([1, 3])")


ROW = "@@ one\nin words\n"
GOES = "-    total = 0\n"
TWICE = "+    total = 1\n"
CLASS = " class Counter:\n"


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        (f"@@ one:\nin words\n{GOES}", "has not the form `@@ NAME: SOURCE`, or `@@ NAME`"),
        (f"@@ 1st\nin words\n{GOES}", "has not the form"),
        (f"@@ one two\nin words\n{GOES}", "has not the form"),
        (f"@@ one\n{GOES}", "one: the line below the head must say in words"),
        (ROW, "one: there is no edit"),
        (ROW + GOES + ROW + GOES, "one: the name is there twice"),
        (f"{ROW}-    totals = 0\n", "one: the old text at 'totals = 0' stands nowhere in sums.py"),
        (f"{ROW}-\n+\n+x = 1\n", "stands 10 times in sums.py"),
        (f"{ROW}{GOES}+    total =\n", "one: the edited solution is no Python: invalid syntax"),
        (f"{ROW}{GOES}+    total = 0  # twice\n", "one: its edits change nothing that runs"),
        (f"{ROW} import math\n+import cmath\n", "one: its edits change nothing that runs"),
        (f"{ROW}{GOES}+    break\n", "the edits together make no Python: 'break' outside loop"),
        (
            f"{ROW}-import math\n+import cmath as math\n",
            "one: 'import math' runs when the file is imported",
        ),
        (f"{ROW}{CLASS}+    print(1)\n", "one: 'print(1)' runs when the file"),
        (
            f"{ROW}-class Counter:\n+class Counter(dict):\n",
            "one: 'class Counter(dict):' runs when the file",
        ),
        (
            f"{ROW}+    @staticmethod\n     def add(self, number):\n",
            "one: '@staticmethod' runs when",
        ),
        (f"{ROW} import math\n+by = 1\n", "one: it adds 'by' where there is one"),
        (
            f"{ROW} import math\n+ten = 1\n\n{GOES}+    total = ten\n"
            "@@ two\nin words\n import math\n+ten = 2\n",
            "two: it adds 'ten' where there is one",
        ),
        (
            f"{ROW}+1\n from __future__ import annotations\n",
            "one: it changes the docstring of the file",
        ),
        (f'{ROW}-"""Sums. Source: handout."""\n', "one: it changes the docstring of the file"),
    ],
)
def test_what_cannot_be_put_in_force_is_refused_in_a_sentence(
    tmp_path: Path, edits: str, said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        combined(at(tmp_path, edits), program=False)
    words = str(refused.value)
    assert words.startswith(f"{tmp_path}/misconceptions/sums.diff")
    assert said in words
    assert "\n" not in words


def test_a_solution_that_asks_itself_or_is_not_there_is_refused(tmp_path: Path) -> None:
    path = at(tmp_path, ROWS, changed("largest = abs", "wrong = abs"))
    with pytest.raises(UsageError, match="has the name 'wrong': give it another one"):
        combined(path, program=False)
    (tmp_path / "sums.py").unlink()
    with pytest.raises(UsageError, match=r"sums.py, which is not there: write the solution first"):
        combined(path, program=False)


def test_what_is_put_together_is_kept_until_the_edits_or_the_solution_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    places = [tmp_path / name for name in ("one", "two", "three", "four")]
    for place in places:
        place.mkdir()
    first = combined(at(places[0], ROWS), program=False)

    def refuse(node: ast.AST) -> str:
        raise ArithmeticError("put together anew")

    monkeypatch.setattr(ast, "unparse", refuse)
    # Another folder, so that nothing this process remembers is of use.
    assert combined(at(places[1], ROWS), program=False) == first
    for place, edits, solution in (
        (places[2], ROWS, changed("by=2", "by=3")),
        (places[3], ROWS + "\n# A remark.\n", SOLUTION),
    ):
        with pytest.raises(ArithmeticError):
            combined(at(place, edits, solution), program=False)


PROGRAM = "import sys\n\nLIMIT = 2\nfor number in range(LIMIT):\n    print(number)\n"


def test_all_of_a_program_can_be_wrong(tmp_path: Path) -> None:
    edits = (
        "@@ more\nin words\n-LIMIT = 2\n+LIMIT = 3\n"
        "@@ one_less\nin words\n-for number in range(LIMIT):\n+for number in range(1, LIMIT):\n"
    )
    folder = at(tmp_path, edits, PROGRAM).parent
    variants = Variants(folder, "sums", program=True)
    question = [Request([Reset(), RunProgram(("--",), "", {})])]
    said = {
        names: variants.answer(frozenset(names), question)[0].value["output"].split()
        for names in ((), ("more",), ("more", "one_less"))
    }
    assert said == {(): ["0", "1"], ("more",): ["0", "1", "2"], ("more", "one_less"): ["1", "2"]}


def test_both_forms_are_imported_and_answer_alike(tmp_path: Path) -> None:
    """Also where one is imported by another, and after an earlier import of another text."""
    asks = "WRONG = frozenset()\n\n\ndef wrong(name):\n    return name in WRONG\n"
    uses = f"from sums import scaled\n{asks}\n\ndef three(numbers):\n"
    uses += "    return scaled(numbers, 2 if wrong('two') else 3)\n"
    by_hand = changed("total += number", "total += (2 if wrong('doubled_total') else 1) * number")
    by_hand = changed(
        ALL, "    return result, total if wrong('no_largest') else total + largest\n", by_hand
    )
    by_hand = changed("import math\n", asks, by_hand)
    questions = [[Request([Reset(), Call("scaled", args=([1, n],), seed=0)])] for n in range(3)]
    found = []
    for form in ("edits", "by hand", "edits"):
        folder = at(tmp_path, ROWS).parent
        (folder / "sums.py").unlink(missing_ok=True)
        if form == "by hand":
            (folder / "sums.diff").unlink()
            (folder / "sums.py").write_text(by_hand)
        (folder / "uses.py").write_text(uses)
        names = ("doubled_total", "no_largest")
        variants = Variants(folder, "sums")
        chosen = [frozenset(c) for n in range(3) for c in itertools.combinations(names, n)]
        found.append([variants.answer(w, q)[0].value for w in chosen for q in questions])
        other = Variants(folder, "uses")
        asked = [Request([Reset(), Call("three", args=([1, 2],), seed=0)])]
        assert other.answer(RIGHT, asked)[0].value == ([3, 6], 5)
        assert other.answer(frozenset(["two"]), asked)[0].value == ([2, 4], 5)
    assert found[0] == found[1] == found[2]
    assert "sums" not in sys.modules
    assert len({str(value) for value in found[0]}) > 3


def test_an_answer_follows_from_edits_and_solution(tmp_path: Path) -> None:
    root = write_tiny(tmp_path / "project", PUBLIC, "")
    secret = root / "reference" / "norm"
    (secret / "misconceptions").mkdir()
    edits, solution = secret / "misconceptions" / "layer_norm.diff", secret / "layer_norm.py"
    edits.write_text(ROWS)
    assignment = load_assignment(root, "norm")

    def found() -> tuple[str, str]:
        return assignment.suite_hash(), Cache(None).key_of(assignment, "layer_norm", "answers")

    toml = root / "assignments" / "norm" / "assignment.toml"
    toml.write_text(toml.read_text() + '\n[[components]]\nname = "other"\npoints = 1\n')
    assignment = load_assignment(root, "norm")
    seen = [found()]
    edits.write_text(ROWS + "# more\n")
    seen.append(found())
    solution.write_text(solution.read_text() + "\n# more\n")
    seen.append(found())
    (edits.parent / "other.diff").write_text(ROWS)
    # Mistakes in another component decide nothing here.
    assert found()[1] == seen[-1][1]
    assert all(len(set(kind)) == 3 for kind in zip(*seen, strict=True))
