"""What is kept on disk: the same marks with and without it, and nothing that is out of date."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
import torch

from autograder.api.executor import Executor
from autograder.api.messages import Request
from autograder.assignment import Assignment, load_assignment
from autograder.diagnosis.table import Question
from autograder.judge import prepared
from autograder.judge.cache import Cache
from autograder.judge.collection import collect
from autograder.judge.diagnosis import Diagnoser
from autograder.judge.places import CACHE_VARIABLE, cache_folder
from autograder.judge.prepared import prepare
from autograder.judge.reference import solution_of
from autograder.judge.suite import Suite
from autograder.judge.variants import Variants
from autograder.sandbox.wire import encode_reply, encode_request
from tests.asking import asks
from tests.tiny import HIDDEN, write_tiny


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "cache"
    place.mkdir(mode=0o700)
    return place


@pytest.fixture
def tiny(tmp_path: Path) -> Assignment:
    return load_assignment(write_tiny(tmp_path / "project"), "norm")


def test_a_value_is_kept_until_it_is_damaged(folder: Path) -> None:
    cache = Cache(folder)
    assert cache.load("a") is None
    cache.save("a", {"b": [1.5, None]})
    assert Cache(folder).load("a") == {"b": [1.5, None]}
    (path,) = folder.iterdir()
    data = path.read_bytes()
    assert data.count(b"b\x94") == 1
    path.write_bytes(data.replace(b"b\x94", b"c\x94"))
    assert cache.load("a") is None
    # It is made anew.
    cache.save("a", 2)
    assert cache.load("a") == 2
    for damage in (b"", b"no value" * 1000, path.read_bytes()[:-1]):
        path.write_bytes(damage)
        assert cache.load("a") is None
        cache.save("a", 2)
        assert cache.load("a") == 2


def test_without_a_folder_nothing_is_kept_and_nothing_fails() -> None:
    cache = Cache(None)
    cache.save("a", 1)
    assert cache.load("a") is None
    made = iter([1, 2])
    assert [cache.kept("b", lambda: next(made)) for _ in range(2)] == [1, 2]


def test_a_value_that_cannot_be_written_down_is_not_kept(folder: Path) -> None:
    Cache(folder).save("a", lambda: None)
    assert Cache(folder).load("a") is None
    assert list(folder.iterdir()) == []


def test_what_was_used_least_recently_makes_room(folder: Path) -> None:
    cache = Cache(folder, most_bytes=400_000)
    for number, name in enumerate("abc"):
        cache.save(name, b"x" * 140_000)
        os.utime(folder / f"{name}.pickle", (number, number))
    assert cache.load("a") is not None
    cache.save("d", b"x" * 140_000)
    assert [name for name in "abcd" if cache.load(name) is not None] == ["a", "c", "d"]


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o702])
def test_a_folder_that_others_can_get_into_is_not_used(
    folder: Path, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(folder))
    assert cache_folder() == folder
    folder.chmod(mode)
    assert cache_folder() is None


def test_a_link_is_no_folder_of_ones_own(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "link"))
    assert cache_folder() is None


def test_the_folder_is_made_for_its_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    found = cache_folder()
    assert found == tmp_path / "home" / "gradeformer"
    assert stat.S_IMODE(found.stat().st_mode) == 0o700
    monkeypatch.setenv(CACHE_VARIABLE, "off")
    assert cache_folder() is None


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Every request that a solution has to answer."""
    found: list[object] = []
    perform = Executor.perform

    def noted(self, request):
        found.append(request)
        return perform(self, request)

    monkeypatch.setattr(Executor, "perform", noted)
    yield found


def plans(suite: Suite) -> list[bytes]:
    return [planned.frame for plan in suite.plans.values() for planned in plan]


def test_a_second_start_asks_the_solution_nothing_and_is_the_same(
    folder: Path, tiny: Assignment, asked: list[object]
) -> None:
    first = collect(tiny, cache=Cache(folder))
    assert asked
    asked.clear()
    second = collect(tiny, cache=Cache(folder))
    assert asked == []
    assert plans(second) == plans(first)
    # A submission is compared with answers that were kept, too.
    for criterion in second.criteria["layer_norm"]:
        attempt = second.run(criterion, solution_of(tiny, "layer_norm"))
        assert attempt.failure is None
        assert attempt.drawn == first.run(criterion, solution_of(tiny, "layer_norm")).drawn


