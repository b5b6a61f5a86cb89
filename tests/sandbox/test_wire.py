"""The wire brings back what was sent, and from anything else nothing but its own error."""

import contextlib
import struct
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.exchange.messages import (
    ERROR_KINDS,
    FORMS,
    GRADIENTS,
    PHASES,
    ForbiddenUse,
    Reply,
    Request,
    StudentError,
)
from autograder.exchange.operations import FORBIDDEN
from autograder.sandbox import wire
from autograder.sandbox.wire import WireError, decode_reply, decode_request

quick = settings(max_examples=150, deadline=None, database=None, derandomize=True)

DTYPES = st.sampled_from(wire._DTYPES)
SHAPES = st.lists(st.integers(0, 4), max_size=4)


@st.composite
def tensors(draw):
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    values = torch.randn(draw(SHAPES), generator=generator, dtype=torch.float64) * 3
    # By way of a signed type: what a negative number is as an unsigned one is not defined.
    tensor = values.to(torch.int8).to(draw(DTYPES)) if draw(st.booleans()) else values
    if tensor.dim() > 1 and draw(st.booleans()):
        tensor = tensor.transpose(0, 1)
    if draw(st.booleans()):
        tensor = tensor.unsqueeze(0).expand(draw(st.integers(1, 3)), *tensor.shape)
    return tensor


# The format that requests travel in knows no complex128.
ASKED = tensors().filter(lambda tensor: tensor.dtype != torch.complex128)


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


@quick
@given(sent=st.lists(ASKED, max_size=4), nonce=st.integers(0, 2**64 - 1))
def test_a_request_keeps_values_and_strides(sent, nonce) -> None:
    request = Request()
    ops = [{"op": "call", "args": [request.encode(tensor) for tensor in sent]}]
    request.ops = ops
    source = Source(wire.encode_request(request, nonce))
    got_nonce, got = decode_request(source)
    assert (got_nonce, got.ops) == (nonce, ops)
    assert source.at == len(source.data)
    for left, right in zip(got.tensors, request.tensors, strict=True):
        assert same(left, right)
        assert left.stride() == right.stride() or left.numel() == 0


def test_expanded_aliased_and_meta_tensors_cross() -> None:
    request = Request()
    expanded = torch.arange(3.0).expand(2, 3)
    first, second = request.encode(expanded), request.encode(expanded)
    request.encode(torch.empty(2, 0, 3, device="meta", dtype=torch.bfloat16))
    assert first == second
    _, got = decode_request(Source(wire.encode_request(request, 1)))
    assert same(got.tensors[0], expanded)
    assert got.tensors[0].stride() == expanded.stride()
    assert (got.tensors[1].device.type, got.tensors[1].dtype) == ("meta", torch.bfloat16)


METAS = st.builds(
    lambda shape, dtype: torch.empty(shape, dtype=dtype, device="meta"), SHAPES, DTYPES
)
SENT = tensors() | METAS
NAMED = st.dictionaries(st.text(max_size=9), SENT, max_size=3)

