"""A reply on its way from a child to the judge, who believes nothing of it."""

from __future__ import annotations

import re
from collections.abc import Collection
from json import JSONEncoder, loads
from typing import Any

from autograder.api.lazy import Tensor, name_of, torch
from autograder.api.messages import (
    ERROR_KINDS,
    GRADIENTS,
    MAX_TEXT,
    PHASES,
    ForbiddenUse,
    Reply,
    StudentError,
    read_parts,
    write_parts,
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
from autograder.sandbox.wire import ALIGN, FRAME, MAGIC, Receive, WireError, padded

_write = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

MAX_DIMS = 8
MAX_NAME = 200
MAX_NAMES = 1000
MAX_USES = 8
MAX_BYTES = 32 * 1024 * 1024
# The plain form of a reply, and how many items it may have: each costs memory when it is parsed.
MAX_HEADER = 4 * 1024 * 1024
MAX_MARKS = 10 * MAX_ITEMS
MAX_BODY = MAX_BYTES + ALIGN * MAX_ITEMS
_MAX_SPAN = 2**40
# Half a character, which no text of UTF-8 holds.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_DEVICES = ("cpu", "meta", "cuda", "other")
_FIELDS = {"parts", "gradient", "error", "forbidden", "operations"}


def encode_reply(reply: Reply, nonce: int) -> bytes:
    """Write a reply. Runs beside student code, so it promises nothing.

    Raises:
        Unsendable: it exceeds a cap.
    """
    body: list[bytes] = []
    size = 0

    def make_room(more: int) -> None:
        nonlocal size
        size += more
        if size > MAX_BYTES:
            raise Unsendable("a tensor is too large to send")

    def write(tensor: Tensor) -> list[Any]:
        device = tensor.device.type if tensor.device.type in _DEVICES else "other"
        if name_of(tensor.dtype) not in DTYPES or tensor.layout is not torch.strided:
            raise Unsendable("a tensor is of a kind that has no plain values")
        if device != "meta":
            make_room(tensor.nbytes)
            if tensor.is_conj() or tensor.is_neg() or device != "cpu":
                tensor = tensor.cpu().resolve_conj().resolve_neg()
            body.append(padded(tensor_bytes(tensor), b"\0"))
        return [name_of(tensor.dtype), device, list(tensor.shape)]

    def write_data(data: bytes) -> int:
        make_room(len(data))
        body.append(padded(data, b"\0"))
        return len(data)

    plain: dict[str, Any] = {"parts": write_parts(reply, Writer(write, write_data))}
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
    text = _write(plain)
    header = padded(text.encode(errors="replace"), b" ")
    if len(header) > MAX_HEADER or _marks(header) > MAX_MARKS:
        raise Unsendable("it has too many parts to send")
    data = b"".join(body)
    return FRAME.pack(MAGIC, nonce, len(header), len(data)) + header + data


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


def decode_reply(receive: Receive) -> tuple[int, Reply]:
    """Receive and read a reply; return it with its nonce.

    Raises:
        WireError: the bytes are no reply, or ask for more than the caps allow.
    """
    nonce, header, data = receive_reply(receive)
    return nonce, read_reply(header, data)


def receive_reply(receive: Receive) -> tuple[int, bytes, bytes]:
    """Receive a reply unread: its nonce, its plain form and the bytes of its tensors.

    `receive(n)` returns exactly n bytes or raises its own error.

    Raises:
        WireError: the bytes are no reply, or are more than the caps allow.
    """
    magic, nonce, header_size, body_size = FRAME.unpack(receive(FRAME.size))
    if magic != MAGIC:
        raise WireError("a reply must begin with the magic number")
    if header_size > MAX_HEADER or body_size > MAX_BODY:
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
    try:
        plain = loads(header.decode())
    except (ValueError, RecursionError) as error:
        raise WireError("a reply is no JSON") from error
    if not isinstance(plain, dict) or not plain.keys() <= _FIELDS:
        raise WireError("a reply has no parts, or unknown ones")
    body = _Body(bytearray(data))
    try:
        parts = read_parts(plain.get("parts", {}), Reader(body.tensor, body.data))
    except WireError:
        raise
    except Exception as error:
        # Whatever a hostile form makes of the reader.
        said = str(error) if isinstance(error, Malformed) else type(error).__name__
        raise WireError(f"a reply cannot be read: {said}") from error
    if body.read != len(data):
        raise WireError("there are more bytes than tensors")
    return Reply(
        gradient=_word(plain.get("gradient", GRADIENTS[0]), GRADIENTS),
        error=_read_error(plain["error"]) if "error" in plain else None,
        forbidden=_read_uses(plain.get("forbidden", [])),
        operations=_number(plain["operations"], 2**63) if "operations" in plain else None,
        **parts,
    )


class _Body:
    """The bytes of a reply's tensors, read in order.

    Attributes:
        read: how many have been.
    """

    def __init__(self, data: bytearray) -> None:
        self._data = data
        self.read = 0

    def tensor(self, parts: list[Any]) -> Tensor:
        if len(parts) != 3:
            raise WireError("a tensor has another layout")
        name, device, shape = parts
        dtype = DTYPES[_word(name, DTYPES)]
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
        if _word(device, _DEVICES) == "meta":
            try:
                return torch.empty(shape, dtype=dtype, device="meta")
            except RuntimeError as error:
                raise WireError("a tensor's shape is too large") from error
        if count == 0:
            return torch.empty(shape, dtype=dtype)
        size = count * dtype.itemsize
        start = self._next(size)
        if dtype is torch.bool:
            # Any byte but 0 is true; a torch bool holding another byte would be undefined.
            bytes_ = torch.frombuffer(self._data, dtype=torch.uint8, count=size, offset=start)
            return bytes_.ne(0).view(shape)
        return torch.frombuffer(self._data, dtype=dtype, count=count, offset=start).view(shape)

    def data(self, size: Any) -> bytes:
        start = self._next(_number(size, MAX_BYTES + 1))
        return bytes(self._data[start : start + size])

    def _next(self, size: int) -> int:
        """Return where the next so many bytes begin."""
        start = self.read
        self.read += size + -size % ALIGN
        if self.read > len(self._data):
            raise WireError("there are fewer bytes than tensors")
        return start


def _marks(header: bytes) -> int:
    """Count what begins or parts the items of a JSON text, an upper bound of their number."""
    return sum(map(header.count, (b"[", b"{", b",")))


def _word(word: object, known: Collection[str]) -> str:
    if not isinstance(word, str) or word not in known:
        raise WireError("a word is none of those that can be sent")
    return word


def _text(text: object, limit: int = MAX_NAME) -> str:
    if not isinstance(text, str) or len(text) > limit:
        raise WireError("a text is too long, or none")
    return text


def _number(number: object, below: int = 2**32) -> int:
    if type(number) is not int or not 0 <= number < below:
        raise WireError("a number is too large, or none")
    return number


def _items(items: object, most: int) -> list[Any]:
    if not isinstance(items, list) or len(items) > most:
        raise WireError("a list is too long, or none")
    return items


def _read_error(plain: object) -> StudentError:
    if not isinstance(plain, dict):
        raise WireError("an error has no parts")
    return StudentError(
        _word(plain.get("kind"), ERROR_KINDS),
        _word(plain.get("phase"), PHASES),
        _text(plain.get("text", ""), MAX_TEXT),
        _text(plain.get("file", "")),
        _number(plain.get("line", 0)),
        bases=tuple(_word(base, ERROR_KINDS) for base in _items(plain.get("bases", []), MAX_NAMES)),
        classes=tuple(_text(name) for name in _items(plain.get("classes", []), MAX_NAMES)),
        key=_text(plain.get("key", "")),
        found=tuple(_text(name) for name in _items(plain.get("found", []), MAX_NAMES)),
        shape=tuple(_number(size, 2**63) for size in _items(plain.get("shape", []), MAX_DIMS)),
        wanted=tuple(_number(size, 2**63) for size in _items(plain.get("wanted", []), MAX_DIMS)),
    )


def _read_uses(plain: object) -> list[ForbiddenUse]:
    uses = []
    for use in _items(plain, MAX_USES):
        if len(_items(use, 3)) != 3:
            raise WireError("a use has other parts")
        operation, file, line = use
        uses.append(ForbiddenUse(_text(operation), _text(file), _number(line)))
    return uses
