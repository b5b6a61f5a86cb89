"""What can be asked of a component: operations on it and on the modules that it builds.

A module is named by a handle, a number of the test's choosing. The fields of an operation are
values, so that every operation is written and read by the same rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, ClassVar

from autograder.api.lazy import Tensor
from autograder.api.values import Reader, Value, Writer, with_tensors


@dataclass(frozen=True)
class Operation:
    """One operation; `kind` is its name in a written request."""

    kind: ClassVar[str]


@dataclass(frozen=True)
class Reset(Operation):
    """Forget every module and seed the generators of torch, Python and numpy."""

    kind: ClassVar[str] = "reset"
    seed: int = 0


@dataclass(frozen=True)
class Build(Operation):
    """Make an object and keep it under a handle.

    `name` is a class or function of the component, a class method ("Tokenizer.load"), or a method
    of the object `of`; `provided` names the provided module to look in instead of the component. A
    `module` must be a torch.nn.Module.
    """

    kind: ClassVar[str] = "build"
    handle: int
    name: str
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    module: bool = True
    of: int | None = None
    provided: str = ""


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
    """Call a function of the component or of a provided module, an object, or a method of one.

    Without a handle `name` is a function; with one it is a method, or empty for the object itself.
    `cotangent` asks for gradients of (output * cotangent).sum(), `keep_inputs` for the tensor
    arguments as the call leaves them, `cost` for the floating-point operations counted.
    """

    kind: ClassVar[str] = "call"
    name: str
    handle: int | None = None
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    seed: int | None = None
    cotangent: Tensor | None = None
    keep_inputs: bool = False
    cost: bool = False
    provided: str = ""


@dataclass(frozen=True)
class Get(Operation):
    """Read an attribute of an object."""

    kind: ClassVar[str] = "get"
    handle: int
    name: str


@dataclass(frozen=True)
class Take(Operation):
    """Take the next items of an iterator, at most `count`."""

    kind: ClassVar[str] = "take"
    handle: int
    count: int


@dataclass(frozen=True)
class RunProgram(Operation):
    """Run the component as a program in a folder of its own that holds `files`."""

    kind: ClassVar[str] = "run"
    arguments: tuple[str, ...] = ()
    stdin: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    cost: bool = False


@dataclass(frozen=True)
class Ask(Operation):
    """Ask what an ordinary test asks of a module, an object or a function of the component's.

    Attributes:
        name: the verb, and the name of the function or attribute that it is about, if any: under
            it answers are of the kinds that the solution gives.
        verb: one of `objects.VERBS`.
        args: what it is asked of, then what it is asked with.
        kwargs: further arguments of a call.
        written: what the test has written into tensors and arrays that came back before: their
            number, what they hold now, and the gradient that they have.
        beside: the state of the generators ("draws"), and what the student's code may read
            ("stdin", "files").
    """

    kind: ClassVar[str] = "ask"
    name: str
    verb: str
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    written: tuple[Value, ...] = ()
    beside: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Resume(Operation):
    """Answer what a component asked back of the test.

    Attributes:
        value: what the test's function returned.
        raised: the built-in class of what it raised instead, empty if it returned.
        number: the number of what it raised, by which it is known when it comes back.
        written: as of `Ask`.
    """

    kind: ClassVar[str] = "resume"
    value: Value = None
    raised: str = ""
    number: int = 0
    written: tuple[Value, ...] = ()


_BY_KIND: dict[str, type[Operation]] = {
    operation.kind: operation
    for operation in (
        *(Reset, Build, Load, Move, Train, WriteGiven, ReadState),
        *(Call, Get, Take, RunProgram, Ask, Resume),
    )
}


# What a read operation begins with. Nobody writes to these.
_FILLED: dict[type[Operation], dict[str, object]] = {
    operation: {
        f.name: {} if f.default_factory is not MISSING else f.default
        for f in fields(operation)
        if f.default is not MISSING or f.default_factory is not MISSING
    }
    for operation in _BY_KIND.values()
}


def entries_of(operations: Sequence[Operation]) -> frozenset[str]:
    """Return the names of the component's functions and classes that are asked."""
    return frozenset(
        op.name
        for op in operations
        if (isinstance(op, Build) and op.of is None) or (isinstance(op, Call) and op.handle is None)
    )


def write_operation(operation: Operation, writer: Writer) -> list[Any]:
    """Return the plain form of an operation."""
    named = {
        name: writer.write(value)
        for name, value in vars(operation).items()
        # What is not said is the default.
        if not _is_default(value, _FILLED[type(operation)].get(name, MISSING))
    }
    return [operation.kind, named]


def _is_default(value: Value, default: object) -> bool:
    if value is default:
        return True
    return isinstance(value, tuple | dict) and not value and isinstance(default, tuple | dict)


def read_operation(plain: list[Any], reader: Reader) -> Operation:
    """Read an operation that `write_operation` wrote; it is trusted."""
    kind, named = plain
    cls = _BY_KIND[kind]
    # Without a constructor, which sets each field of a frozen one by a call: a child does this
    # for every operation of every request.
    operation = object.__new__(cls)
    found = operation.__dict__
    found.update(_FILLED[cls])
    read = reader.read
    for name, value in named.items():
        found[name] = read(value) if type(value) is list else value
    return operation


def with_changed_tensors(operation: Operation, change: Callable[[Tensor], Tensor]) -> Operation:
    """Return an operation with every tensor changed."""
    changed = {f.name: with_tensors(getattr(operation, f.name), change) for f in fields(operation)}
    return replace(operation, **changed)
