"""Values cross the wire in both directions; from a hostile child comes nothing but a WireError."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from autograder.api.messages import Reply, Request, StudentError
from autograder.api.operations import Ask
from autograder.api.values import (
    ARRAY_DTYPES,
    DTYPES,
    MAX_ITEMS,
    MAX_TEXT,
    Handle,
    Made,
    Named,
    Unsendable,
)
from autograder.sandbox.wire import (
    FRAME,
    MAGIC,
    MAX_BYTES,
    WireError,
    decode_request,
    encode_reply,
    encode_request,
    with_nonce,
)
from tests.asking import asks
from tests.sandbox.frames import decode_reply

quick = settings(max_examples=150, deadline=None, database=None, derandomize=True)


def source(data: bytes) -> Callable[[int], bytes]:
    """Hand out bytes, so many as are asked for."""
    at = 0

    def receive(size: int) -> bytes:
        nonlocal at
        at += size
        if at > len(data):
            raise EOFError
        return data[at - size : at]

    return receive


def replied(value: Any) -> Any:
    nonce, reply = decode_reply(source(encode_reply(Reply(value=value), 2**64 - 1)))
    assert nonce == 2**64 - 1
    return reply.value


def asked(*args: Any, **kwargs: Any) -> Ask:
    frame = with_nonce(encode_request(Request([asks("f", *args, kwargs=kwargs)]), 0), 5)
    nonce, request = decode_request(source(frame))
    assert nonce == 5
    (call,) = request.ops
    assert isinstance(call, Ask)
    return replace(call, args=call.args[1:])


def hostile(plain: Any, body: bytes = b"") -> Any:
    """Have a frame read that a child has made up."""
    header = json.dumps(plain).encode()
    frame = FRAME.pack(MAGIC, 0, len(header), len(body)) + header + body
    return decode_reply(source(frame))[1]


def tensor_of(dtype: torch.dtype, shape: list[int], seed: int) -> Tensor:
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
# Half a character cannot be written in UTF-8; what becomes of it is asked below.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
KEYS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    TEXTS,
    st.binary(max_size=6),
    st.sampled_from(list(DTYPES.values())),
)
VALUES = st.recursive(
    st.one_of(KEYS, st.floats(), TENSORS, ARRAYS, st.builds(torch.Size, SHAPES)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
        st.sets(KEYS, max_size=4),
    ),
    max_leaves=8,
)


def seen(value: Any) -> Any:
    """Write a value down with types, dtypes and bytes, so that it can be compared."""
    if isinstance(value, Tensor):
        bytes_ = value.contiguous().reshape(-1).view(torch.uint8).tolist()
        return "tensor", value.dtype, value.shape, bytes_
    if isinstance(value, np.ndarray):
        return "array", value.dtype, value.shape, value.tobytes()
    if isinstance(value, dict):
        return "dict", [(seen(key), seen(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [seen(item) for item in value]
    return type(value), sorted(map(repr, value)) if isinstance(value, set) else repr(value)


@quick
@given(value=VALUES)
def test_an_answer_comes_back_as_it_was(value: Any) -> None:
    assert seen(replied(value)) == seen(value)


@quick
@given(args=st.lists(VALUES, max_size=3), kwargs=st.dictionaries(TEXTS, VALUES, max_size=2))
def test_a_question_arrives_as_it_was(args: list[Any], kwargs: dict[str, Any]) -> None:
    call = asked(*args, **kwargs)
    assert seen(call.args) == seen(tuple(args))
    assert seen(dict(call.kwargs)) == seen(kwargs)


@pytest.mark.parametrize("name", DTYPES)
def test_tensors_of_every_dtype_cross(name: str) -> None:
    for shape in ([], [0, 2], [2, 3]):
        tensor = tensor_of(DTYPES[name], shape, 3)
        assert seen(replied([tensor, tensor])) == seen([tensor, tensor])
        assert seen(asked(tensor).args[0]) == seen(tensor)


@pytest.mark.parametrize("name", ARRAY_DTYPES)
def test_arrays_of_every_dtype_cross(name: str) -> None:
    for shape in ([], [0, 2], [2, 3]):
        array = array_of(ARRAY_DTYPES[name], shape, 3)
        for found in (replied(array), asked(array).args[0]):
            assert seen(found) == seen(array)
            # A student may write to what was handed over.
            found[...] = 0


def test_two_arrays_of_one_question_stay_two() -> None:
    ones, twos = np.ones(3), np.full(3, 2.0)
    left, right, again = asked(ones, other=(twos, ones)).args[0], *asked(ones, twos).args
    assert (left.tolist(), right.tolist(), again.tolist()) == ([1] * 3, [1] * 3, [2] * 3)
    first, second, third = asked(np.ones(3), np.full(3, 2.0), np.full(3, 3.0)).args
    assert (first.tolist(), second.tolist(), third.tolist()) == ([1] * 3, [2] * 3, [3] * 3)
    first += 10
    assert second.tolist() == [2] * 3


def test_one_tensor_that_stands_in_two_places_stays_one() -> None:
    x, y = torch.ones(2), torch.ones(2)
    found = asked([x, {"a": x}], y)
    assert found.args[0][0] is found.args[0][1]["a"]
    assert found.args[0][0] is not found.args[1]


def test_what_stands_for_objects_arrives() -> None:
    weight = torch.eye(2)
    call = asked([Handle(3)], {"a": Made("embedding", (weight,))})
    assert call.args[0] == [Handle(3)]
    assert torch.equal(call.args[1]["a"].parts[0], weight)


def test_every_operation_arrives_as_it_was() -> None:
    ops = [
        asks("Tokenizer.train", "text", into=1, kwargs={"size": 3}),
        asks("pieces", of=1, into=2),
        asks("Parabola", into=3, module=True, of=Named("provided.line")),
        asks("merges", of=1, verb="get"),
        asks("", 5, of=2, verb="take"),
        asks("", of=1, seed=3, keep_inputs=True, cost=True),
        asks("inputs", of=Named("provided.line")),
        asks("", ("--top", "1"), "in", {"a.txt": b"\xff\0"}, verb="run", cost=True),
        asks("", (), "", {}, verb="run"),
    ]
    assert decode_request(source(encode_request(Request(ops), 0)))[1].ops == ops


def test_students_own_names_are_kept_apart_from_options() -> None:
    names = ("seed", "cotangent", "keep_inputs", "function", "method", "cost", "name", "self")
    call = asked(**dict.fromkeys(names, 7))
    assert dict(call.kwargs) == dict.fromkeys(names, 7)
    assert (call.seed, call.cotangent, call.keep_inputs, call.cost) == (None, None, False, False)


def test_hundreds_of_tensors_come_back() -> None:
    value = {f"layer{n}.weight": torch.full((n % 5, 3), float(n)) for n in range(700)}
    found = replied([value, value])[1]
    assert list(found) == list(value)
    assert all(torch.equal(found[name], value[name]) for name in value)
    state = {name: tensor.clone() for name, tensor in value.items()}
    reply = decode_reply(source(encode_reply(Reply(state=state, parameters=state), 0)))[1]
    assert len(reply.state) == len(reply.parameters) == 700


def test_a_whole_answer_of_many_small_parts_comes_back() -> None:
    value = list(range(MAX_ITEMS - 1))
    assert replied(value) == value


# Caps, as the child finds them.


def test_too_many_bytes_are_not_sent() -> None:
    with pytest.raises(Unsendable, match="too large"):
        encode_reply(Reply(value=torch.empty(MAX_BYTES + 1, dtype=torch.uint8)), 0)
    half = torch.empty(MAX_BYTES // 2 + 1, dtype=torch.uint8)
    with pytest.raises(Unsendable, match="too large"):
        encode_reply(Reply(value=[half, half]), 0)
    with pytest.raises(Unsendable, match="too large"):
        encode_reply(Reply(value=np.empty(MAX_BYTES + 1, dtype=np.uint8)), 0)


def test_too_much_text_is_not_sent() -> None:
    with pytest.raises(Unsendable, match="too many parts"):
        encode_reply(Reply(value=["a" * MAX_TEXT] * 50), 0)


@pytest.mark.filterwarnings("ignore")
def test_tensors_without_plain_values_are_not_sent() -> None:
    quantised = torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.quint8)
    tensors = [torch.ones(2, 2).to_sparse(), quantised]
    # Torch itself can compare and convert nothing of these.
    names = [name for name in ("float8_e5m2", "float4_e2m1fn_x2", "uint4") if hasattr(torch, name)]
    tensors += [torch.zeros(2, dtype=torch.uint8).view(getattr(torch, name)) for name in names]
    for tensor in tensors:
        with pytest.raises(Unsendable, match="no plain values"):
            encode_reply(Reply(value=tensor), 0)


def test_half_a_character_harms_nobody() -> None:
    assert replied("a\udcffb") == "a?b"


# From a hostile child.

PLAIN = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(),
        st.text(max_size=4),
        st.sampled_from(["tensor", "tuple", "list", "dict", "set", "complex", "bytes", "array"]),
        st.sampled_from(["dtype", "size", "embedding", "handle", "opaque", "absent"]),
        st.sampled_from(["float32", "uint8", "bool", "cpu", "meta"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=12,
)
FIELDS = st.sampled_from(
    [*("parts", "gradient", "error", "forbidden", "operations", "more"), "value"]
)
PARTS = st.sampled_from(
    [*("value", "state", "input_gradients", "given", "parameters", "inputs_after"), "more"]
)
TENSOR = st.tuples(
    st.just("tensor"),
    st.sampled_from([*DTYPES, "more"]),
    st.sampled_from(["cpu", "meta", "cuda", "moon"]),
    st.lists(st.integers(-1, 2**33), max_size=3),
)
BODIES = st.sampled_from([b"", bytes(16), bytes(64)])


@settings(quick, max_examples=400)
@given(plain=st.one_of(PLAIN, st.dictionaries(FIELDS, PLAIN, max_size=3)), body=BODIES)
def test_any_frame_is_a_reply_or_a_wire_error(plain: Any, body: bytes) -> None:
    try:
        hostile(plain, body)
    except WireError:
        return


@settings(quick, max_examples=400)
@given(
    parts=st.dictionaries(PARTS, st.one_of(PLAIN, TENSOR, st.lists(TENSOR)), max_size=3),
    body=BODIES,
)
def test_any_parts_are_a_reply_or_a_wire_error(parts: Any, body: bytes) -> None:
    try:
        reply = hostile({"parts": parts}, body)
    except WireError:
        return
    assert all(isinstance(key, str) for key in reply.state)
    assert all(isinstance(item, Tensor) for item in reply.state.values())


@pytest.mark.parametrize(
    "parts",
    [
        {"state": ["list"]},
        {"state": ["dict", 1, ["tensor", "float32", "cpu", [0]]]},
        {"state": ["dict", "a", None]},
        {"parameter_gradients": ["dict", "a", 1]},
        {"inputs_after": ["list", None]},
        {"input_gradients": ["tuple"]},
        {"given": ["list"]},
        {"seconds": 1.0},
        {"value": ["tensor", "quint8", "cpu", [0]]},
        {"value": ["tensor", "float32", "cpu", [0] * 9]},
        {"value": ["tensor", "float32", "meta", [2**25, 2**25]]},
        {"value": ["tensor", "float32", "cpu", [True]]},
        {"value": ["tensor", "float32", "cpu", [4]]},
        {"value": ["array", "float32", [4], ["uint8", "cpu", [16]]]},
        {"value": ["array", "float32", [4], ["float32", "cpu", [0]]]},
    ],
    ids=str,
)
def test_parts_that_hold_something_else_are_refused(parts: Any) -> None:
    with pytest.raises(WireError):
        hostile({"parts": parts})


def test_bytes_that_belong_to_nothing_are_refused() -> None:
    with pytest.raises(WireError, match="more bytes"):
        hostile({"parts": {"value": 1}}, bytes(16))


def test_a_reply_of_too_many_parts_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(WireError, match="too many parts"):
        hostile({"parts": {"value": ["list", *[0] * (10 * MAX_ITEMS)]}})


def test_a_complex_number_beyond_floats_is_a_wire_error() -> None:
    with pytest.raises(WireError):
        hostile({"parts": {"value": ["complex", 10**400, 0]}})


def test_only_known_words_and_places_are_read() -> None:
    error = {"kind": "ValueError", "phase": "call", "text": "no", "file": "a.py", "line": 3}
    assert hostile({"error": error}).error == StudentError("ValueError", "call", "no", "a.py", 3)
    for change in (
        {"kind": "MyError"},
        {"bases": ["MyError"]},
        {"phase": "later"},
        {"text": "a" * 3000},
        {"text": 1},
        {"line": -1},
        {"line": 2**32},
        {"line": True},
        {"file": "a" * 201},
        {"found": ["a"] * 1001},
    ):
        with pytest.raises(WireError):
            hostile({"error": {**error, **change}})
