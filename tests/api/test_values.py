"""What crosses between a test and a component comes out as it went in, or not at all."""

import datetime
import decimal
import enum
import fractions
import json
import math
import pathlib
import types
from collections import Counter, OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from autograder.api.answer import CheckFailed
from autograder.api.expect import Expect
from autograder.api.objects import Conversation
from autograder.api.values import (
    ABSENT,
    ARRAY_DTYPES,
    DTYPES,
    OPAQUE,
    Handle,
    Made,
    Malformed,
    Opaque,
    Reader,
    Unsendable,
    Writer,
    answered,
    kind_words,
)

quick = settings(max_examples=150, deadline=None, database=None, derandomize=True)


def tensor_of(dtype: torch.dtype, shape: list[int], seed: int) -> Tensor:
    """Draw bytes, which make a tensor of any dtype; 0 and 1 for truth values."""
    generator = torch.Generator().manual_seed(seed)
    size = math.prod(shape) * dtype.itemsize
    high = 2 if dtype == torch.bool else 256
    data = torch.randint(0, high, (size,), generator=generator, dtype=torch.uint8)
    return data.view(dtype).reshape(shape) if size else torch.empty(shape, dtype=dtype)


def array_of(dtype: np.dtype[Any], shape: list[int], seed: int) -> np.ndarray[Any, Any]:
    high = 2 if dtype == np.bool_ else 256
    size = math.prod(shape) * dtype.itemsize
    data = np.random.default_rng(seed).integers(0, high, size, dtype=np.uint8)
    return data.view(dtype).reshape(shape)


SHAPES = st.lists(st.integers(0, 3), max_size=3)
SEEDS = st.integers(0, 99)
TENSORS = st.builds(tensor_of, st.sampled_from(list(DTYPES.values())), SHAPES, SEEDS)
ARRAYS = st.builds(array_of, st.sampled_from(list(ARRAY_DTYPES.values())), SHAPES, SEEDS)
KEYS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    st.text(max_size=6),
    st.binary(max_size=6),
    st.sampled_from(list(DTYPES.values())),
)
SINGLES = st.one_of(
    KEYS,
    st.floats(),
    TENSORS,
    ARRAYS,
    st.builds(torch.Size, st.lists(st.integers(0, 9), max_size=3)),
)
VALUES = st.recursive(
    SINGLES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
        st.sets(KEYS, max_size=4),
        st.dictionaries(st.tuples(KEYS, KEYS), inner, max_size=2),
    ),
    max_leaves=8,
)


def same(left: Any, right: Any) -> bool:
    """Tell whether two values are the same in type and in every bit that can be seen."""
    if type(left) is not type(right):
        return False
    if isinstance(left, Tensor):
        fits = (left.dtype, left.shape) == (right.dtype, right.shape)
        bytes_ = [t.contiguous().reshape(-1).view(torch.uint8) for t in (left, right)]
        return fits and torch.equal(*bytes_)
    if isinstance(left, np.ndarray):
        return (left.dtype, left.shape, left.tobytes()) == (
            right.dtype,
            right.shape,
            right.tobytes(),
        )
    if isinstance(left, dict):
        pairs = zip(left.items(), right.items(), strict=False)
        return len(left) == len(right) and all(same(a, b) for a, b in pairs)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, set):
        # Sets that are equal can hold True where the other holds 1.
        return sorted(map(repr, left)) == sorted(map(repr, right))
    return repr(left) == repr(right)


def through_plain(value: Any) -> Any:
    """Write a value as text and read it again, tensors lying beside it."""
    beside: list[Tensor] = []

    def write(tensor: Tensor) -> list[Any]:
        beside.append(tensor)
        return [len(beside) - 1]

    text = json.dumps(Writer(write).write(value))
    return Reader(lambda parts: beside[parts[0]]).read(json.loads(text))


@quick
@given(value=VALUES)
def test_every_value_round_trips(value: Any) -> None:
    assert same(through_plain(value), value)


@quick
@given(value=VALUES)
def test_an_answer_is_copied_as_it_is(value: Any) -> None:
    assert same(answered(value), value)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_tensors_of_every_dtype(dtype: torch.dtype) -> None:
    for shape in ([], [0], [2, 3]):
        tensor = tensor_of(dtype, shape, 1)
        assert same(through_plain(answered(tensor)), tensor)


@pytest.mark.parametrize("dtype", ARRAY_DTYPES.values(), ids=ARRAY_DTYPES)
def test_arrays_of_every_dtype(dtype: np.dtype[Any]) -> None:
    for shape in ([], [0], [2, 3]):
        array = array_of(dtype, shape, 1)
        assert same(through_plain(answered(array)), array)
    # Neither contiguous nor in the usual order.
    turned = array_of(dtype, [3, 2, 2], 2).T[:, ::-1]
    assert same(through_plain(answered(turned)), np.ascontiguousarray(turned))


