"""The wire brings back what was sent, and from anything else nothing but its own error."""

import contextlib
import json
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.api.messages import (
    ERROR_KINDS,
    GRADIENTS,
    MAX_TEXT,
    PARTS,
    PHASES,
    Reply,
    Request,
    StudentError,
)
from autograder.api.operations import Reset
from autograder.api.values import ABSENT, DTYPES, OPAQUE, Made, Unsendable, tensors_in
from autograder.rules.forbidden import OPERATIONS, ForbiddenUse
from autograder.sandbox import wire
from autograder.sandbox.wire import WireError, decode_request
from tests.asking import asks
from tests.sandbox.frames import decode_reply

quick = settings(max_examples=150, deadline=None, database=None, derandomize=True)

KINDS = st.sampled_from(list(DTYPES.values()))
SHAPES = st.lists(st.integers(0, 4), max_size=4)


@st.composite
def tensors(draw):
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    values = torch.randn(draw(SHAPES), generator=generator, dtype=torch.float64) * 3
    # By way of a signed type: what a negative number is as an unsigned one is not defined.
    tensor = values.to(torch.int8).to(draw(KINDS)) if draw(st.booleans()) else values
    if tensor.dim() > 1 and draw(st.booleans()):
        tensor = tensor.transpose(0, 1)
    if draw(st.booleans()):
        tensor = tensor.unsqueeze(0).expand(draw(st.integers(1, 3)), *tensor.shape)
    return tensor


class Source:
    """Hands out bytes, and counts what was asked for."""

    def __init__(self, data: bytes, endless: bool = False) -> None:
        self.data, self.endless = data, endless
        self.at = self.largest = 0
        self.handed: list[bytes] = []

    def __call__(self, size: int) -> bytes:
        self.largest = max(self.largest, size)
        part = self.data[self.at : self.at + size]
        if len(part) < size:
            if not self.endless or size > wire.MAX_BYTES:
                raise EOFError
            part += b"\x01" * (size - len(part))
        self.at += size
        self.handed.append(part)
        return part


def same(left: torch.Tensor, right: torch.Tensor) -> bool:
    if (left.dtype, left.shape, left.device) != (right.dtype, right.shape, right.device):
        return False
    return left.is_meta or torch.equal(left, right)