REPLIES = st.builds(
    Reply,
    form=st.just("pair"),
    outputs=st.lists(SENT, min_size=2, max_size=2),
    gradient=st.sampled_from(GRADIENTS),
    input_gradients=st.lists(st.none() | SENT, max_size=3),
    parameter_gradients=st.dictionaries(st.text(max_size=9), st.none() | SENT, max_size=3),
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
        st.text(max_size=40),
        st.just("layer_norm.py"),
        st.integers(0, 2**32 - 1),
    ),
    forbidden=st.lists(
        st.builds(
            ForbiddenUse,
            st.sampled_from(FORBIDDEN),
            st.text(max_size=20),
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
    assert (got.form, got.gradient, got.error) == (reply.form, reply.gradient, reply.error)
    assert got.forbidden == reply.forbidden
    for named in ("parameter_gradients", "state", "parameters"):
        assert list(getattr(got, named)) == list(getattr(reply, named))
    pairs = [
        (got.outputs, reply.outputs),
        (got.inputs_after, reply.inputs_after),
        (got.input_gradients, reply.input_gradients),
        (list(got.state.values()), list(reply.state.values())),
        (list(got.parameters.values()), list(reply.parameters.values())),
        (list(got.parameter_gradients.values()), list(reply.parameter_gradients.values())),
        ([got.given, got.given_gradient], [reply.given, reply.given_gradient]),
    ]
    for left, right in pairs:
        for one, other in zip(left, right, strict=True):
            assert (one is None and other is None) or same(one, other)
    sound(got, source)


@pytest.mark.parametrize("dtype", wire._DTYPES, ids=str)
def test_every_dtype_arrives_bit_for_bit(dtype: torch.dtype) -> None:
    pattern = torch.tensor([0, 1, 127, 128, 200, 255, 254, 77] * 8, dtype=torch.uint8)
    flat = pattern.ne(1) if dtype is torch.bool else pattern.view(dtype)
    shapes = [flat, flat[0], flat[:0], flat[:4].reshape(2, 2).T, flat[:2].expand(3, 2), flat[::2]]
    if dtype.is_complex:
        shapes.append(flat.conj())
    for tensor in shapes:
        reply = Reply(form="tensor", outputs=[tensor])
        _, got = decode_reply(Source(wire.encode_reply(reply, 1)))
        [output] = got.outputs
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
        assert tensor.dtype in wire._DTYPES
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
    assert reply.form in FORMS
    assert reply.gradient in GRADIENTS
    assert len(reply.forbidden) <= wire.MAX_USES
    assert len(list(reply.tensors())) <= wire.MAX_TENSORS
    if reply.error is not None:
        assert len(reply.error.text) <= wire.MAX_TEXT
        assert len(reply.error.file) <= wire.MAX_NAME
    for names in (reply.parameter_gradients, reply.state, reply.parameters):
        assert all(len(name) <= wire.MAX_NAME for name in names)


# The rest of a reply at its largest: every name and text full, every tensor with every dimension.
FRAMING = 2 * 1024 + wire.MAX_USES * 256 + wire.MAX_TENSORS * (256 + 8 * wire.MAX_DIMS)
SMALL = 1 << 16


@pytest.fixture
def small_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cap so low that a source can fill it in every example."""
    monkeypatch.setattr(wire, "MAX_BYTES", SMALL)


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
    assert source.largest <= wire.MAX_BYTES
    assert sum(map(len, source.handed)) <= wire.MAX_BYTES + FRAMING
    # What the source itself hands out and keeps, as much again for the tensors, and objects.
    assert peak <= 3 * wire.MAX_BYTES + 2 * FRAMING + (1 << 18)
    if reply is not None:
        sound(reply, source)


def rich_reply() -> Reply:
    numbers = torch.arange(6.0).reshape(2, 3)
    return Reply(
        form="pair",
        outputs=[numbers, numbers.T > 2],
        gradient="computed",
        input_gradients=[None, numbers.to(torch.bfloat16)],
        parameter_gradients={"weight": numbers[0], "bias": None},
        state={"weight": numbers.to("meta"), "steps": torch.tensor(3)},
        error=StudentError("ValueError", "backward", "naïve", "layer_norm.py", 7),
        forbidden=[ForbiddenUse(FORBIDDEN[0], "layer_norm.py", 3)],
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
BYTE = st.integers(0, 12) | st.integers(0, 255)
ROLES = st.sampled_from(
    [b"output.", b"input.", b"after.", b"gradient.w", b"state.w", b"parameter.w", b"given.", b"x."]
)


@st.composite
def lies(draw):
    """A reply that is well formed in its layout, and anything in what it says."""
    text, file = draw(st.integers(0, 2**16 - 1) | st.just(9)), draw(st.integers(0, 300))
    uses, count = draw(st.integers(0, 2) | BYTE), draw(st.integers(0, 3) | BYTE)
    enums = [draw(st.integers(0, 2) | BYTE) for _ in range(4)]
    line = draw(st.integers(0, 2**32 - 1))
    parts = [wire._REPLY.pack(b"gf01", 1, *enums, text, file, line, uses, count)]
    parts.append(draw(st.binary(min_size=2, max_size=9)) * 40000)
    parts[-1] = parts[-1][: text + file]
    for _ in range(uses):
        parts.append(wire._USE.pack(draw(st.integers(0, 3) | BYTE), 3, line) + b"abc")
    for _ in range(min(count, 5)):
        name = draw(ROLES | st.binary(max_size=12))
        shape = draw(st.lists(SIZES, max_size=3) | st.lists(SIZES, max_size=9))
        dims = draw(st.just(len(shape)) | BYTE)
        size = draw(st.just(len(name)) | st.integers(0, 300))
        parts.append(wire._TENSOR.pack(size, draw(BYTE), draw(st.integers(0, 3) | BYTE), dims))
        parts.append(name + struct.pack(f"<{len(shape)}Q", *shape))
    return b"".join(parts)


@settings(quick, max_examples=400, suppress_health_check=list(HealthCheck))
@given(frame=lies())
def test_lies_about_sizes_cost_no_memory(frame, small_cap) -> None:
    bounded(frame)


@settings(quick, max_examples=300, suppress_health_check=list(HealthCheck))
@given(noise=st.binary(max_size=400), magic=st.booleans())
def test_noise_without_end_costs_no_memory(noise, magic, small_cap) -> None:
    bounded(b"gf01" * magic + noise)


def test_the_largest_reply_is_taken_and_one_byte_more_is_not(small_cap) -> None:
    for count, size, taken in [(1, SMALL, True), (1, SMALL + 1, False), (64, SMALL // 64, True)]:
        tensor = torch.ones(size, dtype=torch.uint8)
        reply = Reply(inputs_after=[tensor] * count)
        if not taken:
            with pytest.raises(ValueError, match="too large"):
                wire.encode_reply(reply, 1)
            continue
        frame = wire.encode_reply(reply, 1)
        _, got = decode_reply(Source(frame))
        assert len(got.inputs_after) == count
        bounded(frame)
    halves = Reply(inputs_after=[torch.ones(SMALL // 2 + 1, dtype=torch.uint8)] * 2)
    source = Source(wire.encode_reply(halves, 1))
    with pytest.raises(WireError, match="tensors are too large"):
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
    source = Source(b"gf01" + noise + bytes(2048))
    with contextlib.suppress(EOFError, WireError):
        decode_reply(source)
    assert source.largest <= wire.MAX_BYTES


def head(dims: tuple[int, ...], device: int = 0) -> bytes:
    fixed = wire._REPLY.pack(b"gf01", 1, 1, 0, 255, 255, 0, 0, 0, 0, 1)
    tensor = wire._TENSOR.pack(7, 0, device, len(dims)) + b"output."
    return fixed + tensor + struct.pack(f"<{len(dims)}Q", *dims)


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
@pytest.mark.parametrize("device", [0, 1])
def test_huge_shapes_are_refused_before_anything_is_allocated(dims, device) -> None:
    source = Source(head(dims, device))
    if device == 1 and dims == (2**20, 2**20):
        # A meta tensor has no bytes, so a large one is harmless.
        decode_reply(source)
    else:
        with pytest.raises(WireError):
            decode_reply(source)
    assert source.largest < 200


def test_a_bool_that_is_neither_0_nor_1_becomes_true() -> None:
    reply = Reply(form="tensor", outputs=[torch.tensor([True, False])])
    frame = bytearray(wire.encode_reply(reply, 1))
    frame[-2:] = b"\x07\x00"
    _, got = decode_reply(Source(bytes(frame)))
    assert got.outputs[0].tolist() == [True, False]
    assert got.outputs[0].view(torch.uint8).tolist() == [1, 0]


def test_outputs_that_do_not_fit_the_form_are_refused() -> None:
    reply = Reply(form="pair", outputs=[torch.ones(1)])
    with pytest.raises(WireError, match="do not fit"):
        decode_reply(Source(wire.encode_reply(reply, 1)))