def test_dtypes_shapes_and_stand_ins() -> None:
    for value in (*DTYPES.values(), torch.Size([2, 0]), torch.Size([]), Handle(7), OPAQUE, ABSENT):
        assert same(through_plain(value), value)
    weight = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(*through_plain(Made("embedding", (weight,))).parts, weight)


@pytest.mark.parametrize("tag", ["tensor", "array", "tuple", "dict", "set", "size", "handle"])
def test_nobodys_list_passes_for_something_else(tag: str) -> None:
    for value in (
        [tag],
        [tag, "float32", "cpu", [1]],
        (tag, 1),
        {tag: 1, "tag": tag},
        [[tag, [2]], {"kind": tag}],
    ):
        assert same(through_plain(value), value)


def test_an_order_of_keys_stays() -> None:
    value = {"b": 1, "a": 2, 0: 3}
    assert list(through_plain(value)) == list(value)


@quick
@given(value=st.sets(KEYS, max_size=8))
def test_a_set_is_written_in_one_order(value: set[Any]) -> None:
    anew: set[Any] = set()
    for key in sorted(value, key=repr):
        anew.add(key)
    writer = Writer(lambda tensor: [])
    assert json.dumps(writer.write(value)) == json.dumps(writer.write(anew))


# What answers are made of.


class Colour(enum.IntEnum):
    RED = 3


Point = namedtuple("Point", "x y")


class Text(str):
    def __str__(self) -> str:
        return "another"


class Number(float):
    def __float__(self) -> float:
        return 0.0


def test_subclasses_become_what_they_are_made_of() -> None:
    for value, plain in (
        (Colour.RED, 3),
        (Point(1, "x"), (1, "x")),
        (OrderedDict(a=1), {"a": 1}),
        (Counter("aab"), {"a": 2, "b": 1}),
        (Text("mine"), "mine"),
        (Number(2.5), 2.5),
        (bytearray(b"ab"), b"ab"),
        (frozenset({1}), {1}),
        (np.float64(0.5), 0.5),
    ):
        assert same(answered(value), plain), plain


def test_numpy_numbers_keep_their_kind() -> None:
    for number in (np.int64(3), np.float32(0.5), np.bool_(True), np.uint8(200), np.complex64(1j)):
        found = answered(number)
        assert (found.dtype, found.shape, found.item()) == (number.dtype, (), number.item())


def test_a_parameter_is_detached_and_of_torchs_own_class() -> None:
    parameter = nn.Parameter(torch.ones(2))
    found = answered([parameter])[0]
    assert type(found) is Tensor
    assert not found.requires_grad