def alike(left: object, right: object) -> bool:
    """Tell whether two values are the same, tensors bit for bit."""
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        return same(left, right)
    if isinstance(left, Made) and isinstance(right, Made):
        return left.maker == right.maker and alike(left.parts, right.parts)
    if type(left) is not type(right):
        return False
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(alike, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(alike(left[key], right[key]) for key in left)
    return left == right


@quick
@given(sent=st.lists(tensors(), max_size=4), nonce=st.integers(0, 2**64 - 1))
def test_a_request_keeps_values_and_strides(sent, nonce) -> None:
    request = Request([asks("f", *sent, 1, None, kwargs={"x": True})])
    source = Source(wire.encode_request(request, nonce))
    got_nonce, got = decode_request(source)
    assert got_nonce == nonce
    assert source.at == len(source.data)
    [call] = got.ops
    assert alike(call.args, request.ops[0].args)
    assert call.kwargs == {"x": True}
    for left, right in zip(got.tensors(), request.tensors(), strict=True):
        assert left.stride() == right.stride() or left.numel() == 0


def test_every_operation_crosses() -> None:
    weight = torch.arange(6.0).reshape(2, 3)
    ops = [
        Reset(7),
        asks("Head", Made("embedding", (weight,)), 4, into=3, module=True, kwargs={"bias": False}),
        asks("", {"weight": weight, "bias": weight[0]}, of=3, verb="load"),
        asks("", torch.bfloat16, of=3, verb="to"),
        asks("", None, "meta", of=3, verb="to"),
        asks("", False, of=3, verb="train"),
        asks("", 2 * weight, of=3, verb="write_given"),
        asks("", of=3, verb="state"),
        asks(
            "forward",
            weight,
            [weight, 1.5],
            "x",
            of=3,
            kwargs={"mask": None},
            seed=5,
            cotangent=weight[0],
            keep_inputs=True,
        ),
    ]
    _, got = decode_request(Source(wire.encode_request(Request(ops), 1)))
    assert [type(op) for op in got.ops] == [type(op) for op in ops]
    for there, here in zip(got.ops, ops, strict=True):
        assert alike(dict(sorted(vars(there).items())), dict(sorted(vars(here).items()))), here


def test_expanded_aliased_and_meta_tensors_cross() -> None:
    expanded = torch.arange(3.0).expand(2, 3)
    meta = torch.empty(2, 0, 3, device="meta", dtype=torch.bfloat16)
    request = Request([asks("f", expanded, expanded, meta)])
    _, got = decode_request(Source(wire.encode_request(request, 1)))
    [call] = got.ops
    _, first, second, third = call.args
    assert first is second
    assert same(first, expanded)
    assert first.stride() == expanded.stride()
    assert (third.device.type, third.dtype, third.shape) == ("meta", torch.bfloat16, meta.shape)


METAS = st.builds(
    lambda shape, dtype: torch.empty(shape, dtype=dtype, device="meta"), SHAPES, KINDS
)
SENT = tensors() | METAS
# Half a character is no text; it arrives as a question mark.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
NAMED = st.dictionaries(TEXT, SENT, max_size=3)
VALUES = st.recursive(
    st.sampled_from([None, True, -7, 2.5, "tensor", "", OPAQUE, ABSENT]) | TEXT | SENT,
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=5,
)

REPLIES = st.builds(
    Reply,
    value=VALUES,
    gradient=st.sampled_from(GRADIENTS),
    input_gradients=st.lists(st.none() | SENT, max_size=3),
    parameter_gradients=st.dictionaries(TEXT, st.none() | SENT, max_size=3),
    inputs_after=st.lists(SENT, max_size=2),
    state=NAMED,
    parameters=NAMED,
    given=st.none() | SENT,
    given_gradient=st.none() | SENT,
    error=st.none()
    | st.builds(
        StudentError,
        st.sampled_from(ERROR_KINDS),
        st.sampled_from(PHASES),
        TEXT,
        st.just("layer_norm.py"),
        st.integers(0, 2**32 - 1),
    ),
    forbidden=st.lists(
        st.builds(
            ForbiddenUse,
            st.sampled_from([*OPERATIONS]),
            TEXT,
            st.integers(0, 2**32 - 1),
        ),
        max_size=wire.MAX_USES,
    ),
)


@quick
@given(reply=REPLIES, nonce=st.integers(0, 2**64 - 1))
def test_a_reply_arrives_whole(reply, nonce) -> None:
    source = Source(wire.encode_reply(reply, nonce))
    got_nonce, got = decode_reply(source)
    assert got_nonce == nonce
    assert source.at == len(source.data)
    assert (got.gradient, got.error) == (reply.gradient, reply.error)
    assert got.forbidden == reply.forbidden
    for name in PARTS:
        assert alike(getattr(got, name), getattr(reply, name)), name
    sound(got, source)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_every_dtype_arrives_bit_for_bit(dtype: torch.dtype) -> None:
    pattern = torch.tensor([0, 1, 127, 128, 200, 255, 254, 77] * 8, dtype=torch.uint8)
    flat = pattern.ne(1) if dtype is torch.bool else pattern.view(dtype)
    shapes = [flat, flat[0], flat[:0], flat[:4].reshape(2, 2).T, flat[:2].expand(3, 2), flat[::2]]
    if dtype.is_complex:
        shapes.append(flat.conj())
    for tensor in shapes:
        _, got = decode_reply(Source(wire.encode_reply(Reply(value=tensor), 1)))
        output = got.value
        assert (output.dtype, output.shape) == (dtype, tensor.shape)
        # Bytes, because no NaN equals itself.
        assert wire.tensor_bytes(output) == wire.tensor_bytes(tensor.resolve_conj())


def sound(reply: Reply, source: Source) -> None:
    """Nothing in a decoded reply is beyond the caps or shares memory with anything else."""
    places = []
    for part in source.handed:
        start = np.frombuffer(part, np.uint8).ctypes.data
        places += [(start, start + len(part))] if len(part) > 1 else []
    total = 0
    for tensor in reply.tensors():
        assert tensor.dtype in DTYPES.values()
        assert tensor.device.type in ("cpu", "meta")
        assert tensor.is_contiguous()
        assert not tensor.requires_grad
        assert tensor.dim() <= wire.MAX_DIMS
        if tensor.is_meta:
            continue
        storage = tensor.untyped_storage()
        assert storage.nbytes() == tensor.nbytes
        total += tensor.nbytes
        if tensor.nbytes:
            places.append((storage.data_ptr(), storage.data_ptr() + tensor.nbytes))
    assert total <= wire.MAX_BYTES
    places.sort()
    assert all(end <= start for (_, end), (start, _) in pairwise(places))
    assert reply.gradient in GRADIENTS
    assert len(reply.forbidden) <= wire.MAX_USES
    assert len(list(reply.tensors())) <= wire.MAX_MARKS
    for name, part in PARTS.items():
        assert part.fits(getattr(reply, name)) or part.is_empty(getattr(reply, name))
    if reply.error is not None:
        assert reply.error.kind in ERROR_KINDS
        assert reply.error.phase in PHASES
        assert len(reply.error.text) <= MAX_TEXT
        assert len(reply.error.file) <= wire.MAX_NAME


SMALL = 1 << 16
HEAD = 1 << 13


@pytest.fixture
def small_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Caps so low that a source can fill them in every example."""
    monkeypatch.setattr(wire, "MAX_BYTES", SMALL)
    monkeypatch.setattr(wire, "MAX_BYTES", SMALL)
    monkeypatch.setattr(wire, "MAX_HEADER", HEAD)
    monkeypatch.setattr(wire, "MAX_MARKS", 1000)


def bounded(frame: bytes) -> None:
    """Decode a frame that never ends; what it asks for and allocates is within the caps."""
    source = Source(frame, endless=True)
    reply = None
    tracemalloc.start()
    try:
        with contextlib.suppress(EOFError, WireError):
            _, reply = decode_reply(source)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert source.largest <= max(SMALL, HEAD)
    assert sum(map(len, source.handed)) <= SMALL + HEAD + wire.FRAME.size
    # What the source itself hands out and keeps, as much again for the tensors, and objects.
    assert peak <= 3 * SMALL + 40 * HEAD + (1 << 18)
    if reply is not None:
        sound(reply, source)


def framed(plain: object, body: bytes = b"", body_size: int | None = None) -> bytes:
    """Return a reply with this header, whatever it says, and this body."""
    header = plain if isinstance(plain, bytes) else json.dumps(plain).encode()
    size = len(body) if body_size is None else body_size
    return wire.FRAME.pack(wire.MAGIC, 1, len(header), size) + header + body


def rich_reply() -> Reply:
    numbers = torch.arange(6.0).reshape(2, 3)
    return Reply(
        value=(numbers, [numbers.T > 2, 2.5, None, "x"], OPAQUE),
        gradient="computed",
        input_gradients=[None, numbers.to(torch.bfloat16)],
        parameter_gradients={"weight": numbers[0], "bias": None},
        state={"weight": numbers.to("meta"), "steps": torch.tensor(3)},
        error=StudentError("ValueError", "backward", "naïve", "layer_norm.py", 7),
        forbidden=[ForbiddenUse("layer_norm", "layer_norm.py", 3)],
    )


def test_no_beginning_of_a_reply_is_a_reply() -> None:
    frame = wire.encode_reply(rich_reply(), 7)
    for size in range(len(frame)):
        with pytest.raises((EOFError, WireError)):
            decode_reply(Source(frame[:size]))


def test_no_flipped_bit_does_harm(small_cap) -> None:
    frame = wire.encode_reply(rich_reply(), 7)
    for place in range(8 * len(frame)):
        flipped = bytearray(frame)
        flipped[place // 8] ^= 1 << place % 8
        bounded(bytes(flipped))


SIZES = st.sampled_from([0, 1, 2, 3, 255, 2**13, 2**16, 2**25, 2**32, 2**40, 2**63, 2**64 - 1])
WORDS = st.sampled_from(
    [
        *("tensor", "tuple", "list", "dict", "embedding", "opaque", "absent", "float32", "bool"),
        *("complex64", "cpu", "meta", "cuda", "ValueError", "call", "computed", "x", ""),
    ]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | SIZES | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
TENSOR = st.tuples(
    st.just("tensor"),
    WORDS | st.sampled_from(list(DTYPES)),
    WORDS | st.sampled_from(["cpu", "meta"]),
    st.lists(SIZES, max_size=3) | st.lists(SIZES, max_size=9) | ANYTHING,
).map(list)
PLAIN = st.fixed_dictionaries(
    {"parts": st.dictionaries(st.sampled_from(list(PARTS)) | WORDS, TENSOR | ANYTHING, max_size=3)},
    optional={
        "gradient": st.sampled_from(GRADIENTS) | ANYTHING,
        "error": ANYTHING
        | st.fixed_dictionaries(
            {"kind": st.sampled_from(ERROR_KINDS), "phase": st.sampled_from(PHASES)},
            optional={
                **dict.fromkeys(("text", "file", "key"), st.text(max_size=300) | ANYTHING),
                **dict.fromkeys(("line", "found", "shape", "wanted"), ANYTHING),
            },
        ),
        "forbidden": st.lists(
            st.tuples(st.sampled_from([*OPERATIONS]) | WORDS, WORDS, SIZES).map(list) | ANYTHING,
            max_size=9,
        ),
    },
)


@st.composite
def lies(draw):
    """A reply that is well formed in its layout, and anything in what it says."""
    size = draw(st.integers(0, 200) | st.integers(0, 2**32 - 1))
    return framed(draw(PLAIN | ANYTHING), body_size=size)


@settings(quick, max_examples=400, suppress_health_check=list(HealthCheck))
@given(frame=lies())
def test_lies_about_sizes_cost_no_memory(frame, small_cap) -> None:
    bounded(frame)


@settings(quick, max_examples=300, suppress_health_check=list(HealthCheck))
@given(noise=st.binary(max_size=400), magic=st.booleans())
def test_noise_without_end_costs_no_memory(noise, magic, small_cap) -> None:
    bounded(wire.MAGIC * magic + noise)


def test_the_largest_reply_is_taken_and_one_byte_more_is_not(small_cap) -> None:
    for count, size, taken in [(1, SMALL, True), (1, SMALL + 1, False), (64, SMALL // 64, True)]:
        tensor = torch.ones(size, dtype=torch.uint8)
        reply = Reply(inputs_after=[tensor] * count)
        if not taken:
            with pytest.raises(Unsendable, match="too large"):
                wire.encode_reply(reply, 1)
            continue
        frame = wire.encode_reply(reply, 1)
        _, got = decode_reply(Source(frame))
        assert len(got.inputs_after) == count
        bounded(frame)
    # Together they are too large, too.
    with pytest.raises(Unsendable, match="too large"):
        wire.encode_reply(Reply(inputs_after=[torch.ones(SMALL // 2 + 1)] * 2), 1)
    source = Source(framed({"parts": {}}, body_size=SMALL + 1))
    with pytest.raises(WireError, match="larger than its caps"):
        decode_reply(source)
    assert source.largest < 100


@quick
@given(reply=REPLIES, cut=st.floats(0, 1, exclude_max=True))
def test_a_truncated_reply_is_no_reply(reply, cut) -> None:
    frame = wire.encode_reply(reply, 7)
    with pytest.raises((EOFError, WireError)):
        decode_reply(Source(frame[: int(len(frame) * cut)]))


@settings(quick, max_examples=400)
@given(reply=REPLIES, data=st.data())
def test_a_damaged_reply_raises_nothing_else_and_asks_for_no_more_than_its_cap(reply, data) -> None:
    frame = bytearray(wire.encode_reply(reply, 7))
    for _ in range(data.draw(st.integers(1, 6))):
        # Mostly in the headers, where the lies are.
        place = data.draw(st.integers(0, min(len(frame) - 1, 120)))
        frame[place] = data.draw(st.integers(0, 255))
    source = Source(bytes(frame) + bytes(4096))
    with contextlib.suppress(EOFError, WireError):
        decode_reply(source)
    assert source.largest <= wire.MAX_BYTES


@settings(quick, max_examples=300)
@given(noise=st.binary(max_size=300))
def test_noise_after_the_magic_number_is_refused(noise) -> None:
    source = Source(wire.MAGIC + noise + bytes(2048))
    with contextlib.suppress(EOFError, WireError):
        decode_reply(source)
    assert source.largest <= wire.MAX_BYTES


def claims(shape: object, device: str = "cpu", dtype: str = "float32") -> bytes:
    return framed({"parts": {"value": ["tensor", dtype, device, shape]}})


@pytest.mark.parametrize(
    "dims",
    [
        (2**40,),
        (2**20, 2**20),
        (2**16, 2**16, 2**16, 2**16),
        (2**63, 2**63, 0),
        (0, 2**25, 2**25, 2**25),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_huge_shapes_are_refused_before_anything_is_allocated(dims, device) -> None:
    source = Source(claims(list(dims), device))
    if device == "meta" and dims == (2**20, 2**20):
        # A meta tensor has no bytes, so a large one is harmless.
        decode_reply(source)
    else:
        with pytest.raises(WireError):
            decode_reply(source)
    assert source.largest < 200


@pytest.mark.parametrize(
    "plain",
    [
        b"",
        b"{",
        b"\xff",
        b"[" * 100_000,
        b'{"parts": {"value": "\\ud800"}}',
        [],
        {"parts": []},
        {"parts": {"state": 1}},
        {"parts": {"other": None}},
        {"other": 1},
        {"gradient": "any"},
        {"error": {"kind": "Anything", "phase": "call"}},
        {"error": {"kind": "ValueError", "phase": "lunch"}},
        {"error": {"kind": "ValueError", "phase": "call", "text": "x" * (MAX_TEXT + 1)}},
        {"error": {"kind": "ValueError", "phase": "call", "line": -1}},
        {"error": {"kind": "ValueError", "phase": "call", "line": True}},
        {"forbidden": [["layer_norm", "a.py", 1]] * (wire.MAX_USES + 1)},
        {"forbidden": [[1, "a.py", 1]]},
        {"parts": {"inputs_after": ["list", None]}},
        {"parts": {"state": ["dict", 1, ["tensor", "float32", "meta", [1]]]}},
        {"parts": {"given": ["list"]}},
        {"parts": {"value": ["tensor", "qint8", "cpu", []]}},
        {"parts": {"value": ["tensor", "float32", "tpu", []]}},
        {"parts": {"value": ["tensor", "float32", "cpu", [1] * (wire.MAX_DIMS + 1)]}},
        {"parts": {"value": ["tensor", "float32", "cpu", [True]]}},
        {"parts": {"value": ["tensor", "float32", "cpu", [2]]}},
        {"parts": {"value": ["tensor", 0]}},
    ],
)
def test_what_is_no_reply_is_refused(plain: object) -> None:
    with pytest.raises(WireError):
        decode_reply(Source(framed(plain)))


@pytest.mark.parametrize("before", ["", "\\", "\\\\", "a \\ b", "\u00e9"])
def test_a_text_may_spell_half_a_character(before: str) -> None:
    """As JSON of an emoji does: backslash, u, four digits are six characters like others."""
    text = before + "\\ud83d\\ude00"
    error = StudentError("KeyError", "call", text)
    reply = Reply(value=[text, {text: text}], error=error)
    _, found = decode_reply(Source(wire.encode_reply(reply, 7)))
    assert found.value == [text, {text: text}]
    assert found.error == error


@pytest.mark.parametrize("backslashes", [1, 3, 5])
def test_half_a_character_is_refused_behind_any_backslashes(backslashes: int) -> None:
    form = b'{"parts": {"value": "' + b"\\" * backslashes + b'ud83d"}}'
    with pytest.raises(WireError, match="no text"):
        decode_reply(Source(framed(form)))


def test_more_bytes_than_tensors_are_refused() -> None:
    with pytest.raises(WireError, match="more bytes"):
        decode_reply(Source(framed({"parts": {}}, bytes(16))))


def test_too_many_parts_are_refused_before_they_are_parsed() -> None:
    with pytest.raises(WireError, match="too many parts"):
        decode_reply(Source(framed(b"[" + b"0," * (wire.MAX_MARKS + 1) + b"0]")))


def test_a_bool_that_is_neither_0_nor_1_becomes_true() -> None:
    frame = framed({"parts": {"value": ["tensor", "bool", "cpu", [2]]}}, b"\x07\x00")
    _, got = decode_reply(Source(frame))
    assert got.value.tolist() == [True, False]
    assert got.value.view(torch.uint8).tolist() == [1, 0]


def test_a_list_that_looks_like_a_tensor_stays_a_list() -> None:
    value = ["tensor", "float32", "cpu", [1]]
    _, got = decode_reply(Source(wire.encode_reply(Reply(value=value), 1)))
    assert got.value == value
    assert list(tensors_in(got.value)) == []
