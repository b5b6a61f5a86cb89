"""Values cross unchanged or not at all, and a hostile plain form is malformed or harmless."""

import json
import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from autograder.exchange import values
from autograder.exchange.values import (
    ABSENT,
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_ITEMS,
    MAX_TEXT,
    OPAQUE,
    Embedding,
    Malformed,
    Reader,
    Unsendable,
    Writer,
    answered,
    made_real,
    tensors_in,
    with_tensors,
)

quick = settings(max_examples=200, deadline=None, database=None, derandomize=True)


def write(value: object) -> Any:
    """Return a value's plain form, after it has been JSON; tensors stand in it as numbers."""
    held: list[Tensor] = []

    def tensor(found: Tensor) -> list[Any]:
        held.append(found)
        return [len(held) - 1]

    plain = Writer(tensor).write(value)
    return json.loads(json.dumps(plain)), held


def read(plain: object, held: list[Tensor]) -> object:
    return Reader(lambda parts: held[parts[0]]).read(plain)


def same(one: object, other: object) -> bool:
    if isinstance(one, Tensor) or isinstance(other, Tensor):
        return one is other
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, Embedding):
        return one.weight is other.weight
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    return one == other


TENSORS = st.integers(0, 3).map(torch.ones)
TAGS = ["tensor", "tuple", "list", "dict", "embedding", "opaque", "absent"]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from([*TAGS, OPAQUE, ABSENT])
    | TENSORS
)
KEYS = st.text(max_size=5) | st.integers() | st.booleans() | st.none()
TREES = st.recursive(
    LEAVES | TENSORS.map(Embedding),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=12,
)


@quick
@given(value=TREES)
def test_a_value_crosses_unchanged(value: object) -> None:
    plain, held = write(value)
    assert same(read(plain, held), value)
    assert [id(tensor) for tensor in held] == [id(tensor) for tensor in tensors_in(value)]


@pytest.mark.parametrize(
    "value",
    [
        ["tensor", 0],
        ["tensor", "float32", "cpu", [1]],
        ("tensor", 0),
        [["tensor", 0]],
        {"tensor": 0},
        ["absent"],
        ("opaque",),
        ["dict", 1, 2],
        [],
        (),
        {},
    ],
)
def test_what_only_looks_like_a_tagged_value_stays_what_it_is(value: object) -> None:
    plain, held = write(value)
    assert held == []
    assert same(Reader(lambda parts: torch.ones(1)).read(plain), value)


def test_what_is_no_value_cannot_be_given_to_a_component() -> None:
    for value in (object(), {1}, b"x", 1j, [nn.Linear(1, 1)]):
        with pytest.raises(TypeError, match="a component cannot be given a "):
            write(value)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(TAGS) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=15,
)


@settings(quick, max_examples=400)
@given(plain=ANY_JSON)
def test_any_plain_form_is_malformed_or_becomes_a_value(plain: object) -> None:
    def tensor(parts: list[Any]) -> Tensor:
        if parts != [0]:
            raise Malformed("no such tensor")
        return torch.ones(1)

    try:
        value = Reader(tensor).read(plain)
    except Malformed:
        return
    # What was read can be written, compared and searched.
    Writer(lambda found: [0]).write(value)
    assert all(isinstance(found, Tensor) for found in tensors_in(value))


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"tensor": [0]},
        [],
        [[]],
        [None],
        [0],
        [["list"]],
        ["unknown"],
        ["Tensor", 0],
        ["dict", 1],
        ["dict", ["list"], 1],
        ["dict", ["dict"], 1],
        ["dict", ["tuple", ["list"]], 1],
        ["embedding"],
        ["embedding", 1],
        ["embedding", ["list"]],
        ["embedding", ["tensor", 0], 1],
        ["opaque", 1],
        ["absent", None],
        ["list", {}],
        ["tuple", ["list", []]],
    ],
)
def test_a_plain_form_that_stands_for_nothing_is_malformed(plain: object) -> None:
    with pytest.raises(Malformed):
        Reader(lambda parts: torch.ones(1)).read(plain)


