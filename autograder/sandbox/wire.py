"""The format of requests to a child and of its replies. No pickle in either direction.

A request is trusted: JSON operations and raw bytes. A reply is not: a fixed header, closed
enumerations, and raw bytes whose sizes are computed and capped before they are read.
"""

from __future__ import annotations

import ctypes
import json
import math
import struct
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

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

MAX_TENSORS = 64
MAX_DIMS = 8
MAX_NAME = 200
MAX_TEXT = 2000
MAX_USES = 8
MAX_BYTES = 32 * 1024 * 1024

_MAGIC = b"gf01"
_MAX_SPAN = 2**40
_ABSENT = 255
_ALIGN = 16
# Appended to, never reordered: the index is what is sent.
_DTYPES = (
    torch.float64,
    torch.float32,
    torch.bfloat16,
    torch.float16,
    torch.bool,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.complex64,
    torch.complex128,
)
_DEVICES = ("cpu", "meta", "cuda", "other")

_REQUEST = struct.Struct("<4sQII")
_REPLY = struct.Struct("<4sQBBBBHHIBB")
_USE = struct.Struct("<BHI")
_TENSOR = struct.Struct("<HBBB")

_T = TypeVar("_T")

Receive = Callable[[int], bytes]


class WireError(Exception):
    """The other side sent something that is not a reply."""


def encode_request(request: Request, nonce: int) -> bytes:
    """Write a request; tensors travel contiguous, with the strides to give them back."""
    layouts: list[list[Any]] = []
    body = bytearray()
    for tensor in request.tensors:
        blob = None if tensor.is_meta else _collapse(tensor)
        shapes = list(tensor.shape), list(tensor.stride()), None if blob is None else blob.shape
        layouts.append([_DTYPES.index(tensor.dtype), *shapes])
        if blob is not None:
            body += _padded(tensor_bytes(blob), b"\0")
    header = _padded(json.dumps([request.ops, layouts]).encode(), b" ")
    return _REQUEST.pack(_MAGIC, nonce, len(header), len(body)) + header + body


def _padded(data: bytes, filler: bytes) -> bytes:
    """Fill up, so that what follows can be read as numbers where it lies."""
    return data + filler * (-len(data) % _ALIGN)


def with_nonce(frame: bytes, nonce: int) -> bytes:
    """Return a request's frame with another nonce."""
    return frame[:4] + struct.pack("<Q", nonce) + frame[12:]


def decode_request(receive: Receive) -> tuple[int, Request]:
    """Read a request; `receive(n)` returns exactly n bytes."""
    magic, nonce, header_size, body_size = _REQUEST.unpack(receive(_REQUEST.size))
    if magic != _MAGIC:
        raise WireError("not a request")
    data = bytearray(receive(header_size + body_size))
    ops, layouts = json.loads(data[:header_size])
    tensors: list[Tensor] = []
    offset = header_size
    for index, shape, stride, sent in layouts:
        dtype = _DTYPES[index]
        if sent is None:
            tensors.append(torch.empty(shape, dtype=dtype, device="meta"))
            continue
        # Memory of its own, aligned and resizable as that of any tensor.
        tensor = torch.empty_strided(sent, stride, dtype=dtype)
        if count := tensor.numel():
            flat = torch.frombuffer(data, dtype=dtype, count=count, offset=offset)
            tensor.copy_(flat.view(sent))
            offset += flat.nbytes + -flat.nbytes % _ALIGN
        tensors.append(tensor if sent == shape else tensor.expand(shape))
    return nonce, Request(ops, tensors)


def encode_reply(reply: Reply, nonce: int) -> bytes:
    """Write a reply. Runs beside student code, so it promises nothing."""
    tensors = list(_named(reply))[:MAX_TENSORS]
    text = file = b""
    kind = phase = _ABSENT
    line = 0
    if reply.error is not None:
        kind = ERROR_KINDS.index(reply.error.kind)
        phase = PHASES.index(reply.error.phase)
        text = reply.error.text.encode(errors="replace")[:MAX_TEXT]
        file = reply.error.file.encode(errors="replace")[:MAX_NAME]
        line = reply.error.line
    uses = reply.forbidden[:MAX_USES]
    parts = [
        _REPLY.pack(
            _MAGIC,
            nonce,
            FORMS.index(reply.form),
            GRADIENTS.index(reply.gradient),
            kind,
            phase,
            len(text),
            len(file),
            line,
            len(uses),
            len(tensors),
        ),
        text,
        file,
    ]
    for use in uses:
        place = use.file.encode(errors="replace")[:MAX_NAME]
        parts += [_USE.pack(FORBIDDEN.index(use.operation), len(place), use.line), place]
    data = []
    for name, tensor in tensors:
        encoded = name.encode(errors="replace")[:MAX_NAME]
        if tensor is None:
            parts += [_TENSOR.pack(len(encoded), _ABSENT, 0, 0), encoded]
            continue
        plain = tensor.detach()
        device = plain.device.type if plain.device.type in _DEVICES else "other"
        head = (_DTYPES.index(plain.dtype), _DEVICES.index(device), plain.dim())
        parts += [_TENSOR.pack(len(encoded), *head), encoded]
        parts.append(struct.pack(f"<{plain.dim()}Q", *plain.shape))
        if device != "meta":
            if plain.numel() * plain.element_size() > MAX_BYTES:
                raise ValueError("a tensor is too large to send")
            data.append(tensor_bytes(plain.cpu().resolve_conj().resolve_neg()))
    return b"".join(parts + data)


