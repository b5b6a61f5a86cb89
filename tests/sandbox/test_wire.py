"""The wire brings back what was sent, and from anything else nothing but its own error."""

import contextlib
import struct

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.exchange.messages import (
    ERROR_KINDS,
    PHASES,
    ForbiddenUse,
    Reply,
    Request,
    StudentError,
)
from autograder.sandbox import wire
from autograder.sandbox.wire import WireError, decode_reply, decode_request

quick = settings(max_examples=150, deadline=None, database=None, derandomize=True)

DTYPES = st.sampled_from([torch.float64, torch.float32, torch.bfloat16, torch.bool, torch.int64])
SHAPES = st.lists(st.integers(0, 4), max_size=4)


@st.composite
def tensors(draw):
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    values = torch.randn(draw(SHAPES), generator=generator, dtype=torch.float64) * 3
    tensor = values.to(draw(DTYPES))
    if tensor.dim() > 1 and draw(st.booleans()):
        tensor = tensor.transpose(0, 1)
    return tensor


class Source:
    """Hands out bytes, and counts what was asked for."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.largest = data, 0, 0

    def __call__(self, size: int) -> bytes:
        self.largest = max(self.largest, size)
        part = self.data[self.at : self.at + size]
        if len(part) < size:
            raise EOFError
        self.at += size
        return part


def same(left: torch.Tensor, right: torch.Tensor) -> bool:
    return left.dtype == right.dtype and left.shape == right.shape and torch.equal(left, right)


@quick
@given(sent=st.lists(tensors(), max_size=4), nonce=st.integers(0, 2**64 - 1))
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


REPLIES = st.builds(
    Reply,
    form=st.just("pair"),
    outputs=st.lists(tensors(), min_size=2, max_size=2),
    gradient=st.sampled_from(["computed", "detached"]),
    input_gradients=st.lists(st.none() | tensors(), max_size=3),
    parameter_gradients=st.dictionaries(st.text(max_size=9), st.none() | tensors(), max_size=3),
    inputs_after=st.lists(tensors(), max_size=2),
    state=st.dictionaries(st.sampled_from(["weight", "a.b.bias"]), tensors()),
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
        st.just(ForbiddenUse("layer_norm", "attention.py", 3)), max_size=wire.MAX_USES
    ),
)


@quick
@given(reply=REPLIES)
def test_a_reply_arrives_whole(reply) -> None:
    source = Source(wire.encode_reply(reply, 7))
    nonce, got = decode_reply(source)
    assert nonce == 7
    assert source.at == len(source.data)
    assert (got.form, got.gradient, got.error) == (reply.form, reply.gradient, reply.error)
    assert got.forbidden == reply.forbidden
    assert list(got.parameter_gradients) == list(reply.parameter_gradients)
    pairs = [
        (got.outputs, reply.outputs),
        (got.inputs_after, reply.inputs_after),
        (got.input_gradients, reply.input_gradients),
        (list(got.state.values()), list(reply.state.values())),
    ]
    for left, right in pairs:
        for one, other in zip(left, right, strict=True):
            assert (one is None and other is None) or same(one, other)


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