@pytest.mark.parametrize("tag", ["list", "tuple", "dict"])
def test_a_plain_form_that_is_nested_too_deep_is_malformed(tag: str) -> None:
    plain: Any = 1
    for _ in range(MAX_DEPTH + 10):
        plain = [tag, plain] if tag != "dict" else [tag, "key", plain]
    with pytest.raises(Malformed, match="nested too deep"):
        Reader(lambda parts: torch.ones(1)).read(plain)


@quick
@given(value=TREES)
def test_what_a_component_returned_is_copied_and_then_crosses(value: object) -> None:
    found = answered(value)
    plain, held = write(found)
    assert same(read(plain, held), found)
    if isinstance(value, list):
        assert found is not value


def test_what_is_no_value_is_opaque_and_its_neighbours_are_kept() -> None:
    kept = torch.ones(1)
    first, *others = answered([kept, object(), {"a": 1}, {1}, b"x", 1j, nn.Linear(1, 1)])
    assert torch.equal(first, kept)
    assert others == [OPAQUE] * 6
    assert answered(nn.Linear(1, 1)) is OPAQUE


def test_the_tuple_and_the_list_of_a_component_stay_apart() -> None:
    assert answered((1, [2])) == (1, [2])
    assert isinstance(answered(torch.Size([1, 2])), tuple)


def test_tensors_are_detached_and_of_torchs_own_class() -> None:
    class Liar(Tensor):
        @property
        def shape(self) -> torch.Size:
            return torch.Size((1 << 20,))

        def detach(self) -> Tensor:
            raise AssertionError("the student's own code was run")

    found = answered((torch.ones(2, requires_grad=True) * 2, torch.ones(3).as_subclass(Liar)))
    assert [tensor.requires_grad for tensor in found] == [False, False]
    assert [type(tensor) for tensor in found] == [Tensor, Tensor]
    assert [tuple(tensor.shape) for tensor in found] == [(2,), (3,)]


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def endless() -> list[object]:
    value: list[object] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("most", "more", "said"),
    [
        (nested(MAX_DEPTH), nested(MAX_DEPTH + 1), f"nested more than {MAX_DEPTH} deep"),
        ([0] * (MAX_ITEMS - 1), [0] * MAX_ITEMS, f"more than {MAX_ITEMS} parts"),
        ("x" * MAX_TEXT, "x" * (MAX_TEXT + 1), f"more than {MAX_TEXT} characters"),
        (8**MAX_DIGITS - 1, 8**MAX_DIGITS, f"more than {MAX_DIGITS} digits"),
        (1 - 8**MAX_DIGITS, -(8**MAX_DIGITS), f"more than {MAX_DIGITS} digits"),
        (None, endless(), f"nested more than {MAX_DEPTH} deep"),
        (None, [endless(), [0] * MAX_ITEMS], "more than"),
    ],
    ids=["depth", "items", "text", "digits", "negative", "endless", "both"],
)
def test_what_exceeds_a_cap_cannot_be_sent(most: object, more: object, said: str) -> None:
    plain, held = write(answered(most))
    assert read(plain, held) == most
    with pytest.raises(Unsendable, match=said):
        answered(more)


def test_parts_are_counted_over_the_whole_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MAX_ITEMS", 7)
    assert answered([[1, 2], (3, 4)]) == [[1, 2], (3, 4)]
    with pytest.raises(Unsendable, match="more than 7 parts"):
        answered([[1, 2], (3, 4, 5)])


def test_changing_tensors_leaves_all_else() -> None:
    weight = torch.ones(2, 2)
    value = [weight, (1, {"a": weight, "b": "tensor"}), Embedding(weight), OPAQUE, None]
    found = with_tensors(value, lambda tensor: tensor * 2)
    assert [tensor.sum().item() for tensor in tensors_in(found)] == [8.0, 8.0, 8.0]
    assert isinstance(found[1], tuple)
    assert list(found[1][1]) == ["a", "b"]
    assert found[3:] == [OPAQUE, None]
    assert weight.sum().item() == 4.0


def test_an_embedding_is_made_with_a_weight_of_its_own() -> None:
    weight = torch.arange(6.0).reshape(3, 2)
    made = made_real(Embedding(weight))
    assert isinstance(made, nn.Embedding)
    assert torch.equal(made.weight, weight)
    with torch.no_grad():
        made.weight.zero_()
    assert weight.sum().item() == 15.0
    assert made_real((1, None)) == (1, None)
