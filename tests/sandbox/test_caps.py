"""Every cap of a reply by itself: what is at it is read, and the least bit more is refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograder.api.messages import Reply, StudentError
from autograder.api.values import Unsendable
from autograder.rules.forbidden import ForbiddenUse
from autograder.sandbox import wire
from autograder.sandbox.wire import WireError, encode_reply
from tests.sandbox.frames import decode_reply

MEBIBYTE = 2**20


def receiving(data: bytes) -> Callable[[int], bytes]:
    """Return what hands out these bytes and then no more."""
    left = memoryview(data)

    def receive(size: int) -> bytes:
        nonlocal left
        if size > len(left):
            raise EOFError
        part, left = bytes(left[:size]), left[size:]
        return part

    return receive


def framed(header: bytes, body: bytes = b"") -> bytes:
    return wire.FRAME.pack(wire.MAGIC, 1, len(header), len(body)) + header + body


def read(plain: dict[str, Any]) -> Reply:
    return decode_reply(receiving(framed(json.dumps(plain).encode())))[1]


def error(**fields: object) -> dict[str, Any]:
    return {"error": {"kind": "ValueError", "phase": "call", **fields}}


def use(operation: str = "layer_norm", file: str = "a.py", line: int = 1) -> dict[str, Any]:
    return {"forbidden": [[operation, file, line]]}


def shaped(*shape: int) -> dict[str, Any]:
    return {"parts": {"value": ["tensor", "uint8", "meta", shape]}}


# The most that there may be, and what has so much of it.
CAPS: dict[str, tuple[int, Callable[[int], dict[str, Any]]]] = {
    "a text": (2000, lambda n: error(text="x" * n)),
    "a file's name": (200, lambda n: error(file="x" * n)),
    "a key": (200, lambda n: error(key="x" * n)),
    "a key that was found": (200, lambda n: error(found=["x" * n])),
    "keys that were found": (1000, lambda n: error(found=["x"] * n)),
    "classes of an exception": (1000, lambda n: error(bases=["OSError"] * n)),
    "sizes of a parameter": (8, lambda n: error(shape=[1] * n)),
    "sizes that are wanted": (8, lambda n: error(wanted=[1] * n)),
    "a size of a parameter": (2**63 - 1, lambda n: error(shape=[n])),
    "a size that is wanted": (2**63 - 1, lambda n: error(wanted=[n])),
    "a line": (2**32 - 1, lambda n: error(line=n)),
    "forbidden uses": (8, lambda n: {"forbidden": [["layer_norm", "a.py", 1]] * n}),
    "a forbidden name": (200, lambda n: use(operation="x" * n)),
    "the file of a use": (200, lambda n: use(file="x" * n)),
    "the line of a use": (2**32 - 1, lambda n: use(line=n)),
    "operations that were counted": (2**63 - 1, lambda n: {"operations": n}),
    "dimensions": (8, lambda n: shaped(*[1] * n)),
    "a dimension": (32 * MEBIBYTE, lambda n: shaped(n)),
    "dimensions together": (MEBIBYTE, lambda n: shaped(MEBIBYTE, n)),
    "dimensions of nothing": (MEBIBYTE, lambda n: shaped(0, MEBIBYTE, n)),
    # Two objects and the list count, too.
    "parts": (200_000 - 3, lambda n: {"parts": {"value": ["list", *[0] * n]}}),
}


@pytest.mark.parametrize("name", CAPS)
def test_what_is_at_a_cap_is_read_and_one_more_is_not(name: str) -> None:
    most, made = CAPS[name]
    read(made(most))
    with pytest.raises(WireError):
        read(made(most + 1))


@pytest.mark.parametrize(
    ("most", "sizes"),
    [
        pytest.param(4 * MEBIBYTE, lambda n: (n, 0), id="plain form"),
        pytest.param(32 * MEBIBYTE, lambda n: (16, n), id="tensors"),
    ],
)
def test_no_byte_over_the_cap_is_waited_for(
    most: int, sizes: Callable[[int], tuple[int, int]]
) -> None:
    asked: list[int] = []

    def receive(size: int, announced: tuple[int, int]) -> bytes:
        asked.append(size)
        if len(asked) == 1:
            return wire.FRAME.pack(wire.MAGIC, 1, *announced)
        raise EOFError

    with pytest.raises(EOFError):
        decode_reply(lambda size: receive(size, sizes(most)))
    assert len(asked) == 2
    asked.clear()
    with pytest.raises(WireError, match="larger than its caps"):
        decode_reply(lambda size: receive(size, sizes(most + 1)))
    assert asked == [wire.FRAME.size]


def test_tensors_have_as_many_bytes_as_there_are() -> None:
    plain = {"parts": {"value": ["tensor", "uint8", "cpu", [17]]}}
    header = json.dumps(plain).encode()
    assert decode_reply(receiving(framed(header, bytes(17))))[1].value.shape == (17,)
    for size in (0, 16, 18, 32):
        with pytest.raises(WireError, match="bytes than tensors"):
            decode_reply(receiving(framed(header, bytes(size))))


# What is written keeps to the caps, or says so: beside student code it would else be no reply.


def sent(reply: Reply) -> Reply:
    return decode_reply(receiving(encode_reply(reply, 1)))[1]


def zeros(count: int) -> torch.Tensor:
    return torch.zeros(1, dtype=torch.uint8).expand(count)


def test_so_much_can_be_sent_and_no_more() -> None:
    assert sent(Reply(value=zeros(32 * MEBIBYTE))).value.shape == (32 * MEBIBYTE,)
    with pytest.raises(Unsendable, match="too large"):
        encode_reply(Reply(value=zeros(32 * MEBIBYTE + 1)), 1)
    with pytest.raises(Unsendable, match="too large"):
        encode_reply(Reply(inputs_after=[zeros(32 * MEBIBYTE), zeros(1)]), 1)
    # Around the text there are so many bytes.
    around = len(b'{"parts":{"value":""}}')
    assert len(sent(Reply(value="x" * (4 * MEBIBYTE - around))).value) == 4 * MEBIBYTE - around
    with pytest.raises(Unsendable, match="too many parts"):
        encode_reply(Reply(value="x" * (4 * MEBIBYTE - around + 1)), 1)
    assert len(sent(Reply(value=[0] * (200_000 - 3))).value) == 200_000 - 3
    with pytest.raises(Unsendable, match="too many parts"):
        encode_reply(Reply(value=[0] * (200_000 - 2)), 1)


def test_what_an_error_and_a_use_say_is_cut_at_the_caps() -> None:
    long = "x" * 3000
    said = StudentError(
        "ValueError", "call", long, long, 7, long, (long,) * 1001, bases=("OSError",) * 1001
    )
    found = sent(Reply(error=said, forbidden=[ForbiddenUse("layer_norm", long, 1)] * 9))
    assert found.error is not None
    assert (len(found.error.text), len(found.error.file), len(found.error.key)) == (2000, 200, 200)
    assert {len(name) for name in found.error.found} == {200}
    assert (len(found.error.found), len(found.error.bases)) == (1000, 1000)
    assert found.forbidden == [ForbiddenUse("layer_norm", "x" * 200, 1)] * 8


@pytest.mark.parametrize(("line", "said"), [(2**32 - 1, 2**32 - 1), (2**32, 0), (-1, 0)])
def test_a_line_that_cannot_be_is_none(line: int, said: int) -> None:
    found = sent(Reply(error=StudentError("ValueError", "call", line=line))).error
    assert found is not None
    assert found.line == said
