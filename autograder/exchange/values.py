"""Values that cross between a test and a component, and their plain form, in which each is tagged.

None, booleans, numbers and texts stand for themselves; everything else is a list that begins with
its tag, so that no list or dictionary of anybody's can pass for a tensor. What tensors and arrays
hold lies beside the plain form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

# A tree of the kinds that are named below. A recursive alias would cost more words than it checks.
Value = Any

MAX_DEPTH = 32
MAX_ITEMS = 20_000
# Of a dictionary or a set: keys can be chosen so that each is compared with all others.
MAX_KEYS = 4_000
MAX_TEXT = 100_000
MAX_DIGITS = 1_000
_MAX_BITS = 3_322

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
# Those of numpy that hold numbers and nothing that points elsewhere.
ARRAY_DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
}


class Unsendable(Exception):
    """A value is none that can be sent, or exceeds a cap; the message says which."""


@dataclass(frozen=True)
class Embedding:
    """Stands for an `nn.Embedding` with this weight (V, D), made where the component lives."""

    weight: Tensor


@dataclass(frozen=True)
class Handle:
    """Stands for an object that lives beside the component, under a number of the test's."""

    number: int


@dataclass(frozen=True)
class Opaque:
    """Stands for something that came back and is no value."""


@dataclass(frozen=True)
class Absent:
    """Stands for nothing at all, where None would be an answer."""


OPAQUE = Opaque()
ABSENT = Absent()


def plain_tensor(tensor: Tensor) -> Tensor:
    """Return a tensor detached, of torch's own class: another one may say anything of itself."""
    if type(tensor) is Tensor:
        return tensor.detach()
    with torch._C.DisableTorchFunctionSubclass():
        return Tensor.detach(tensor)


def answered(value: object) -> Value:
    """Return what a component returned as a value: tensors detached, unknown objects opaque.

    Raises:
        Unsendable: it exceeds a cap.
    """
    if type(value) is Tensor:
        # Nearly all answers are one tensor, or a few.
        return _dense(value.detach())
    return _Copier().copy(value, 0)


def _dense(tensor: Tensor) -> Tensor:
    """Return a tensor if its values are plain numbers; the reason says its dtype."""
    if tensor.layout is torch.strided and tensor.dtype in DTYPE_NAMES:
        return tensor
    raise Unsendable(f"it is a tensor of {tensor.dtype} with layout {tensor.layout}")


def _is_plain_array(value: np.ndarray[Any, Any] | np.generic) -> bool:
    # What a mask hides would be taken for a number.
    masked = isinstance(value, np.ma.MaskedArray)
    return not masked and value.dtype.name in ARRAY_DTYPES


class _Copier:
    """Copies the containers of a value, within the caps."""

    def __init__(self) -> None:
        self._left = MAX_ITEMS

    def copy(self, value: Any, depth: int) -> Value:
        self._left -= 1
        if self._left < 0:
            raise Unsendable(f"it has more than {MAX_ITEMS} parts")
        if isinstance(value, Tensor):
            return _dense(plain_tensor(value))
        if value is None or isinstance(value, bool | torch.dtype):
            return value
        if isinstance(value, float):
            return float.__float__(value)
        if isinstance(value, complex):
            return complex.__complex__(value)
        if isinstance(value, int):
            # A subclass may say anything of itself; an enumeration's member is a number, too.
            number = int.__index__(value)
            if number.bit_length() > _MAX_BITS:
                raise Unsendable(f"a whole number has more than {MAX_DIGITS} digits")
            return number
        if isinstance(value, str | bytes | bytearray):
            if len(value) > MAX_TEXT:
                raise Unsendable(f"a text has more than {MAX_TEXT} characters")
            return str.__str__(value) if isinstance(value, str) else bytes(value)
        if isinstance(value, np.ndarray | np.generic):
            if not _is_plain_array(value):
                return OPAQUE
            array = np.array(value, copy=True, subok=False)
            return array.astype(array.dtype.newbyteorder("="), copy=False)
        if isinstance(value, torch.Size):
            return torch.Size(value)
        if isinstance(value, list | tuple | dict | set | frozenset):
            if depth == MAX_DEPTH:
                raise Unsendable(f"it is nested more than {MAX_DEPTH} deep")
            return self._container(value, depth + 1)
        return OPAQUE

    def _container(self, value: Any, depth: int) -> Value:
        if not isinstance(value, list | tuple) and len(value) > MAX_KEYS:
            raise Unsendable(f"a dictionary or set has more than {MAX_KEYS} keys")
        if isinstance(value, dict):
            return {
                _as_key(self.copy(key, depth)): self.copy(item, depth)
                for key, item in dict.items(value)
            }
        items = [self.copy(item, depth) for item in iter(value)]
        if isinstance(value, list):
            return items
        return tuple(items) if isinstance(value, tuple) else set(map(_as_key, items))


def _as_key(value: Value) -> Value:
    """Return a value that can be a key or in a set."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return value.item()
    if isinstance(value, set):
        return frozenset(value)
    try:
        hash(value)
    except TypeError:
        return OPAQUE
    # A tensor can be one, by its identity, which nothing keeps.
    return OPAQUE if isinstance(value, Tensor) else value


def leaves(value: Value) -> Iterator[Value]:
    """Yield what lists, tuples and mappings hold, however deep, in order; else the value itself."""
    if isinstance(value, torch.Size):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    else:
        yield value


def tensors_in(value: Value) -> Iterator[Tensor]:
    """Yield every tensor of a value, in order."""
    # Most values are one, or hold none: they are asked for all the time.
    if type(value) is Tensor:
        yield value
        return
    if value is None or type(value) in (int, float, str, bool):
        return
    for leaf in leaves(value):
        if isinstance(leaf, Tensor):
            yield leaf
        elif isinstance(leaf, Embedding):
            yield leaf.weight


_LEAVES = (Tensor, int, float, str, bool, type(None))


def mapped(value: Value, change: Callable[[Value], Value]) -> Value:
    """Return a value of the same form, with everything that `leaves` yields changed."""
    # Most values are one leaf: every operation's fields pass here, and to tell a mapping is slow.
    if type(value) in _LEAVES or isinstance(value, torch.Size):
        return change(value)
    if isinstance(value, list | tuple):
        items = [mapped(item, change) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, Mapping):
        return {key: mapped(item, change) for key, item in value.items()}
    return change(value)


def with_tensors(value: Value, change: Callable[[Tensor], Tensor]) -> Value:
    """Return a value with every tensor changed."""

    def changed(leaf: Value) -> Value:
        if isinstance(leaf, Embedding):
            return Embedding(change(leaf.weight))
        return change(leaf) if isinstance(leaf, Tensor) else leaf

    return mapped(value, changed)


def handles_in(value: Value) -> Iterator[Handle]:
    """Yield every handle of a value."""
    return (leaf for leaf in leaves(value) if isinstance(leaf, Handle))


def made_real(value: Value, objects: Mapping[int, object]) -> Value:
    """Return an argument as a component gets it, with what only stands for an object made.

    Args:
        value: the argument.
        objects: what lives beside the component, by handle.
    """

    def real(leaf: Value) -> Value:
        if isinstance(leaf, Embedding):
            weight = leaf.weight.clone()
            return nn.Embedding(weight.shape[0], weight.shape[1], _weight=weight)
        if isinstance(leaf, Handle):
            return objects[leaf.number]
        # The test's own must not be written to.
        return leaf.copy() if isinstance(leaf, np.ndarray) else leaf

    return mapped(value, real)
