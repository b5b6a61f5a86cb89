"""Requests to a component and the replies that come back.

A request is a list of operations, performed in order; the reply answers the last one, or the
first that failed. Everything in a reply is a claim by the student's process about tensors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from torch import Tensor

# Closed vocabularies: the wire sends an index into these, never a word of the student's choosing.
ERROR_KINDS = (
    "Exception",
    "NotAttempted",
    "DeviceMismatch",
    "Forbidden",
    "MissingName",
    "StateKeys",
    "StateShape",
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "EOFError",
    "ImportError",
    "IndexError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "NotImplementedError",
    "OSError",
    "PermissionError",
    "RecursionError",
    "RuntimeError",
    "StopIteration",
    "SyntaxError",
    "SystemExit",
    "TypeError",
    "UnboundLocalError",
    "UnicodeError",
    "ValueError",
    "ZeroDivisionError",
)
PHASES = ("import", "build", "load", "move", "call", "backward", "state")
FORMS = ("none", "tensor", "pair", "list of one", "longer sequence", "number", "other")
GRADIENTS = ("not asked", "computed", "detached", "wrong shape", "failed")

MAX_TEXT = 2000


@dataclass(frozen=True)
class StudentError:
    """An exception that left the student's code.

    `kind` is one of ERROR_KINDS (the nearest built-in base of the exception's class), `text` is
    the student's and hostile, `file` and `line` say where in the submission it was raised.
    """

    kind: str
    phase: str
    text: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class ForbiddenUse:
    """A forbidden operation that ran, and the line of the submission that called it."""

    operation: str
    file: str
    line: int


@dataclass(frozen=True)
class EmbeddingArgument:
    """Stands for `nn.Embedding` with this weight (V, D), made where the component lives."""

    weight: Tensor


@dataclass
class Request:
    """Operations and the tensors they refer to by index."""

    ops: list[dict[str, Any]] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)

    def encode(self, value: object) -> Any:
        """Return `value` as plain data; a tensor becomes a reference to its place in the list.

        The same tensor object passed twice stays one object on the other side.
        """
        if isinstance(value, Tensor):
            for index, known in enumerate(self.tensors):
                if known is value:
                    return {"tensor": index}
            self.tensors.append(value)
            return {"tensor": len(self.tensors) - 1}
        if isinstance(value, EmbeddingArgument):
            return {"embedding": self.encode(value.weight)["tensor"]}
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise TypeError(f"a component cannot be given a {type(value).__name__}")


@dataclass
class Reply:
    """What one request brought back, before anything has been believed.

    Tensors are detached. `input_gradients` and `inputs_after` follow the order of the tensor
    arguments of the last operation; a gradient is None where backward left none.
    """

    form: str = "none"
    outputs: list[Tensor] = field(default_factory=list)
    gradient: str = "not asked"
    input_gradients: list[Tensor | None] = field(default_factory=list)
    parameter_gradients: dict[str, Tensor | None] = field(default_factory=dict)
    inputs_after: list[Tensor] = field(default_factory=list)
    state: dict[str, Tensor] = field(default_factory=dict)
    parameters: dict[str, Tensor] = field(default_factory=dict)
    given: Tensor | None = None
    given_gradient: Tensor | None = None
    error: StudentError | None = None
    forbidden: list[ForbiddenUse] = field(default_factory=list)

    def tensors(self) -> Iterator[Tensor]:
        """Yield every tensor of the reply."""
        lists = (self.outputs, self.input_gradients, self.inputs_after)
        named = (self.parameter_gradients, self.state, self.parameters)
        singles = (self.given, self.given_gradient)
        for tensor in chain(*lists, *(part.values() for part in named), singles):
            if tensor is not None:
                yield tensor
