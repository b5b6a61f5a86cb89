"""Values that cross between a test and a component, and their plain form, in which each is tagged.

None, booleans, numbers and short texts stand for themselves; everything else is a list that begins
with its tag, so that no list or dictionary of anybody's can pass for a tensor. What holds many
bytes lies beside the plain form, in parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

# A tree of the kinds named below. A recursive alias would cost more words than it checks.
Value = Any

MAX_DEPTH = 32
MAX_ITEMS = 20_000
MAX_TEXT = 100_000
MAX_DIGITS = 1_000

# By the name under which they are sent: those whose values torch can compare, which leaves out
# quantised ones and those of 8 bits and less that are no integers.
DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
    )
    # Older releases of torch lack some.
    if hasattr(torch, name)
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}


class Unsendable(Exception):
    """A value is no value that can be sent, or exceeds a cap; the message says which."""


class Malformed(Exception):
    """A plain form stands for no value."""


@dataclass(frozen=True)
class Embedding:
    """Stands for an `nn.Embedding` with this weight (V, D), made where the component lives."""

    weight: Tensor


@dataclass(frozen=True)
class Opaque:
    """Stands for something that came back and is no value."""


@dataclass(frozen=True)
class Absent:
    """Stands for nothing at all, where None would be an answer."""


OPAQUE = Opaque()
ABSENT = Absent()


def answered(value: object) -> Value:
    """Return what a component returned as a value: tensors detached, unknown objects opaque.

    Raises:
        Unsendable: it exceeds a cap.
    """
    return _Copier().copy(value, 0)


def plain_tensor(tensor: Tensor) -> Tensor:
    """Return a tensor detached, of torch's own class: another one may say anything of itself."""
    if type(tensor) is Tensor:
        return tensor.detach()
    with torch._C.DisableTorchFunctionSubclass():
        return Tensor.detach(tensor)


class _Copier:
    """Copies the containers of a value, within the caps."""

    def __init__(self) -> None:
        self._left = MAX_ITEMS

    def copy(self, value: Any, depth: int) -> Value:
        self._left -= 1
        if self._left < 0:
            raise Unsendable(f"it has more than {MAX_ITEMS} parts")
        if isinstance(value, Tensor):
            return plain_tensor(value)
        if value is None or isinstance(value, bool | float):
            return value
        if isinstance(value, int):
            if value.bit_length() > 3 * MAX_DIGITS:
                raise Unsendable(f"a whole number has more than {MAX_DIGITS} digits")
            return value
        if isinstance(value, str):
            if len(value) > MAX_TEXT:
                raise Unsendable(f"a text has more than {MAX_TEXT} characters")
            return value
        if isinstance(value, list | tuple):
            if depth == MAX_DEPTH:
                raise Unsendable(f"it is nested more than {MAX_DEPTH} deep")
            items = [self.copy(item, depth + 1) for item in value]
            return items if isinstance(value, list) else tuple(items)
        return OPAQUE


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
        if isinstance(value, tuple):
            return ["tuple", *map(self.write, value)]
        if isinstance(value, list):
            return ["list", *map(self.write, value)]
        if isinstance(value, Mapping):
            items = [self.write(part) for pair in value.items() for part in pair]
            return ["dict", *items]
        if isinstance(value, Embedding):
            return ["embedding", self.write(value.weight)]
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
        if not isinstance(plain, list):
            if isinstance(plain, dict):
                raise Malformed("an object stands for no value")
            return plain
        if not plain or depth > MAX_DEPTH + 2:
            raise Malformed("a list has no tag, or is nested too deep")
        tag, *parts = plain
        match tag:
            case "tensor":
                return self._tensor(parts)
            case "tuple":
                return tuple(self.read(part, depth + 1) for part in parts)
            case "list":
                return [self.read(part, depth + 1) for part in parts]
            case "dict" if len(parts) % 2 == 0:
                keys = [self.read(part, depth + 1) for part in parts[::2]]
                values = [self.read(part, depth + 1) for part in parts[1::2]]
                try:
                    return dict(zip(keys, values, strict=True))
                except TypeError as error:
                    raise Malformed("a key cannot be one") from error
            case "embedding" if len(parts) == 1:
                weight = self.read(parts[0], depth + 1)
                if not isinstance(weight, Tensor):
                    raise Malformed("an embedding has no weight")
                return Embedding(weight)
            case "opaque" if not parts:
                return OPAQUE
            case "absent" if not parts:
                return ABSENT
        raise Malformed("a tag stands for nothing")


def tensors_in(value: Value) -> Iterator[Tensor]:
    """Yield every tensor of a value, in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Embedding):
        yield value.weight
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from tensors_in(item)


def with_tensors(value: Value, change: Callable[[Tensor], Tensor]) -> Value:
    """Return a value with every tensor changed."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, Embedding):
        return Embedding(change(value.weight))
    if isinstance(value, list | tuple):
        items = [with_tensors(item, change) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, Mapping):
        return {key: with_tensors(item, change) for key, item in value.items()}
    return value


def made_real(value: Value) -> Value:
    """Return an argument as a component gets it, with what only stands for an object made."""
    if isinstance(value, Embedding):
        weight = value.weight.clone()
        return nn.Embedding(weight.shape[0], weight.shape[1], _weight=weight)
    return value
