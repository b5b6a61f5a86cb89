"""Patches: how mistakes are written down, applied, and put together."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from autograder.assignment import load_assignment
from autograder.errors import UsageError
from autograder.judge.cache import Cache
from autograder.judge.patches import combined, read_patches
from tests.tiny import PUBLIC, write_tiny

SOLUTION = '''"""Sums."""

import math


def scaled(numbers, by=2):
    """Return the numbers times a factor, and their sum."""
    # Nothing above the largest.
    largest = abs(max(numbers))
    total = 0
    for number in numbers:
        total += number  # one after the other
    if total > 9:
        total = 9
    result = [by * number for number in numbers]
    return result, total + largest


def root(number):
    return math.sqrt(number)
'''


def written(folder: Path, patches: str, solution: str = SOLUTION, **bases: str) -> Path:
    """Write patches with what they change, and return where they are."""
    path = folder / "misconceptions" / "sums.diff"
    (folder / "misconceptions" / "sums").mkdir(parents=True, exist_ok=True)
    (folder / "sums.py").write_text(solution)
    path.write_text(patches)
    for name, text in bases.items():
        (folder / "misconceptions" / "sums" / f"{name}.py").write_text(text)
    return path


def wrong(path: Path) -> dict[str, str]:
    """Return the components with one mistake each, by its name."""
    return {patch.name: patch.wrong(patch.right()) for patch in read_patches(path)}


def changed(old: str, new: str, source: str = SOLUTION) -> str:
    """Return a source with another text in one place."""
    assert source.count(old) == 1, old
    return source.replace(old, new)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("@@ one", ("one", "", "", False, "")),
        ("@@ one: page 1", ("one", "", "", False, "page 1")),
        ("@@ one in short", ("one", "short", "", False, "")),
        ("@@ one slip", ("one", "", "slip", False, "")),
        ("@@ one core: page 1: below", ("one", "", "core", False, "page 1: below")),
        ("@@ one class: page 1", ("one", "", "", True, "page 1")),
        ("@@ one in short flaw class: page 1 ", ("one", "short", "flaw", True, "page 1")),
        ("@@ one.post in short idea class", ("one.post", "short", "idea", True, "")),
        # What is called like a part of the head is still a name.
        ("@@ core in slip core class", ("core", "slip", "core", True, "")),
    ],
)
def test_a_head_says_what_a_mistake_is(
    tmp_path: Path, head: str, expected: tuple[str, str, str, bool, str]
) -> None:
    edit = "-    total = 0\n+    total = 1\n"
    path = written(tmp_path, f"# A comment.\n{head}\nit starts\nwith one\n{edit}")
    (patch,) = read_patches(path)
    found = (patch.name, patch.base, patch.severity, patch.met, patch.source)
    assert found == expected
    assert (patch.words, patch.number) == ("it starts with one", 2)


def test_whole_lines_go_and_come_in_several_places(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "@@ one\nin words\n"
        "-    return result, total + largest\n+    return result, total\n\n"
        " import math\n+import sys\n\n"
        "-    total = 0\n"
        "@@ two\nin words\n     total = 0\n+    total = 5\n     for number in numbers:\n",
    )
    one = changed("import math\n", "import math\nimport sys\n")
    one = changed("    total = 0\n", "", changed(", total + largest", ", total", one))
    two = changed("    total = 0\n", "    total = 0\n    total = 5\n")
    assert wrong(path) == {"one": one, "two": two}


def test_a_patch_may_change_another_right_component(tmp_path: Path) -> None:
    path = written(tmp_path, "@@ one in short\nin words\n-x = 1\n+x = 2\n", short="x = 1\ny = 3\n")
    assert wrong(path) == {"one": "x = 2\ny = 3\n"}


ROW = "@@ one\nin words\n"
GOES = "-    total = 0\n"
COMES = "+    total = 1\n"
FORM = "`@@ NAME [in BASE] [slip|flaw|idea|core] [class][: SOURCE]`"


@pytest.mark.parametrize(
    ("patches", "said"),
    [
        (f"in words\n{GOES}", f":1: it begins with 'in words', not with a head {FORM}"),
        (f"# one\n@@ 1st\nin words\n{GOES}", f":2: the head '@@ 1st' has not the form {FORM}"),
        (f"@@ one:\nin words\n{GOES}", ":1: the head '@@ one:' has not the form"),
        (f"@@ one two\nin words\n{GOES}", ":1: the head '@@ one two' has not the form"),
        (f"@@ one grave\nin words\n{GOES}", "has not the form"),
        (f"@@ one class slip\nin words\n{GOES}", "has not the form"),
        (f"@@ \x1b[2J{'x' * 500}\nin words\n{GOES}", "has not the form"),
        (f"@@ one\n{GOES}", ":1: one: the line below the head must say in words what is wrong"),
        (f"{ROW}", ":1: one: there is no edit: write the lines that go and come"),
        (f"{ROW}{GOES}and more\n", ":4: one: the line 'and more' begins with no `-`, `+` or space"),
        (f"{ROW}{COMES}", ":3: one: an edit has new lines alone; a line that stays must say where"),
        (f"{ROW}{GOES}\n+    total = 0\n", ":5: one: an edit has new lines alone"),
        (f"{ROW}{GOES}+    total = 0\n", ":3: one: an edit changes nothing"),
        (f"{ROW}{GOES}{ROW}{GOES}", ":4: one: there is a mistake of this name above"),
        (
            f"{ROW}{GOES}\n-    totals = 0\n",
            "sums.py, the old text at 'totals = 0' does not stand there: take the lines over",
        ),
        (
            f"{ROW}-\n+x = 1\n",
            "sums.py, the old text at '' stands there 6 times: add the line above or below it",
        ),
        (f"{ROW}{GOES}\n{GOES}{COMES}", ":3: one: two edits are about the same lines"),
        (f"{ROW}{GOES}+    total =\n", ":1: one: its edits make no Python of sums.py: invalid"),
        (f"{ROW}{GOES}+    break\n", "one: its edits make no Python of sums.py: 'break' outside"),
        (f"@@ one in shorts\nin words\n{GOES}", "one: there is no base 'shorts'; there are: short"),
    ],
)
def test_what_is_wrong_is_said_with_its_file_and_line(
    tmp_path: Path, patches: str, said: str
) -> None:
    path = written(tmp_path, patches, short="x = 1\n")
    with pytest.raises(UsageError) as refused:
        wrong(path)
    words = str(refused.value)
    assert words.startswith(f"{path}:")
    assert said in words
    assert "\x1b" not in words
    assert len(words) < 600


def test_a_patch_of_a_solution_that_has_changed_says_what_to_do(tmp_path: Path) -> None:
    path = written(tmp_path, ROW + GOES + COMES)
    assert wrong(path) == {"one": changed("total = 0", "total = 1")}
    written(tmp_path, ROW + GOES + COMES, changed("    total = 0", "    total = 0.0"))
    with pytest.raises(UsageError) as refused:
        wrong(path)
    assert str(refused.value) == (
        f"{path}:3: one: of {tmp_path / 'sums.py'}, the old text at 'total = 0' does not stand "
        "there: take the lines over from it as they are now"
    )
    (tmp_path / "sums.py").unlink()
    with pytest.raises(UsageError, match=r"sums.py, which is not there: write the solution"):
        wrong(path)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    path.write_bytes(b"# \xff\n")
    with pytest.raises(UsageError, match="not written in UTF-8"):
        read_patches(path)


@given(data=st.data())
def test_any_change_of_lines_can_be_written(data: st.DataObject, tmp_path_factory) -> None:
    """Lines of a base go, and others come, wherever they are."""
    numbers = data.draw(st.integers(1, 12))
    base = [f"line_{number} = 1" for number in range(numbers)]
    at = data.draw(st.sets(st.integers(0, numbers - 1), min_size=1))
    lines = st.sampled_from(["x = 1", "- 1", "+ 2", "# @@", " # -", ""])
    new = {place: data.draw(st.lists(lines, max_size=3)) for place in at}
    order = data.draw(st.permutations(sorted(at)))
    edits = "\n".join(
        f"-{base[place]}\n" + "".join(f"+{line}\n" for line in new[place]) for place in order
    )
    path = written(tmp_path_factory.mktemp("any"), f"{ROW}{edits}", "\n".join(base))
    expected = [line for place, was in enumerate(base) for line in new.get(place, [was])]
    assert wrong(path)["one"].split("\n") == (expected or [""])


# Two together.

BLOCK = "    if total > 9:\n        total = 9\n"
DEEPER = "        if number:\n            total += number\n"
TOGETHER = {
    "two statements": [("total = 0", "total = 10"), ("by * number", "by + number")],
    "two parts of a line": [("result, total", "result[1:], total"), ("+ largest", "- largest")],
    "a statement comes, the next is changed": [
        ("    largest =", "    by = 3\n    largest ="),
        ("abs(max(", "(max("),
    ],
    "a block goes, the next is changed": [(BLOCK, ""), ("[by *", "[by -")],
    "a body goes deeper": [
        ("        total += number  # one after the other\n", DEEPER),
        ("total > 9", "total > 8"),
    ],
    "signature and body": [("by=2", "by=3"), ("return result,", "return")],
}


@pytest.mark.parametrize("what", TOGETHER)
def test_changes_that_do_not_touch_are_in_one_component(what: str) -> None:
    one, other = TOGETHER[what]
    wrongs = [changed(*one), changed(*other)]
    found = combined(SOLUTION, wrongs)
    assert found == combined(SOLUTION, wrongs[::-1])
    assert found is not None
    assert compiled(found) == compiled(changed(*one, changed(*other)))


def test_changes_of_neighbours_do_not_touch() -> None:
    signs = [changed("total + largest", new) for new in ("total - largest", "1 + largest")]
    assert combined(SOLUTION, signs) == changed("total + largest", "1 - largest")


def test_a_comment_is_no_change() -> None:
    """Or two that leave out one comment could not be told together."""
    line = "total += number  # one after the other"
    wrongs = [changed(line, new) for new in ("total -= number", "total += 2 * number")]
    found = combined(SOLUTION, wrongs)
    assert found is not None
    assert compiled(found) == compiled(changed(line, "total -= 2 * number"))


@pytest.mark.parametrize(
    "news",
    [
        ("total = 10", "total = 20"),
        ("total = 10", "total = 10"),
        ("total = 10", "totals = 10"),
        ("by = 3\n    total = 0", "by = 4\n    total = 0"),
    ],
)
def test_changes_that_touch_are_not_put_together(news: tuple[str, str]) -> None:
    assert combined(SOLUTION, [changed("total = 0", new) for new in news]) is None


def test_what_would_be_no_python_is_not_put_together() -> None:
    """Each is right by itself."""
    source = "def f(a):\n    x = 1\n    y = a\n    return y\n"
    keyword = changed("y = a", "y = max(a, key=x)", source)
    other = changed("max(a, key=x)", "max(key=x)", keyword)
    assert combined(source, [keyword]) == keyword
    last = changed("    return y\n", "", source)
    first = changed("    x = 1\n    y = a\n", "", source)
    assert combined(source, [first, last]) is None
    assert combined(source, [other]) == other


LINES = st.sampled_from(
    [
        "a = a + 1",
        "a = (a + 1) * 2  # twice",
        "if a > b:\n        a -= 3",
        "for n in range(3):\n        if n:\n            b += n * a",
        "b = f(a)[1:]",
        'c = """x\n  y"""',
        "# nothing",
        "del b",
        "a = [\n        1,\n        2,\n    ]",
    ]
)
BODIES = st.lists(LINES, min_size=1, max_size=6)


def component(body: list[str]) -> str:
    return "def f(a, b):\n    " + "\n    ".join([*body, "return a, b"]) + "\n"


@given(one=BODIES, other=BODIES)
def test_a_single_mistake_is_put_together_as_it_is_written(
    one: list[str], other: list[str]
) -> None:
    right, mistaken = component(one), component(other)
    assume(right != mistaken)
    found = combined(right, [mistaken])
    assert found is not None
    assert compiled(found) == compiled(mistaken)


@given(bodies=st.lists(BODIES, min_size=4, max_size=4))
def test_mistakes_in_two_functions_are_in_one_component(bodies: list[list[str]]) -> None:
    def both(first: list[str], second: list[str]) -> str:
        return component(first) + "\n\n" + component(second)

    one, other, new_one, new_other = bodies
    right, expected = both(one, other), both(new_one, new_other)
    assume(one != new_one and other != new_other)
    found = combined(right, [both(new_one, other), both(one, new_other)])
    # Where functions are alike, it is open which lines have changed.
    assert found is None or compiled(found) == compiled(expected)


def compiled(source: str) -> str:
    """Return what a source says, whatever its lines are."""
    return ast.dump(ast.parse(source))


def test_an_answer_follows_from_patches_and_solution(tmp_path: Path) -> None:
    root = write_tiny(tmp_path / "project", PUBLIC, "")
    secret = root / "reference" / "norm"
    (secret / "misconceptions" / "layer_norm").mkdir(parents=True)
    patches, solution = secret / "misconceptions" / "layer_norm.diff", secret / "layer_norm.py"
    patches.write_text(ROW)
    toml = root / "assignments" / "norm" / "assignment.toml"
    toml.write_text(toml.read_text() + '\n[[components]]\nname = "other"\npoints = 1\n')
    assignment = load_assignment(root, "norm")

    def found() -> tuple[str, str]:
        return assignment.suite_hash(), Cache(None).key_of(assignment, "layer_norm", "answers")

    seen = [found()]
    patches.write_text(ROW + "# more\n")
    seen.append(found())
    solution.write_text(solution.read_text() + "\n# more\n")
    seen.append(found())
    (secret / "misconceptions" / "layer_norm" / "short.py").write_text("# more\n")
    seen.append(found())
    # Mistakes in another component decide nothing here.
    (secret / "misconceptions" / "other").mkdir()
    (secret / "misconceptions" / "other" / "short.py").write_text("# more\n")
    (secret / "misconceptions" / "other.diff").write_text(ROW)
    assert found()[1] == seen[-1][1]
    assert all(len(set(kind)) == 4 for kind in zip(*seen, strict=True))
