"""What can be asked of a component, of what is provided with it, and of objects.

An object is named by a handle: a number that the test chooses beforehand, or that an ordinary test
gets with an answer. The fields of an operation are values, so that every operation is written and
read by the same rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar

from autograder.api.lazy import Tensor
from autograder.api.values import Handle, Named, Reader, Value, Writer


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
class Ask(Operation):
    """Ask something of the component, of a module that is provided with it, or of an object.

    Attributes:
        name: the function, method or attribute that it is about, which may be dotted
            ("Tokenizer.load"); empty if it is about the object itself.
        verb: what is asked: "call", "get", or another that the executor knows.
        args: what it is asked of, then what it is asked with.
        kwargs: further arguments of a call.
        into: the number under which what is made stays there; it is then not sent.
        module: whether that must be a torch.nn.Module.
        seed: seeds torch's generator before.
        cotangent: asks for gradients of (output * cotangent).sum().
        keep_inputs: asks for the tensor arguments as the call leaves them.
        cost: asks for the floating-point operations counted.
    """

    kind: ClassVar[str] = "ask"
    name: str
    verb: str
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    into: int | None = None
    module: bool = False
    seed: int | None = None
    cotangent: Tensor | None = None
    keep_inputs: bool = False
    cost: bool = False


@dataclass(frozen=True)
class OrdinaryAsk(Ask):
    """Ask what an ordinary test asks of a module, an object or a function of the component's.

    Attributes:
        name: the verb, and the name of the function or attribute that it is about, if any: under
            it answers are of the kinds that the solution gives.
        verb: one of `objects.VERBS`.
        written: what the test has written into tensors and arrays that came back before: their
            number, what they hold now, and the gradient that they have.
        beside: the state of the generators ("draws"), and what the student's code may read
            ("stdin", "files").
    """

    kind: ClassVar[str] = "ordinary"
    written: tuple[Value, ...] = ()
    beside: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Resume(Operation):
    """Answer what a component asked back of the test.

    Attributes:
        value: what the test's function returned.
        raised: the built-in class of what it raised instead, empty if it returned.
        number: the number of what it raised, by which it is known when it comes back.
        written: as of `OrdinaryAsk`.
    """

    kind: ClassVar[str] = "resume"
    value: Value = None
    raised: str = ""
    number: int = 0
    written: tuple[Value, ...] = ()


@dataclass(frozen=True)
class ReadDraws(Operation):
    """Fetch the state of the generators; the solution alone is asked this."""

    kind: ClassVar[str] = "read_draws"


_BY_KIND: dict[str, type[Operation]] = {
    operation.kind: operation for operation in (Reset, Ask, OrdinaryAsk, Resume, ReadDraws)
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
    asked = [op for op in operations if type(op) is Ask and op.name]
    return frozenset(op.name for op in asked if isinstance(op.args[0], Named))


def handle_of(operation: Operation) -> int | None:
    """Return the number of the object that is made, or else asked something."""
    if type(operation) is not Ask:
        return None
    of = operation.args[0]
    return of.number if operation.into is None and isinstance(of, Handle) else operation.into


def write_operation(operation: Operation, writer: Writer) -> list[Any]:
    """Return the plain form of an operation."""
    filled = _FILLED[type(operation)]
    named = {
        name: writer.write(value)
        for name, value in vars(operation).items()
        # What is not said is the default.
        if not (value is filled.get(name, MISSING) or _is_nothing(value))
    }
    return [operation.kind, named]


def _is_nothing(value: Value) -> bool:
    """Return whether a value is an empty container, which is the default wherever one can be."""
    return isinstance(value, tuple | dict) and len(value) == 0


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
