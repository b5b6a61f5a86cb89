"""Requests to a component and the replies that come back.

A request is a list of operations, performed in order; the reply answers the last one, or the
first that failed. Everything in a reply is a claim by the student's process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from autograder.api.lazy import Tensor, torch
from autograder.api.operations import (
    Ask,
    Operation,
    Reset,
    Resume,
    read_operation,
    write_operation,
)
from autograder.api.values import (
    ABSENT,
    Absent,
    Malformed,
    Reader,
    Value,
    Writer,
    tensors_in,
)
from autograder.rules.forbidden import ForbiddenUse

# The kinds of error that a reply can name; a student cannot add any. First those that are not
# Python's, then the built-in exceptions, except those that are made from more than a text.
_OWN_KINDS = "NotAttempted DeviceMismatch Forbidden MissingName StateKeys StateShape"
_BUILT_IN_KINDS = """
    ArithmeticError AssertionError AttributeError BlockingIOError BrokenPipeError BufferError
    BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError
    ConnectionResetError DeprecationWarning EOFError EncodingWarning FileExistsError
    FileNotFoundError FloatingPointError FutureWarning ImportError ImportWarning IndentationError
    IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError
    ModuleNotFoundError NameError NotADirectoryError NotImplementedError OSError OverflowError
    PendingDeprecationWarning PermissionError ProcessLookupError RecursionError ReferenceError
    ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError
    SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError UnboundLocalError
    UnicodeError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError
