"""The format of requests to a child and of its replies. No pickle in either direction.

A frame is a fixed binary header with two sizes, the plain form of a request or a reply as JSON, and
the raw bytes of its tensors. A request is trusted. A reply is not: its sizes are capped before they
are read, the number of its parts before it is parsed, and every dtype, shape and word is checked
before memory is given.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Collection, Mapping

# By name: a student's code may put others in their place.
from ctypes import string_at
from json import JSONEncoder, dumps, loads
from os import _exit as leave
from os import read, write
from typing import Any

from autograder.api.lazy import Tensor, name_of, torch
from autograder.api.messages import (
    ERROR_KINDS,
    GRADIENTS,
    MAX_TEXT,
    PHASES,
    Reply,
    Request,
    StudentError,
    read_parts,
    read_request,
    write_parts,
    write_request,
)
from autograder.api.values import (
    DTYPES,
    MAX_ITEMS,
    Malformed,
    Reader,
    Unsendable,
    Writer,
    tensor_bytes,
)
from autograder.rules.forbidden import ForbiddenUse

MAGIC = b"gf02"
# The magic number, the nonce of a request and of its reply, the sizes of plain form and tensors.
FRAME = struct.Struct("<4sQII")

MAX_DIMS = 8
MAX_NAME = 200
MAX_NAMES = 1000
MAX_USES = 8
MAX_BYTES = 32 * 1024 * 1024
# The plain form of a reply, and how many items it may have: each costs memory when it is parsed.
MAX_HEADER = 4 * 1024 * 1024
MAX_MARKS = 10 * MAX_ITEMS
_MAX_SPAN = 2**40
# The escape of half a character, which no text of UTF-8 holds. Before it is an even number of
# backslashes: two of them are the text of one, whatever follows.
_SURROGATE = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")
_DEVICES = ("cpu", "meta", "cuda", "other")

Receive = Callable[[int], bytes]
_to_json = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class WireError(Exception):
    """The other side sent something that is not a reply."""


class Pipe:
    """A descriptor in plain reads and writes, which every filter lets through."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def receive(self, size: int) -> bytes:
        """Return exactly `size` bytes; end this process if the other side has closed."""
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


# Requests.


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
        shape, stride = [*tensor.shape], [*tensor.stride()]
        layout = [name_of(tensor.dtype), shape, stride]
        if tensor.is_meta:
            return [*layout, None]
        if tensor.is_contiguous():
            body.append(string_at(tensor.data_ptr(), tensor.nbytes))
            return [*layout, shape]
        # The repetition of expanded dimensions is dropped, which the receiver restores.
        sent = tensor[tuple(slice(0, 1) if step == 0 else slice(None) for step in stride)]
        body.append(tensor_bytes(sent))
        return [*layout, [*sent.shape]]

    def write_data(data: bytes) -> int:
        body.append(data)
        return len(data)

    header = dumps(write_request(request, Writer(write_tensor, write_data))).encode()
    return _frame(nonce, header, body)


def _frame(nonce: int, header: bytes, body: list[bytes]) -> bytes:
    data = b"".join(body)
    return FRAME.pack(MAGIC, nonce, len(header), len(data)) + header + data


def with_nonce(frame: bytes, nonce: int) -> bytes:
    """Return a request's frame with another nonce."""
    return frame[:4] + struct.pack("<Q", nonce) + frame[12:]


def decode_request(receive: Receive) -> tuple[int, Request]:
    """Read a request; `receive(n)` returns exactly n bytes."""
    magic, nonce, header_size, body_size = FRAME.unpack(receive(FRAME.size))
    if magic != MAGIC:
        raise WireError("not a request")
    data = receive(header_size + body_size)
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
        if size := tensor.numel() * dtype.itemsize:
            flat = torch.frombuffer(bytearray(data[offset : offset + size]), dtype=dtype)
            tensor.copy_(flat.view(sent))
            offset += size
        tensors.append(tensor if sent == shape else tensor.expand(shape))
        return tensors[-1]

    def read_data(size: int) -> bytes:
        nonlocal offset
        offset += size
        return data[offset - size : offset]

    return nonce, read_request(loads(data[:header_size]), Reader(read_tensor, read_data, False))


# Replies.