@pytest.mark.parametrize(
    "value",
    [
        object(),
        nn.Linear(1, 1),
        len,
        iter([1]),
        range(3),
        int,
        np.array(["a"]),
        np.array([object()]),
        np.zeros(1, dtype="datetime64[s]"),
        np.zeros(1, dtype=[("a", "i4")]),
        ValueError("no"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_value_is_opaque(value: object) -> None:
    found = answered(value)
    assert isinstance(found, Opaque)
    assert answered([1, {"a": value}]) == [1, {"a": found}]
    written = Writer(no_tensor).write([found])
    assert Reader(no_tensor).read(written) == [found]


class Spoofed:
    __class__ = types.GeneratorType  # type: ignore[assignment]


class Cent(decimal.Decimal):
    pass


class Local(datetime.tzinfo):
    pass


@pytest.mark.parametrize(
    "value, words",
    [
        ((n for n in "a"), "a generator"),
        (enum.Enum("E", "a").a, "a member of an Enum"),
        ({}.keys(), "the keys of a dictionary"),
        (Spoofed(), "an object of class Spoofed"),
        (Cent(1), "an object of class Cent"),
        (datetime.datetime(2020, 1, 1, tzinfo=Local()), "an object of another class"),
        (type("a b", (), {})(), "an object of another class"),
        (type("A" * 61, (), {})(), "an object of another class"),
        (np.array(["a"]), "a numpy array of another dtype"),
    ],
)
def test_what_is_no_value_says_of_what_kind_it_is(value: object, words: str) -> None:
    assert kind_words(answered(value)) == words


EXACT = st.one_of(
    st.decimals(allow_nan=False),
    st.fractions(),
    st.datetimes(timezones=st.none() | st.just(datetime.timezone(datetime.timedelta(hours=-2)))),
    st.dates(),
    st.times(),
    st.timedeltas(),
    st.lists(st.text("abc.", min_size=1), min_size=1).map(lambda parts: pathlib.Path(*parts)),
)


def real(value: Any, *objects: object) -> Any:
    """Return an argument as a component gets it, where these objects are numbered from 1."""
    talk = Conversation(no_tensor, no_tensor, no_tensor, lambda tensor: tensor)
    talk.objects.update(enumerate(objects, start=1))
    return talk.real(value, [])


@settings(max_examples=200, deadline=None, database=None, derandomize=True)
@given(value=EXACT)
def test_what_pythons_library_has_arrives_as_it_is(value: Any) -> None:
    expect = Expect()
    found = Reader(no_tensor).read(Writer(no_tensor).write(answered(value)))
    expect.same(found, value)
    assert real(found) == value
    for other in (str(value), 0, None):
        with pytest.raises(CheckFailed):
            expect.same(other, value)
        with pytest.raises(CheckFailed):
            expect.same(value, other)


def test_what_pythons_library_has_is_compared() -> None:
    for one, other in (
        (decimal.Decimal("1.5"), decimal.Decimal("1.6")),
        (fractions.Fraction(1, 2), fractions.Fraction(1, 3)),
        (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)),
        (pathlib.Path("a/b"), pathlib.Path("a")),
    ):
        with pytest.raises(CheckFailed, match="the result is wrong"):
            Expect().same(one, other)


def test_a_right_value_that_is_none_is_a_fault_of_the_suite() -> None:
    with pytest.raises(
        TypeError, match=r"the right value is a function, which cannot be compared.*recipes\.md"
    ):
        Expect().same(answered(len), answered(len))


def test_an_array_answered_is_no_view_of_the_students() -> None:
    array = np.zeros(3)
    found = answered(array)
    array += 1
    assert found.tolist() == [0, 0, 0]


def test_an_array_handed_over_is_no_view_of_the_tests() -> None:
    array = np.zeros(3)
    real([array])[0][:] = 1
    assert array.tolist() == [0, 0, 0]


def test_arguments_are_made_real_wherever_they_stand() -> None:
    kept = object()
    found = real({"a": [Handle(1), (Made("embedding", (torch.eye(2),)),)]}, kept)
    assert found["a"][0] is kept
    assert isinstance(found["a"][1][0], nn.Embedding)


@pytest.mark.parametrize("name", [">i4", ">f8", ">u2"])
def test_arrays_of_the_other_byte_order_keep_their_numbers(name: str) -> None:
    # As numpy reads them from the files of many data sets.
    array = np.array([1, 2, 300], dtype=name)
    assert through_plain(answered(array)).tolist() == [1, 2, 300]


def test_numpy_numbers_are_keys() -> None:
    labels = np.array([3, 3, 4])
    counts = dict(zip(*np.unique(labels, return_counts=True), strict=True))
    found = {int(key): int(value) for key, value in answered(counts).items()}
    assert found == {3: 2, 4: 1}


def test_frozensets_are_keys() -> None:
    assert len(answered({frozenset("ab"): 2, frozenset("cd"): 3})) == 2


# Caps, as they are documented.
MAX_DEPTH, MAX_ITEMS, MAX_KEYS, MAX_TEXT, MAX_DIGITS = 32, 20_000, 4_000, 100_000, 1_000


def nested(depth: int, make: Any = lambda inner: [inner]) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = make(value)
    return value


@pytest.mark.parametrize(
    "make", [lambda v: [v], lambda v: (v,), lambda v: {"a": v}], ids=["list", "tuple", "dict"]
)
def test_depth(make: Any) -> None:
    assert answered(nested(MAX_DEPTH, make)) == nested(MAX_DEPTH, make)
    assert through_plain(nested(MAX_DEPTH, make)) == nested(MAX_DEPTH, make)
    with pytest.raises(Unsendable, match=f"nested more than {MAX_DEPTH} deep"):
        answered(nested(MAX_DEPTH + 1, make))
    # What comes back lies in parts that are a level or two deep themselves.
    assert through_plain(nested(MAX_DEPTH + 3, make)) == nested(MAX_DEPTH + 3, make)
    with pytest.raises(Malformed, match="nested too deep"):
        through_plain(nested(MAX_DEPTH + 4, make))


def test_a_list_in_itself_is_too_deep() -> None:
    ring: list[Any] = []
    ring.append(ring)
    with pytest.raises(Unsendable, match="deep"):
        answered(ring)


def test_items() -> None:
    # The list itself is one of its parts.
    assert len(answered([0] * (MAX_ITEMS - 1))) == MAX_ITEMS - 1
    for value in ([0] * MAX_ITEMS, [dict.fromkeys(range(MAX_KEYS))] * 5, [[0] * 99] * 999):
        with pytest.raises(Unsendable, match=f"more than {MAX_ITEMS} parts"):
            answered(value)


def test_keys() -> None:
    # Keys that all hash alike cost the square of their number.
    alike = [number * (2**61 - 1) for number in range(MAX_KEYS + 1)]
    assert len(answered(set(range(MAX_KEYS)))) == MAX_KEYS
    assert len(answered(dict.fromkeys(range(MAX_KEYS)))) == MAX_KEYS
    for value in (set(alike), dict.fromkeys(alike)):
        with pytest.raises(Unsendable, match=f"more than {MAX_KEYS} keys"):
            answered(value)
    reader = Reader(lambda parts: torch.zeros(()))
    assert len(reader.read(["dict", *range(2 * MAX_KEYS)])) == MAX_KEYS
    with pytest.raises(Malformed, match="too many keys"):
        reader.read(["set", *range(2 * MAX_KEYS + 1)])


def test_text_and_bytes() -> None:
    for one in ("a", b"a"):
        assert answered(one * MAX_TEXT) == one * MAX_TEXT
        with pytest.raises(Unsendable, match=f"more than {MAX_TEXT} characters"):
            answered([one * (MAX_TEXT + 1)])


def test_digits() -> None:
    # All of a thousand digits can be sent, and of more but a few.
    assert answered(1 - 10**MAX_DIGITS) == 1 - 10**MAX_DIGITS
    with pytest.raises(Unsendable, match=f"more than {MAX_DIGITS} digits"):
        answered(2 * 10**MAX_DIGITS)


# Plain forms from a hostile child.

PLAIN = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=4),
        st.sampled_from(["tensor", "tuple", "list", "dict", "set", "complex", "bytes", "array"]),
        st.sampled_from(["dtype", "size", "embedding", "handle", "opaque", "absent", "float32"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=12,
)


def no_tensor(parts: list[Any]) -> Tensor:
    if parts == ["float32"]:
        return torch.zeros(4)
    if parts == [1]:
        return torch.zeros(8, dtype=torch.uint8)
    raise Malformed("no tensor")


@settings(quick, max_examples=1500)
@given(plain=PLAIN)
def test_a_plain_form_is_read_or_malformed(plain: Any) -> None:
    try:
        value = Reader(no_tensor).read(plain)
    except Malformed:
        return
    # What was read can be written, and is nothing but a value.
    Writer(lambda tensor: []).write(value)


@pytest.mark.parametrize(
    "plain",
    [
        [],
        {},
        [[]],
        ["unknown", 1],
        [1, 2],
        [None],
        ["dict", 1],
        ["dict", ["list"], 1],
        ["set", ["list"]],
        ["complex", 1],
        ["complex", "1", 2],
        ["bytes", "%%%"],
        ["bytes", "é"],
        ["bytes", 1],
        ["dtype", "float31"],
        ["dtype", ["float32"]],
        ["size", -1],
        ["size", True],
        ["size", 1.0],
        ["embedding", 1],
        ["embedding", ["handle", 1]],
        ["handle", "1"],
        ["opaque", 1],
        ["array", "object", [1], [1]],
        ["array", "float32", [3], [1]],
        ["array", "float32", [[2]], [1]],
        ["array", "float32", [2.0], [1]],
        ["array", "float32", [2**70], [1]],
        ["array", "float32", [1] * 99, [1]],
        ["array", "float64", [2], ["float32"]],
        ["array", "complex128", [1], [1]],
    ],
    ids=str,
)
def test_what_stands_for_nothing_is_malformed(plain: Any) -> None:
    with pytest.raises(Malformed):
        Reader(no_tensor).read(plain)


def test_plain_forms_are_not_read_deeper_than_values_are() -> None:
    plain: Any = 1
    for _ in range(MAX_DEPTH + 8):
        plain = ["list", plain]
    with pytest.raises(Malformed, match="deep"):
        Reader(no_tensor).read(plain)


def test_a_complex_number_beyond_floats_is_malformed() -> None:
    with pytest.raises(Malformed):
        Reader(no_tensor).read(["complex", 10**400, 0])


def test_a_test_cannot_ask_with_what_is_no_value() -> None:
    masked = np.ma.masked_array([1.0], mask=[True])
    for value in (object(), [print], {"a": range(2)}, np.array(["a"]), masked):
        with pytest.raises(TypeError, match="a component cannot be given"):
            Writer(lambda tensor: []).write(value)
