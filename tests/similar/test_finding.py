"""Pairs of a class: copies are found in any disguise, honest work is left alone."""

import json
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.authoring.release import conftest
from autograder.errors import UsageError
from autograder.similar import work
from autograder.similar.finding import find
from autograder.similar.listing import Findings
from autograder.similar.words import words_of
from autograder.similar.work import MAX_TEXT, decoded, work_of
from tests.conftest import ROOT
from tests.similar.copies import DISGUISES, everything

NAME = "transformer_block"
# Of the made-up class, those that were written apart from each other.
APART = ("s01", "s02", "s03", "s04", "s05", "s06")
Files = Mapping[str, str]
READ = cache(words_of)


@pytest.fixture(autouse=True)
def each_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "words_of", READ)


@cache
def assignment() -> Assignment:
    return load_assignment(ROOT, NAME)


@cache
def honest() -> dict[str, Files]:
    """Return eighteen right submissions, each in a style of its own."""
    folders = [*(ROOT / "reference" / NAME / "right_variants").iterdir()]
    folders += [ROOT / "tests" / "classes" / NAME / name for name in APART]
    return {
        folder.name: {
            path.relative_to(folder).as_posix(): decoded(path.read_bytes())
            for path in sorted(folder.rglob("*.py"))
        }
        for folder in sorted(folders)
    }


def write(batch: Path, people: Mapping[str, Files]) -> Path:
    for name, files in people.items():
        for file, text in files.items():
            (batch / name / file).parent.mkdir(parents=True, exist_ok=True)
            (batch / name / file).write_text(text, encoding="utf-8")
    return batch


def pairs(findings: Findings) -> set[tuple[str, str]]:
    return {(findings.id(p.first), findings.id(p.second)) for p in findings.found.pairs}


def striking(findings: Findings) -> dict[str, float]:
    """Return the parts that are above the threshold, of the one pair there is."""
    (pair,) = findings.found.pairs
    return {part.name: part.share for part in pair.parts[: pair.striking]}


def test_work_that_was_done_apart_is_left_alone(tmp_path: Path) -> None:
    assert pairs(find(write(tmp_path, honest()), assignment())) == set()


def test_of_the_made_up_class_those_are_left_alone_that_were_written_apart() -> None:
    found = pairs(find(ROOT / "tests" / "classes" / NAME, assignment()))
    assert not {name for pair in found for name in pair} & set(APART)
    # These hand in the same files, but for comments.
    assert {("s13", "s16"), ("s09", "s15"), ("s11", "s17")} <= found


@pytest.mark.parametrize("two", [("v07", "v12"), ("s06", "v05"), ("s01", "v09"), ("s01", "s06")])
def test_two_that_were_done_apart_are_left_alone_also_without_a_class(
    tmp_path: Path, two: tuple[str, str]
) -> None:
    people = {name: honest()[name] for name in two}
    assert pairs(find(write(tmp_path, people), assignment())) == set()


@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda disguise: disguise.__name__)
def test_a_whole_copy_is_found_in_every_disguise(
    tmp_path: Path, disguise: Callable[[str], str]
) -> None:
    copies = {
        f"{name}-copy": {file: disguise(text) for file, text in files.items()}
        for name, files in honest().items()
    }
    found = find(write(tmp_path, {**honest(), **copies}), assignment())
    assert pairs(found) == {(name, f"{name}-copy") for name in honest()}


@pytest.mark.parametrize(
    "component, thief, victim",
    [
        ("layer_norm", "v02", "s06"),
        ("positional_encoding", "v06", "v09"),
        ("attention", "s04", "v05"),
        ("multi_head_attention", "v09", "s02"),
        ("feed_forward", "s01", "v06"),
        ("transformer_block", "v12", "s03"),
    ],
)
def test_one_component_of_seven_is_found(
    tmp_path: Path, component: str, thief: str, victim: str
) -> None:
    file = f"{component}.py"
    stolen = {**honest()[thief], file: everything(honest()[victim][file])}
    found = find(write(tmp_path, {**honest(), thief: stolen}), assignment())
    assert pairs(found) == {tuple(sorted((thief, victim)))}
    assert list(striking(found)) == [component]