def test_another_seed_is_asked_anew(folder: Path, tiny: Assignment, asked: list[object]) -> None:
    first = collect(tiny, cache=Cache(folder))
    asked.clear()
    other = collect(tiny, tiny.seed + 1, cache=Cache(folder))
    assert asked
    assert plans(other) != plans(first)


@pytest.mark.parametrize(
    "changed",
    [
        "reference/norm/layer_norm.py",
        "reference/norm/tests/test_layer_norm.py",
        "assignments/norm/tests/test_layer_norm.py",
        "assignments/norm/assignment.toml",
    ],
)
def test_whatever_an_answer_follows_from_changes_its_key(tiny: Assignment, changed: str) -> None:
    before = Cache(None).key_of(tiny, "layer_norm", "answers")
    assert Cache(None).key_of(tiny, "layer_norm", "answers") == before
    path = tiny.root / changed
    text = path.read_text()
    # Its comments are nobody's answer.
    settings = text.replace("points = ", "points = 1", 1)
    path.write_text(settings if path.suffix == ".toml" else text + "\n# changed\n")
    assert Cache(None).key_of(tiny, "layer_norm", "answers") != before
    assert Cache(None).key_of(tiny, "layer_norm", "other") != before


def test_a_suite_that_is_another_takes_nothing_that_was_kept(
    folder: Path, tiny: Assignment
) -> None:
    kept = collect(tiny, cache=Cache(folder)).kept("layer_norm")
    renamed = HIDDEN.replace("test_values", "test_other")
    other = collect(
        load_assignment(write_tiny(tiny.root, hidden=renamed), "norm"), cache=Cache(None)
    )
    assert not other.restore("layer_norm", kept)


def test_what_is_made_is_kept_for_the_next_process(folder: Path) -> None:
    made: list[str] = []

    def make() -> list[str]:
        made.append("made")
        return made[:]

    assert [Cache(folder).kept("a", make) for _ in range(3)] == [["made"]] * 3


def test_a_value_of_another_key_is_not_taken(folder: Path) -> None:
    Cache(folder).save("a", 1)
    (path,) = folder.iterdir()
    path.rename(folder / path.name.replace("a", "b", 1))
    assert Cache(folder).load("b") is None


def test_who_is_killed_while_it_writes_leaves_no_half_of_a_value(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cache(folder).save("a", 1)

    def killed(*about: object) -> NoReturn:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "replace", killed)
        Cache(folder).save("a", 2)
    assert Cache(folder).load("a") == 1
    # What was left lies there like a value that nobody uses.
    assert len(list(folder.iterdir())) == 2
    Cache(folder, most_bytes=0).save("b", 3)
    assert [path.stem for path in folder.iterdir()] == ["b"]


TENSORS = {
    "turned": torch.arange(6.0).reshape(2, 3).T,
    "every second": torch.arange(12.0).reshape(2, 6)[:, ::2],
    "a row, turned": torch.ones(4, 1).T,
    "expanded": torch.arange(3.0)[None].expand(2, 3),
    "expanded, empty": torch.empty(1, 0).expand(4, 0),
    "coarse": torch.tensor([1.5, -0.0], dtype=torch.bfloat16),
    "mask": torch.tensor([[True], [False]]),
    "complex": torch.tensor([1 + 2j]).conj(),
    "single": torch.tensor(3, dtype=torch.int16),
    "empty": torch.empty(0, 3, dtype=torch.float64),
    "nan": torch.tensor([float("nan"), float("inf")]),
    "parameter": torch.nn.Parameter(torch.ones(2)),
}


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_is_kept_as_it_is(folder: Path, name: str) -> None:
    right = TENSORS[name]
    Cache(folder).save("a", {"b": [right]})
    found = Cache(folder).load("a")["b"][0]
    assert (found.dtype, found.shape, type(found)) == (right.dtype, right.shape, type(right))
    assert found.stride() == right.stride()
    assert torch.equal(found.isnan(), right.isnan())
    assert torch.equal(found.nan_to_num(), right.nan_to_num())
    # It can be written to, as far as any other.
    if 0 not in right.stride():
        found.detach().zero_()


