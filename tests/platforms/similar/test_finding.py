"""Pairs of a class: copies are found in any disguise, honest work is left alone."""

import json
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.authoring.release import conftest
from autograder.errors import UsageError
from autograder.platforms.similar import comparing
from autograder.platforms.similar.comparing import MAX_TEXT, Findings, decoded, find
from autograder.platforms.similar.listing import where
from tests.conftest import ROOT
from tests.platforms.similar.copies import everything
from tests.platforms.similar.made_up import WRITTEN_APART, Files, made_up, write

NAME = "transformer_block"
APART = WRITTEN_APART[NAME]


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


def pairs(findings: Findings) -> set[tuple[str, str]]:
    return {(p.first.id, p.second.id) for p in findings.pairs}


def listed(findings: Findings) -> list[tuple[object, ...]]:
    return [(p.first.id, p.second.id, p.whole, p.parts, p.striking) for p in findings.pairs]


def striking(findings: Findings) -> dict[str, float]:
    """Return the parts that are above the threshold, of the one pair there is."""
    (pair,) = findings.pairs
    return {part.name: part.share for part in pair.parts[: pair.striking]}


@pytest.mark.slow
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


@pytest.mark.release
def test_whole_copies_are_found_in_a_full_disguise(tmp_path: Path) -> None:
    copies = {
        f"{name}-copy": {file: everything(text) for file, text in files.items()}
        for name, files in honest().items()
    }
    found = find(write(tmp_path, {**honest(), **copies}), assignment())
    assert pairs(found) == {(name, f"{name}-copy") for name in honest()}


@pytest.mark.parametrize(
    "component, thief, victim",
    [
        ("positional_encoding", "v06", "v09"),
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
    found = find(write(tmp_path, {**honest(), "thief": mixed, "v02": {}}), assignment())
    assert ("thief", "v06") in pairs(found)
    (pair,) = found.pairs
    assert pair.striking == 0


def lines(seed: int, count: int) -> str:
    """Return statements that nobody else writes."""
    return "".join(f"    x = x.f(x, {seed * 10_000 + n}) @ x\n" for n in range(count))


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
    assert any("a third of the class has it" in note for note in found.notes) == known


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
    assert "much as in the reference solution: leak" in found.notes


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


@pytest.mark.release
def test_junk_beside_a_copy_hides_nothing(tmp_path: Path) -> None:
    copy = {file: everything(text) for file, text in honest()["v06"].items()}
    junk = {f"junk{n}.py": lines(n, 2000) for n in range(5)}
    found = find(write(tmp_path, {**honest(), "thief": {**junk, **copy}}), assignment())
    assert pairs(found) == {("thief", "v06")}


@pytest.mark.release
def test_of_what_is_too_much_the_components_are_compared_first(tmp_path: Path) -> None:
    own = lines(7, 60)
    # What no component imports is not read at all.
    a = {"a.py": lines(1, 9000), "z.py": "y = 1\n", "layer_norm.py": f"import a\n\n{own}"}
    found = find(write(tmp_path, {"a": a, "b": {"layer_norm.py": own}}), assignment())
    assert len(a["a.py"]) > MAX_TEXT
    assert pairs(found) == {("a", "b")}
    assert found.notes == ["compared in part, for its size: a: a.py, z.py"]


def test_what_takes_a_reader_of_python_for_ever_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "_MAX_CPU_S", 0.3)
    # At every line it looks ahead over all the lines that are left.
    slow = {"layer_norm.py": " \n" * (MAX_TEXT // 2)}
    people = {"slow": slow, **{name: {"layer_norm.py": lines(7, 60)} for name in "ab"}}
    found = find(write(tmp_path, people), assignment())
    assert pairs(found) == {("a", "b")}
    assert found.notes == [
        "not compared: slow: it takes too long to read as Python; look at it by hand"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name, seed", [(NAME, 0), (NAME, 1), ("language_model", 2)])
def test_of_a_class_of_sixty_six_copies_are_found_and_nobody_else(
    tmp_path: Path, name: str, seed: int
) -> None:
    wanted = load_assignment(ROOT, name)
    people, copied = made_up(wanted, seed)
    assert len(people) == 60
    found = pairs(find(write(tmp_path, people), wanted))
    assert found == {tuple(sorted(pair)) for pair in copied.items()}


def test_less_than_two_are_no_class(tmp_path: Path) -> None:
    batch = write(tmp_path, {"a": honest()["v01"]})
    (batch / "b.zip").write_bytes(b"no archive")
    with pytest.raises(UsageError, match="holds 1 submission"):
        find(batch, assignment())


def test_the_order_of_a_folder_does_not_matter(tmp_path: Path) -> None:
    copy = {file: everything(text) for file, text in honest()["v06"].items()}
    first = find(write(tmp_path / "one", {**honest(), "thief": copy}), assignment())
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    assert listed(find(tmp_path / "two", assignment())) == listed(first)


def test_two_who_hand_in_the_same_given_text_are_named(tmp_path: Path) -> None:
    works = dict(list(honest().items())[:2])
    given = {
        f"{name}.py": decoded(assignment().stand_in(name).read_bytes())
        for name in ("multi_head_attention", "layer_norm")
    }
    first, second = works
    files = {"s1": {**works[first], **given}, "s2": {**works[second], **given}}
    found = find(write(tmp_path, files), assignment())
    [pair] = found.pairs
    assert (pair.first.id, pair.second.id) == ("s1", "s2")
    assert [part.name for part in pair.given] == ["multi_head_attention"]
    assert where(pair) == "multi_head_attention: given text handed in as own work"
    assert pair.most > 0.9
