"""The format of requests to a child and of its replies. No pickle in either direction.

A frame is a fixed binary header with two sizes, the plain form of a request or a reply as JSON, and
the raw bytes of its tensors. A request is trusted. A reply is not: its sizes are capped before they
are read, the number of its parts before it is parsed, and every dtype, shape and word is checked
before memory is given.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

# By name: a student's code may put others in their place.
from ctypes import string_at
from json import dumps, loads
from os import _exit as leave
from os import read, write
from typing import Any

from autograder.api.lazy import Tensor, name_of, torch
from autograder.api.messages import (
    Request,
    read_request,
    write_request,
)
from autograder.api.values import DTYPES, Reader, Writer, tensor_bytes

ALIGN = 16

MAGIC = b"gf02"
FRAME = struct.Struct("<4sQII")

Receive = Callable[[int], bytes]


class Pipe:
    """A descriptor in plain reads and writes, which every filter lets through."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def receive(self, size: int) -> bytes:
        """Return exactly so many bytes; where no more come, the process is over."""
        parts = []
        while size:
            part = read(self._descriptor, min(size, 1 << 20))
            if not part:
                leave(0)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def send(self, data: bytes) -> None:
        """Write all of it."""
        rest = memoryview(data)
        while rest:
            rest = rest[write(self._descriptor, rest) :]


class WireError(Exception):
    """The other side sent something that is not a reply."""


def encode_request(request: Request, nonce: int) -> bytes:
    """Write a request; tensors travel contiguous, with the strides to give them back."""
    body: list[bytes] = []
    # With the tensors themselves: the identity of one that is gone may be another's.
    known: dict[int, tuple[int, Tensor]] = {}

    def write_tensor(tensor: Tensor) -> list[Any]:
        # One tensor that stands in two places stays one on the other side.
        if id(tensor) in known:
            return [known[id(tensor)][0]]
        known[id(tensor)] = len(known), tensor
        shape = [*tensor.shape]
        layout = [name_of(tensor.dtype), shape, [*tensor.stride()]]
        if tensor.is_meta:
            return [*layout, None]
        if tensor.is_contiguous():
            body.append(padded(string_at(tensor.data_ptr(), tensor.nbytes), b"\0"))
            return [*layout, shape]
        blob = _collapse(tensor)
        body.append(padded(tensor_bytes(blob), b"\0"))
        return [*layout, [*blob.shape]]

    def write_data(data: bytes) -> int:
        body.append(padded(data, b"\0"))
        return len(data)

    header = padded(dumps(write_request(request, Writer(write_tensor, write_data))).encode(), b" ")
    data = b"".join(body)
    return FRAME.pack(MAGIC, nonce, len(header), len(data)) + header + data


def padded(data: bytes, filler: bytes) -> bytes:
    """Fill up, so that what follows can be read as numbers where it lies."""
    more = -len(data) % ALIGN
    return data + filler * more if more else data


def with_nonce(frame: bytes, nonce: int) -> bytes:
    """Return a request's frame with another nonce."""
    return frame[:4] + struct.pack("<Q", nonce) + frame[12:]


def decode_request(receive: Receive) -> tuple[int, Request]:
    """Read a request; `receive(n)` returns exactly n bytes."""
    magic, nonce, header_size, body_size = FRAME.unpack(receive(FRAME.size))
    if magic != MAGIC:
        raise WireError("not a request")
    data = bytearray(receive(header_size + body_size))
    tensors: list[Tensor] = []
    offset = header_size

    def read_tensor(parts: list[Any]) -> Tensor:
        nonlocal offset
        if len(parts) == 1:
            known: Tensor = tensors[parts[0]]
            return known
        name, shape, stride, sent = parts
        dtype = DTYPES[name]
        if sent is None:
            tensors.append(torch.empty(shape, dtype=dtype, device="meta"))
            return tensors[-1]
        # Memory of its own, aligned and resizable as that of any tensor.
        tensor = torch.empty_strided(sent, stride, dtype=dtype)
        if count := tensor.numel():
            flat = torch.frombuffer(data, dtype=dtype, count=count, offset=offset)
            tensor.copy_(flat.view(sent))
            offset += flat.nbytes + -flat.nbytes % ALIGN
        tensors.append(tensor if sent == shape else tensor.expand(shape))
        return tensors[-1]

    def read_data(size: int) -> bytes:
        nonlocal offset
        start, offset = offset, offset + size + -size % ALIGN
        return bytes(data[start : start + size])

    return nonce, read_request(loads(data[:header_size]), Reader(read_tensor, read_data))


def _collapse(tensor: Tensor) -> Tensor:
    """Drop the repetition of expanded dimensions, which the receiver restores."""
    return tensor[tuple(slice(0, 1) if s == 0 else slice(None) for s in tensor.stride())]
