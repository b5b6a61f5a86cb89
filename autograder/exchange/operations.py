"""What can be asked of a component: operations on it and on the modules that it builds.

A module is named by a handle, a number of the test's choosing. The fields of an operation are
values, so that every operation is written and read by the same rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

from torch import Tensor

from autograder.exchange.values import Reader, Value, Writer, with_tensors


@dataclass(frozen=True)
class Operation:
    """One operation; `kind` is its name in a written request."""

    kind: ClassVar[str]


@dataclass(frozen=True)
class Reset(Operation):
    """Forget every module and seed torch's generator."""

    kind: ClassVar[str] = "reset"
    seed: int = 0


@dataclass(frozen=True)
class Build(Operation):
    """Call a class of the component and keep the module under a handle."""

    kind: ClassVar[str] = "build"
    handle: int
    name: str
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Load(Operation):
    """Write tensors into the entries of a module's state_dict."""

    kind: ClassVar[str] = "load"
    handle: int
    state: Mapping[str, Tensor]


@dataclass(frozen=True)
class Move(Operation):
    """Move a module to a dtype (by name), a device, or both."""

    kind: ClassVar[str] = "move"
    handle: int
    dtype: str | None = None
    device: str | None = None


@dataclass(frozen=True)
class Train(Operation):
    """Switch a module between training and evaluation."""

    kind: ClassVar[str] = "train"
    handle: int
    on: bool


@dataclass(frozen=True)
class WriteGiven(Operation):
    """Overwrite the weight of the embedding that a module was given."""

    kind: ClassVar[str] = "write_given"
    handle: int
    weight: Tensor


@dataclass(frozen=True)
class ReadState(Operation):
    """Fetch a module's state_dict, its parameters and the weight it was given."""

    kind: ClassVar[str] = "read_state"
    handle: int


@dataclass(frozen=True)
class Call(Operation):
    """Call a function of the component, a module, or one of its methods.

    Without a handle `name` is a function; with one it is a method, or empty for the module itself.
    `cotangent` asks for gradients of (output * cotangent).sum(), `keep_inputs` for the tensor
    arguments as the call leaves them.
    """

    kind: ClassVar[str] = "call"
    name: str
    handle: int | None = None
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    seed: int | None = None
    cotangent: Tensor | None = None
    keep_inputs: bool = False


_BY_KIND: dict[str, type[Operation]] = {
    operation.kind: operation
    for operation in (Reset, Build, Load, Move, Train, WriteGiven, ReadState, Call)
}


def write_operation(operation: Operation, writer: Writer) -> list[Any]:
    """Return the plain form of an operation."""
    named = {f.name: writer.write(getattr(operation, f.name)) for f in fields(operation)}
    return [operation.kind, named]


def read_operation(plain: list[Any], reader: Reader) -> Operation:
    """Read an operation that `write_operation` wrote; it is trusted."""
    kind, named = plain
    return _BY_KIND[kind](**{name: reader.read(value) for name, value in named.items()})


def with_changed_tensors(operation: Operation, change: Callable[[Tensor], Tensor]) -> Operation:
    """Return an operation with every tensor changed."""
    changed = {f.name: with_tensors(getattr(operation, f.name), change) for f in fields(operation)}
    return replace(operation, **changed)
