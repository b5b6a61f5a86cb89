"""The plain form of values, for JSON: written, and read without trusting it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.exchange.values import (
    ABSENT,
    ARRAY_DTYPES,
    DTYPE_NAMES,
    DTYPES,
    MAX_DEPTH,
    MAX_KEYS,
    OPAQUE,
    Absent,
    Embedding,
    Handle,
    Opaque,
    Value,
)


class Malformed(Exception):
    """A plain form stands for no value."""


class Writer:
    """Writes values in plain form.

    Args:
        tensor: writes a tensor; returns what stands behind its tag.
    """

    def __init__(self, tensor: Callable[[Tensor], list[Any]]) -> None:
        self._tensor = tensor

    def write(self, value: Value) -> Any:
        """Return the plain form of a value.

        Raises:
            TypeError: it is none.
        """
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, Tensor):
            return ["tensor", *self._tensor(value)]
        if isinstance(value, torch.Size):
            return ["size", *value]
        if isinstance(value, tuple):
            return ["tuple", *map(self.write, value)]
        if isinstance(value, list):
            return ["list", *map(self.write, value)]
        if isinstance(value, Mapping):
            return ["dict", *[self.write(part) for pair in value.items() for part in pair]]
        if isinstance(value, AbstractSet):
            # In an order that is the same in every process.
            return ["set", *sorted(map(self.write, value), key=repr)]
        if isinstance(value, complex):
            return ["complex", value.real, value.imag]
        if isinstance(value, bytes | bytearray):
            return ["bytes", base64.b64encode(value).decode()]
        if isinstance(value, np.ndarray | np.generic):
            return ["array", *self._array(np.asarray(value))]
        if isinstance(value, torch.dtype):
            return ["dtype", DTYPE_NAMES[value]]
        return self._stand_in(value)

    def _array(self, array: np.ndarray[Any, Any]) -> list[Any]:
        if array.dtype.name not in ARRAY_DTYPES:
            raise TypeError(f"a component cannot be given an array of {array.dtype}")
        shape = list(array.shape)
        # Its bytes travel as a tensor's do.
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        data = np.ascontiguousarray(native).reshape(-1).view(np.uint8)
        return [array.dtype.name, shape, self._tensor(torch.from_numpy(data.copy()))]

    def _stand_in(self, value: Value) -> list[Any]:
        if isinstance(value, Embedding):
            return ["embedding", self.write(value.weight)]
        if isinstance(value, Handle):
            return ["handle", value.number]
        if isinstance(value, Opaque):
            return ["opaque"]
        if isinstance(value, Absent):
            return ["absent"]
        raise TypeError(f"a component cannot be given a {type(value).__name__}")


class Reader:
    """Reads values from their plain form, which may be hostile.

    Args:
        tensor: reads a tensor from what stands behind its tag.
    """

    def __init__(self, tensor: Callable[[list[Any]], Tensor]) -> None:
        self._tensor = tensor

    def read(self, plain: Any, depth: int = 0) -> Value:
        """Return the value of a plain form.

        Raises:
            Malformed: it has none.
        """
        if type(plain) is list and plain and plain[0] == "tensor":
            return self._tensor(plain[1:])
        if not isinstance(plain, list):
            if isinstance(plain, dict):
                raise Malformed("an object stands for no value")
            return plain
        # What comes back is at most so deep in a part that may hold one level more.
        if not plain or depth > MAX_DEPTH + 2:
            raise Malformed("a list has no tag, or is nested too deep")
        tag, *parts = plain
        match tag:
            case "tuple":
                return tuple(self._items(parts, depth))
            case "list":
                return self._items(parts, depth)
            case "dict" | "set":
                return self._keyed(tag, self._items(parts, depth))
        return self._leaf(tag, parts, depth)

    def _items(self, parts: list[Any], depth: int) -> list[Value]:
        read = self.read
        return [read(part, depth + 1) if isinstance(part, list | dict) else part for part in parts]

    def _keyed(self, tag: str, parts: list[Value]) -> Value:
        if len(parts) > 2 * MAX_KEYS:
            raise Malformed("there are too many keys")
        parts[:: 1 if tag == "set" else 2] = [
            frozenset(part) if isinstance(part, set) else part
            for part in parts[:: 1 if tag == "set" else 2]
        ]
        try:
            if tag == "set":
                return set(parts)
            return dict(zip(parts[::2], parts[1::2], strict=True))
        except (TypeError, ValueError) as error:
            raise Malformed("a key cannot be one, or has no value") from error

    def _leaf(self, tag: Any, parts: list[Any], depth: int) -> Value:
        match tag, parts:
            case "complex", [float() | int() as real, float() | int() as imaginary]:
                try:
                    return complex(real, imaginary)
                except OverflowError as error:
                    raise Malformed("a number is too large") from error
            case "bytes", [str(data)]:
                try:
                    return base64.b64decode(data, validate=True)
                except (binascii.Error, ValueError) as error:
                    raise Malformed("bytes are none") from error
            case "array", [str(name), list(shape), list(data)] if name in ARRAY_DTYPES:
                return self._array(ARRAY_DTYPES[name], shape, self._tensor(data))
            case "dtype", [str(name)] if name in DTYPES:
                return DTYPES[name]
            case "size", sizes if all(type(size) is int and size >= 0 for size in sizes):
                return torch.Size(sizes)
            case "embedding", [list(weight)]:
                read = self.read(weight, depth + 1)
                if isinstance(read, Tensor):
                    return Embedding(read)
            case "handle", [int(number)]:
                return Handle(number)
            case "opaque", []:
                return OPAQUE
            case "absent", []:
                return ABSENT
        raise Malformed("a tag stands for nothing")

    def _array(self, dtype: np.dtype[Any], shape: list[Any], data: Tensor) -> Value:
        if data.dtype is not torch.uint8 or data.dim() != 1:
            raise Malformed("an array has no bytes")
        if dtype == np.bool_:
            data = data.ne(0)
        try:
            return data.numpy().view(dtype).reshape(shape)
        except (TypeError, ValueError) as error:
            raise Malformed("an array's shape and bytes do not fit") from error