def encode_reply(reply: Reply, nonce: int) -> bytes:
    """Write a reply. Runs beside student code, so it promises nothing.

    Raises:
        Unsendable: it exceeds a cap.
    """
    body: list[bytes] = []
    size = 0

    def write_data(data: bytes) -> int:
        make_room(len(data))
        body.append(data)
        return len(data)

    def make_room(more: int) -> None:
        nonlocal size
        size += more
        if size > MAX_BYTES:
            raise Unsendable("a tensor is too large to send")

    def write_tensor(tensor: Tensor) -> list[Any]:
        device = tensor.device.type if tensor.device.type in _DEVICES else "other"
        if name_of(tensor.dtype) not in DTYPES or tensor.layout is not torch.strided:
            raise Unsendable("a tensor is of a kind that has no plain values")
        if device != "meta":
            make_room(tensor.nbytes)
            if tensor.is_conj() or tensor.is_neg() or device != "cpu":
                tensor = tensor.cpu().resolve_conj().resolve_neg()
            body.append(tensor_bytes(tensor))
        return [name_of(tensor.dtype), device, list(tensor.shape)]

    writer = Writer(write_tensor, write_data)
    plain: dict[str, Any] = {"parts": write_parts(reply, writer)}
    if reply.beside:
        plain["beside"] = writer.write(reply.beside)
    if reply.gradient != GRADIENTS[0]:
        plain["gradient"] = reply.gradient
    if reply.operations is not None:
        plain["operations"] = reply.operations
    if reply.error is not None:
        plain["error"] = _plain_error(reply.error)
    if reply.forbidden:
        plain["forbidden"] = [
            [use.operation, use.file[:MAX_NAME], use.line] for use in reply.forbidden[:MAX_USES]
        ]
    header = _to_json(plain).encode(errors="replace")
    if len(header) > MAX_HEADER or _marks(header) > MAX_MARKS:
        raise Unsendable("it has too many parts to send")
    return _frame(nonce, header, body)


def _plain_error(error: StudentError) -> dict[str, Any]:
    plain: dict[str, Any] = {"kind": error.kind, "phase": error.phase}
    plain["text"] = error.text[:MAX_TEXT]
    # An exception may claim to be anywhere.
    known = isinstance(error.line, int) and 0 <= error.line < 2**32
    plain |= {"file": error.file[:MAX_NAME], "line": error.line if known else 0}
    if error.bases:
        plain["bases"] = error.bases[:MAX_NAMES]
    if error.classes:
        plain["classes"] = [name[:MAX_NAME] for name in error.classes[:MAX_NAMES]]
    if error.key:
        plain |= {"key": error.key[:MAX_NAME], "shape": error.shape, "wanted": error.wanted}
        plain["found"] = [name[:MAX_NAME] for name in error.found[:MAX_NAMES]]
    return plain


def receive_reply(receive: Receive) -> tuple[int, bytes, bytes]:
    """Receive a reply unread: its nonce, its plain form and the bytes of its tensors.

    `receive(n)` returns exactly n bytes or raises its own error.

    Raises:
        WireError: the bytes are no reply, or are more than the caps allow.
    """
    magic, nonce, header_size, body_size = FRAME.unpack(receive(FRAME.size))
    if magic != MAGIC:
        raise WireError("a reply must begin with the magic number")
    if header_size > MAX_HEADER or body_size > MAX_BYTES:
        raise WireError("a reply is larger than its caps")
    return nonce, receive(header_size), receive(body_size)


def read_reply(header: bytes, data: bytes) -> Reply:
    """Read the plain form of a reply and the bytes of its tensors.

    Raises:
        WireError: they are no reply, or ask for more than the caps allow.
    """
    if _marks(header) > MAX_MARKS:
        raise WireError("a reply has too many parts")
    if b"\\u" in header and _SURROGATE.search(header):
        raise WireError("a text is no text")
    body = _Body(data)
    try:
        plain = loads(header.decode())
        found: dict[str, Any] = {name: _FIELDS[name](value) for name, value in plain.items()}
        reader = Reader(body.tensor, body.data)
        found |= read_parts(found.pop("parts", {}), reader)
        if "beside" in found:
            found["beside"] = _mapping(reader.read(found["beside"]))
    except WireError:
        raise
    except Exception as error:
        # Whatever a hostile form makes of a reader.
        said = str(error) if isinstance(error, Malformed) else type(error).__name__
        raise WireError(f"a reply cannot be read: {said}") from error
    if body.read != len(data):
        raise WireError("there are more bytes than tensors")
    return Reply(**found)