def decode_reply(receive: Receive) -> tuple[int, Reply]:
    """Read a reply; `receive(n)` returns exactly n bytes or raises its own error.

    Raises:
        WireError: the bytes are no reply, or ask for more than the caps allow.
    """
    fields = _REPLY.unpack(receive(_REPLY.size))
    magic, nonce, form, gradient, kind, phase, text_size, file_size, line, uses, count = fields
    if magic != _MAGIC:
        raise WireError("a reply must begin with the magic number")
    if text_size > MAX_TEXT or file_size > MAX_NAME or count > MAX_TENSORS or uses > MAX_USES:
        raise WireError("a reply is larger than its caps")
    reply = Reply(form=_pick(FORMS, form), gradient=_pick(GRADIENTS, gradient))
    sizes = text_size, file_size
    text, file = (receive(size).decode(errors="replace") for size in sizes)
    if kind != _ABSENT:
        reply.error = StudentError(_pick(ERROR_KINDS, kind), _pick(PHASES, phase), text, file, line)
    for _ in range(uses):
        operation, name_size, use_line = _USE.unpack(receive(_USE.size))
        if name_size > MAX_NAME:
            raise WireError("a file name is too long")
        name = receive(name_size).decode(errors="replace")
        reply.forbidden.append(ForbiddenUse(_pick(FORBIDDEN, operation), name, use_line))
    heads = [_decode_head(receive) for _ in range(count)]
    if sum(size for _, _, _, _, size in heads) > MAX_BYTES:
        raise WireError("the tensors are too large")
    for name, dtype, device, shape, size in heads:
        tensor = None if dtype is None else _decode_tensor(receive(size), dtype, device, shape)
        _file_under(reply, name, tensor)
    if len(reply.outputs) != {"tensor": 1, "pair": 2}.get(reply.form, 0):
        raise WireError("the outputs do not fit what was said to be returned")
    return nonce, reply


_Head = tuple[str, torch.dtype | None, str, tuple[int, ...], int]


def _decode_head(receive: Receive) -> _Head:
    name_size, dtype_index, device_index, dims = _TENSOR.unpack(receive(_TENSOR.size))
    if name_size > MAX_NAME or dims > MAX_DIMS:
        raise WireError("a tensor's name or its number of dimensions is too large")
    name = receive(name_size).decode(errors="replace")
    if dtype_index == _ABSENT:
        return name, None, "cpu", (), 0
    dtype, device = _pick(_DTYPES, dtype_index), _pick(_DEVICES, device_index)
    shape = struct.unpack(f"<{dims}Q", receive(8 * dims))
    if any(size > MAX_BYTES for size in shape):
        raise WireError("a dimension is too large")
    # Of a tensor without elements too, or its strides would overflow.
    if math.prod(max(1, dim) for dim in shape) > _MAX_SPAN:
        raise WireError("the dimensions are too large together")
    size = 0 if device == "meta" else math.prod(shape) * dtype.itemsize
    # Checked one by one too: the sum of the rest must not be needed to refuse one.
    if size > MAX_BYTES:
        raise WireError("a tensor is too large")
    return name, dtype, device, shape, size


def _decode_tensor(data: bytes, dtype: torch.dtype, device: str, shape: tuple[int, ...]) -> Tensor:
    if device == "meta":
        try:
            return torch.empty(shape, dtype=dtype, device="meta")
        except RuntimeError as error:
            raise WireError("a tensor's shape is too large") from error
    if not data:
        return torch.empty(shape, dtype=dtype)
    if dtype is torch.bool:
        # Any byte but 0 is true; a torch bool holding another byte would be undefined.
        return torch.frombuffer(bytearray(data), dtype=torch.uint8).ne(0).reshape(shape)
    return torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape)


def tensor_bytes(tensor: Tensor) -> bytes:
    """Return a CPU tensor's values in row-major order, as they lie in memory."""
    contiguous = tensor.contiguous()
    # A tenth of the cost of going through numpy, which has no bfloat16 either.
    return ctypes.string_at(contiguous.data_ptr(), contiguous.nbytes)


def _named(reply: Reply) -> list[tuple[str, Tensor | None]]:
    named: list[tuple[str, Tensor | None]] = []
    named += [("output.", t) for t in reply.outputs]
    named += [("input.", t) for t in reply.input_gradients]
    named += [("after.", t) for t in reply.inputs_after]
    named += [("gradient." + key, t) for key, t in reply.parameter_gradients.items()]
    named += [("state." + key, t) for key, t in reply.state.items()]
    named += [("parameter." + key, t) for key, t in reply.parameters.items()]
    if reply.given is not None:
        named.append(("given.", reply.given))
    if reply.given_gradient is not None:
        named.append(("given_gradient.", reply.given_gradient))
    return named


def _file_under(reply: Reply, name: str, tensor: Tensor | None) -> None:
    role, _, key = name.partition(".")
    if role == "input":
        reply.input_gradients.append(tensor)
    elif role == "gradient":
        reply.parameter_gradients[key] = tensor
    elif role == "given_gradient":
        reply.given_gradient = tensor
    elif tensor is None:
        raise WireError("a tensor is missing")
    elif role == "output":
        reply.outputs.append(tensor)
    elif role == "after":
        reply.inputs_after.append(tensor)
    elif role == "state":
        reply.state[key] = tensor
    elif role == "parameter":
        reply.parameters[key] = tensor
    elif role == "given":
        reply.given = tensor
    else:
        raise WireError("a tensor has no known role")


def _pick(choices: tuple[_T, ...], index: int) -> _T:
    if index >= len(choices):
        raise WireError("a number stands for nothing")
    return choices[index]


def _collapse(tensor: Tensor) -> Tensor:
    """Drop the repetition of expanded dimensions, which the receiver restores."""
    return tensor[tuple(slice(0, 1) if s == 0 else slice(None) for s in tensor.stride())]