"""
ERROR_KINDS = ("Exception", *_OWN_KINDS.split(), *_BUILT_IN_KINDS.split())
PHASES = ("import", "build", "load", "move", "call", "backward", "state")
GRADIENTS = ("not asked", "computed", "detached", "wrong shape", "failed")

MAX_TEXT = 2000


@dataclass(frozen=True)
class StudentError:
    """An exception that left the student's code, or a name or key that it lacks.

    `kind` is one of ERROR_KINDS (the nearest built-in base of the exception's class), `bases` are
    its further built-in bases, `classes` the names of its classes that are not built in, its own
    first, `text` is the student's and hostile, `file` and `line` say where in the submission it was
    raised.
    `key` is the state_dict key that is missing or has a wrong shape, `found` the keys that exist,
    `shape` the student's shape, `wanted` the right one. If a name is missing, `key` is the class of
    the object that lacks it, or empty if the file lacks it.
    """

    kind: str
    phase: str
    text: str = ""
    file: str = ""
    line: int = 0
    key: str = ""
    found: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    wanted: tuple[int, ...] = ()
    bases: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of its class."""
        return self.classes[0] if self.classes else self.kind

    def is_a(self, kind: str) -> bool:
        """Return whether `except kind` would catch it."""
        return kind == self.kind or kind in (self.bases if kind in ERROR_KINDS else self.classes)


@dataclass
class Request:
    """Operations, performed in order."""

    ops: list[Operation] = field(default_factory=list)

    @property
    def resets(self) -> bool:
        """Whether it forgets what came before."""
        return bool(self.ops) and isinstance(self.ops[0], Reset)

    @property
    def name(self) -> tuple[str, str]:
        """The verb of what is asked, and the function, method or attribute."""
        last = self.ops[-1]
        return (last.verb, last.name) if isinstance(last, Ask) else (last.kind, "")

    @property
    def resumes(self) -> bool:
        """Whether it answers what the component asked back."""
        return bool(self.ops) and isinstance(self.ops[-1], Resume)

    @property
    def counted(self) -> bool:
        """Whether it asks what a call costs."""
        return any(isinstance(op, Ask) and op.cost for op in self.ops)

    def tensors(self) -> list[Tensor]:
        """Return every tensor of the request, each once."""
        found: dict[int, Tensor] = {}
        for op in self.ops:
            for value in vars(op).values():
                for tensor in tensors_in(value):
                    found[id(tensor)] = tensor
        return list(found.values())

    def reseeded(self) -> Request:
        """Return the request with other seeds for its random draws."""
        return Request(
            [
                replace(op, seed=op.seed + 1)
                if isinstance(op, Reset | Ask) and op.seed is not None
                else op
                for op in self.ops
            ]
        )


@dataclass(frozen=True)
class Part:
    """What a part of a reply holds, for the code that writes, reads, compares or shows it.

    Attributes:
        words: what one item is called, in a message to the instructor; {} is its number or name.
        holds: any "value", one "tensor", a list of "tensors", or tensors by name ("named").
        gaps: whether a tensor in it may be missing (None).
        derived: whether it adds up roundings, as gradients do.
        random: whether it depends on random draws where the outputs do.
    """

    words: str
    holds: Literal["value", "tensor", "tensors", "named"]
    gaps: bool = False
    derived: bool = False
    random: bool = True

    def is_empty(self, value: Value) -> bool:
        """Return whether there is nothing in it."""
        if self.holds == "value":
            return value is ABSENT or isinstance(value, Absent)
        return value is None or (type(value) is not torch.Tensor and len(value) == 0)

    def fits(self, value: Value) -> bool:
        """Return whether it can hold a value that was read."""
        if self.holds == "value":
            return True
        if self.holds == "tensor":
            return isinstance(value, torch.Tensor)
        if self.holds == "tensors":
            return isinstance(value, list) and all(map(self._fits_item, value))
        return (
            isinstance(value, dict)
            and all(isinstance(key, str) for key in value)
            and all(map(self._fits_item, value.values()))
        )

    def _fits_item(self, item: Value) -> bool:
        return isinstance(item, torch.Tensor) or (self.gaps and item is None)


# What stands for nothing in a part. Most parts of most replies are empty.
_EMPTY: Mapping[str, Callable[[], Value]] = {"tensors": list, "named": dict}


def part(words: str, holds: Any, **more: bool) -> Any:
    """Return a field of a reply that is a part, with a default of its own."""
    metadata = {"part": Part(words, holds, **more)}
    if holds in _EMPTY:
        return field(default_factory=_EMPTY[holds], metadata=metadata)
    return field(default=ABSENT if holds == "value" else None, metadata=metadata)


@dataclass
class Reply:
    """What one request brought back, before anything has been believed.

    Tensors are detached. `value` is what was returned, ABSENT where nothing was called.
    `operations` counts floating-point operations, if that was asked for; `seconds` is the CPU time
    of the call, measured by the caller. `input_gradients` and `inputs_after` follow the order of
    the tensor arguments of the last operation; a gradient is None where backward left none.
    `beside` is what an ordinary test learns beside the answer: what was printed, which arguments
    were changed, the exception as an object, or what the component asks back.
    """

    gradient: str = "not asked"
    error: StudentError | None = None
    forbidden: list[ForbiddenUse] = field(default_factory=list)
    operations: int | None = None
    seconds: float | None = None
    beside: dict[str, Value] = field(default_factory=dict)
    value: Value = part("output{}", "value")
    input_gradients: list[Tensor | None] = part(
        "gradient of tensor argument {}", "tensors", gaps=True, derived=True
    )
    inputs_after: list[Tensor] = part("tensor argument {} after the call", "tensors", random=False)
    parameter_gradients: dict[str, Tensor | None] = part(
        "gradient of parameter {}", "named", gaps=True, derived=True
    )
    state: dict[str, Tensor] = part("state_dict entry {}", "named")
    parameters: dict[str, Tensor] = part("parameter {}", "named")
    given: Tensor | None = part("weight of the given embedding", "tensor", random=False)
    given_gradient: Tensor | None = part("gradient of the given embedding", "tensor", derived=True)

    def parts(self) -> Iterator[tuple[str, Part, Value]]:
        """Yield the parts that hold something: name, what it is, the value."""
        for name, kind in PARTS.items():
            value = getattr(self, name)
            if not kind.is_empty(value):
                yield name, kind, value

    def tensors(self) -> Iterator[Tensor]:
        """Yield every tensor of the reply."""
        for _, _, value in self.parts():
            yield from tensors_in(value)


PARTS: Mapping[str, Part] = {
    f.name: f.metadata["part"] for f in fields(Reply) if "part" in f.metadata
}


def write_request(request: Request, writer: Writer) -> list[Any]:
    """Return the plain form of a request."""
    return [write_operation(op, writer) for op in request.ops]


def read_request(plain: list[Any], reader: Reader) -> Request:
    """Read a request that `write_request` wrote; it is trusted."""
    return Request([read_operation(op, reader) for op in plain])


def write_parts(reply: Reply, writer: Writer) -> dict[str, Any]:
    """Return the plain form of a reply's parts; what is not there is not written."""
    return {name: writer.write(value) for name, _, value in reply.parts()}


def read_parts(plain: object, reader: Reader) -> dict[str, Value]:
    """Read a reply's parts from their plain form, which may be hostile.

    Raises:
        Malformed: it stands for no values, or not for those that a part holds.
    """
    if not isinstance(plain, dict):
        raise Malformed("a reply has no parts")
    found = {}
    for name, written in plain.items():
        kind = PARTS.get(name)
        if kind is None:
            raise Malformed("a reply has no such part")
        found[name] = reader.read(written)
        if not kind.fits(found[name]):
            raise Malformed(f"the part {name} holds something else")
    return found