def test_a_tensor_without_values_is_kept(folder: Path) -> None:
    Cache(folder).save("a", torch.empty(3, 2, device="meta", dtype=torch.float16).T)
    found = Cache(folder).load("a")
    assert found.device.type == "meta"
    assert (found.dtype, found.shape, found.stride()) == (torch.float16, (2, 3), (1, 2))


def test_what_was_asked_is_recognised_in_a_later_run(folder: Path) -> None:
    """Or else tests would be run anew, by another child, only because of what was kept."""
    x = torch.arange(24.0).reshape(2, 3, 4)
    views = (x.transpose(1, 2), x[:, ::2], x[:1].expand(2, 3, 4), x[:1].transpose(0, 1))
    asked = Request([asks("f", *views), asks("g", x[0].T.to("meta"))])
    Cache(folder).save("a", asked)
    assert encode_request(asked, 0) == encode_request(Cache(folder).load("a"), 0)


def test_a_table_that_is_kept_is_the_one_that_was_computed(
    folder: Path, assignment: Assignment, suite: Suite
) -> None:
    tables = []
    for _ in range(2):
        diagnoser = Diagnoser(assignment, suite.public_plans(), cache=Cache(folder))
        tables.append(diagnoser.prepare("layer_norm"))
    assert len(list(folder.iterdir())) == 1
    for anew, kept in zip(*tables, strict=True):
        assert [encode_request(one, 0) for one in anew.requests] == [
            encode_request(one, 0) for one in kept.requests
        ]
        assert anew.wrong.keys() == kept.wrong.keys()
        for name, known in anew.wrong.items():
            assert (known.shows, known.drawn) == (kept.wrong[name].shows, kept.wrong[name].drawn)
            for one, other in zip(known.replies, kept.wrong[name].replies, strict=True):
                assert encode_reply(one, 0) == encode_reply(other, 0)
    # Many mistakes answer alike: these are one answer, in a file, too.
    known = [id(found) for question in tables[1] for found in question.wrong.values()]
    assert len(set(known)) < len(known)


def test_what_is_prepared_is_not_computed_again(
    folder: Path, assignment: Assignment, suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(folder))
    prepare(assignment, "lm_head")

    def never(*about: object) -> NoReturn:
        raise AssertionError

    monkeypatch.setattr(Variants, "answer", never)
    diagnoser = Diagnoser(assignment, suite.public_plans(), cache=Cache(folder))
    assert len(diagnoser.prepare("lm_head")) > 10


def test_to_prepare_a_component_again_collects_nothing(
    folder: Path, tiny: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(folder))
    prepare(tiny, "layer_norm")

    def never(*about: object, **options: object) -> NoReturn:
        raise AssertionError

    monkeypatch.setattr(prepared, "collect", never)
    prepare(tiny, "layer_norm")
    # Of another suite it is not known.
    path = tiny.secret / "tests" / "test_layer_norm.py"
    path.write_text(path.read_text() + "\n")
    with pytest.raises(AssertionError):
        prepare(load_assignment(tiny.root, tiny.name), "layer_norm")


def test_one_that_ends_while_it_keeps_a_value_harms_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", lambda *about: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            Cache(folder).save("a", [1])
    assert len(list(folder.iterdir())) == 1
    assert Cache(folder).load("a") is None
    assert Cache(folder).kept("a", lambda: [2]) == [2]
    assert Cache(folder).load("a") == [2]


def test_two_that_make_the_same_value_at_once_do_not_disturb_each_other(folder: Path) -> None:
    other = Cache(folder)

    def make() -> list[int]:
        assert other.kept("a", lambda: [1]) == [1]
        return [1]

    assert Cache(folder).kept("a", make) == [1]
    assert other.load("a") == [1]
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("damage", ["cut", "another component's", "gone"])
def test_a_table_that_cannot_be_taken_is_made_again(
    folder: Path, assignment: Assignment, suite: Suite, damage: str
) -> None:
    def prepared(component: str) -> list[Question]:
        diagnoser = Diagnoser(assignment, suite.public_plans(), cache=Cache(folder))
        return diagnoser.prepare(component)

    right = prepared("lm_head")
    (path,) = folder.iterdir()
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-10])
    else:
        path.unlink()
    if damage == "another component's":
        prepared("layer_norm")
        (other,) = folder.iterdir()
        other.rename(path)
    found = prepared("lm_head")
    assert [q.wrong.keys() for q in found] == [q.wrong.keys() for q in right]