def test_a_copy_is_found_that_is_spread_over_other_files(tmp_path: Path) -> None:
    whole = honest()["v07"]
    text = "\n".join(everything(text) for text in whole.values())
    half = text.index("\nclass", len(text) // 2)
    spread = {"helpers/one.py": text[:half], "two.py": text[half:], "layer_norm.py": "import two\n"}
    found = find(write(tmp_path, {**honest(), "thief": spread}), assignment())
    assert pairs(found) == {("thief", "v07")}


def test_small_parts_of_many_components_add_up(tmp_path: Path) -> None:
    victim, own = honest()["v06"], honest()["v02"]
    mixed = {}
    for file, text in own.items():
        other = everything(victim.get(file, "")).split("\n")
        mixed[file] = text + "\n" + "\n".join(other[: 2 * len(other) // 3])
    found = find(write(tmp_path, {**honest(), "thief": mixed, "v02": {}}), assignment(), 90)
    assert pairs(found) == {("thief", "v06")}
    (pair,) = found.found.pairs
    assert pair.striking == 0


def lines(seed: int, count: int) -> str:
    """Return statements that nobody else writes."""
    return "".join(f"    x = x.f{seed}_{n}(x, k{seed}={n}) @ x\n" for n in range(count))


def people_of(own: Mapping[str, str], extra: Mapping[str, str] | None = None) -> dict[str, Files]:
    return {
        name: {"layer_norm.py": f"def layer_norm(x, eps):\n{body}    return x\n", **(extra or {})}
        for name, body in own.items()
    }


@pytest.mark.parametrize("sharing, known", [(3, False), (4, True)])
def test_what_a_third_of_the_class_has_is_no_evidence(
    tmp_path: Path, sharing: int, known: bool
) -> None:
    own = {f"u{n:02}": lines(n, 30) for n in range(12)}
    for n in range(sharing):
        own[f"u{n:02}"] += lines(99, 200)
    found = find(write(tmp_path, people_of(own)), assignment())
    assert (pairs(found) == set()) == known
    assert (found.found.common > 0.2) == known


def test_ten_lines_that_are_nearest_at_hand_are_no_evidence(tmp_path: Path) -> None:
    solution = (ROOT / "reference" / NAME / "layer_norm.py").read_text()
    people = {"a": {"layer_norm.py": solution}, "b": {"layer_norm.py": everything(solution)}}
    found = find(write(tmp_path, people), assignment())
    assert pairs(found) == set()


def test_whoever_hands_in_the_solution_is_named(tmp_path: Path) -> None:
    solutions = {
        f"{name}.py": everything((ROOT / "reference" / NAME / f"{name}.py").read_text())
        for name in assignment().totals
    }
    found = find(write(tmp_path, {**honest(), "leak": solutions}), assignment())
    assert [found.id(place) for place in found.found.like_solution] == ["leak"]


def test_what_was_handed_out_is_no_evidence(tmp_path: Path) -> None:
    public = ROOT / "assignments" / NAME
    given = {
        path.relative_to(public).as_posix(): path.read_text(encoding="utf-8")
        for path in public.rglob("*.py")
    }
    given["tests/conftest.py"] = conftest(assignment())
    people = {
        name: {**given, **files}
        for name, files in honest().items()
        if name in ("v07", "s02", "s05")
    }
    assert pairs(find(write(tmp_path, {**people, "a": given, "b": given}), assignment())) == set()


@pytest.mark.parametrize("kind", ["py", "md", "ipynb", "file"])
def test_public_code_is_no_evidence(tmp_path: Path, kind: str) -> None:
    code = "def helper(x):\n" + lines(5, 30)
    own = {f"u{n}": lines(n + 10, 40) for n in range(2)}
    batch = write(tmp_path / "batch", people_of(own, {"helper.py": code}))
    assert pairs(find(batch, assignment())) == {("u0", "u1")}
    place = tmp_path / "public"
    place.mkdir()
    if kind == "md":
        (place / "page.md").write_text(f"Don't (copy\n\n```python\n{code}```\n")
    elif kind == "ipynb":
        cells = [{"cell_type": "code", "source": code.splitlines(keepends=True)}]
        (place / "notes.ipynb").write_text(json.dumps({"cells": cells}))
    else:
        (place / "code.py").write_text(code.replace("x", "y"))
    given = place / "code.py" if kind == "file" else place
    assert pairs(find(batch, assignment(), public=[given])) == set()


def test_junk_beside_a_copy_hides_nothing(tmp_path: Path) -> None:
    copy = {file: everything(text) for file, text in honest()["v06"].items()}
    junk = {f"junk{n}.py": lines(n, 2000) for n in range(5)}
    found = find(write(tmp_path, {**honest(), "thief": {**junk, **copy}}), assignment())
    assert pairs(found) == {("thief", "v06")}


def test_of_what_is_too_much_the_components_are_compared_first() -> None:
    big = b"x = 1\n" * MAX_TEXT
    files = {"a.py": big, "z.py": b"y = 1\n", "layer_norm.py": b"x"}
    found = work_of("a", files, ["layer_norm"])
    assert [text.name for text in found.texts] == ["layer_norm.py", "a.py"]
    assert sum(len(text.text) for text in found.texts) == MAX_TEXT
    assert found.left_out == ["a.py", "z.py"]


def test_less_than_two_are_no_class(tmp_path: Path) -> None:
    batch = write(tmp_path, {"a": honest()["v01"]})
    (batch / "b.zip").write_bytes(b"no archive")
    with pytest.raises(UsageError, match="holds 1 submission"):
        find(batch, assignment())


def test_the_order_of_a_folder_does_not_matter(tmp_path: Path) -> None:
    copy = {file: everything(text) for file, text in honest()["v06"].items()}
    first = find(write(tmp_path / "one", {**honest(), "thief": copy}), assignment())
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    assert find(tmp_path / "two", assignment()).found == first.found