class _Body:
    """The bytes of a reply's tensors, read in order.

    Attributes:
        read: how many have been.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.read = 0

    def tensor(self, parts: list[Any]) -> Tensor:
        if len(parts) != 3:
            raise WireError("a tensor has another layout")
        name, device, shape = parts
        dtype = DTYPES[_dtype(name)]
        if type(shape) is not list or len(shape) > MAX_DIMS:
            raise WireError("a tensor's number of dimensions is too large")
        count = span = 1
        for size in shape:
            if type(size) is not int or not 0 <= size <= MAX_BYTES:
                raise WireError("a dimension is too large, or none")
            count *= size
            span *= size or 1
        # Of a tensor without elements too, or its strides would overflow.
        if span > _MAX_SPAN:
            raise WireError("the dimensions are too large together")
        if device not in _DEVICES:
            raise WireError("a tensor is on no known device")
        if device == "meta":
            try:
                return torch.empty(shape, dtype=dtype, device="meta")
            except RuntimeError as error:
                raise WireError("a tensor's shape is too large") from error
        if count == 0:
            return torch.empty(shape, dtype=dtype)
        own = bytearray(self._next(count * dtype.itemsize))
        if dtype is torch.bool:
            # Any byte but 0 is true; a torch bool holding another byte would be undefined.
            return torch.frombuffer(own, dtype=torch.uint8).ne(0).view(shape)
        return torch.frombuffer(own, dtype=dtype).view(shape)

    def data(self, size: Any) -> bytes:
        return self._next(_number(MAX_BYTES + 1)(size))

    def _next(self, size: int) -> bytes:
        start = self.read
        self.read += size
        if self.read > len(self._data):
            raise WireError("there are fewer bytes than tensors")
        return self._data[start : self.read]


def _marks(header: bytes) -> int:
    """Count brackets and commas of a JSON text: an upper bound of its number of items."""
    return sum(map(header.count, (b"[", b"{", b",")))


# Readers of fields, which raise WireError for what a field may not hold.


def _field(fits: Callable[[Any], bool]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not fits(value):
            raise WireError("a field holds what it may not, or too much")
        return value

    return read


def _word(known: Collection[str]) -> Callable[[Any], str]:
    return _field(lambda word: isinstance(word, str) and word in known)


def _text(most: int = MAX_NAME) -> Callable[[Any], str]:
    return _field(lambda text: isinstance(text, str) and len(text) <= most)


def _number(below: int = 2**32) -> Callable[[Any], int]:
    return _field(lambda number: type(number) is int and 0 <= number < below)


def _items(item: Callable[[Any], Any], most: int) -> Callable[[Any], tuple[Any, ...]]:
    fits = _field(lambda items: isinstance(items, list) and len(items) <= most)
    return lambda items: tuple(map(item, fits(items)))


_dtype = _word(DTYPES)
_mapping = _field(lambda value: isinstance(value, dict) and all(isinstance(k, str) for k in value))
_ERROR: Mapping[str, Callable[[Any], Any]] = {
    "kind": _word(ERROR_KINDS),
    "phase": _word(PHASES),
    "text": _text(MAX_TEXT),
    "file": _text(),
    "line": _number(),
    "bases": _items(_word(ERROR_KINDS), MAX_NAMES),
    "classes": _items(_text(), MAX_NAMES),
    "key": _text(),
    "found": _items(_text(), MAX_NAMES),
    "shape": _items(_number(2**63), MAX_DIMS),
    "wanted": _items(_number(2**63), MAX_DIMS),
}


def _error(plain: Any) -> StudentError:
    return StudentError(**{name: _ERROR[name](value) for name, value in plain.items()})


def _use(plain: Any) -> ForbiddenUse:
    operation, file, line = _items(lambda part: part, 3)(plain)
    return ForbiddenUse(_text()(operation), _text()(file), _number()(line))


_FIELDS: Mapping[str, Callable[[Any], Any]] = {
    "parts": lambda plain: plain,  # read with the tensors
    "beside": lambda plain: plain,
    "gradient": _word(GRADIENTS),
    "error": _error,
    "forbidden": lambda plain: [*_items(_use, MAX_USES)(plain)],
    "operations": _number(2**63),
}
