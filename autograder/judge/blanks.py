"""Answers that take no work: the form of the right one, and none of its values.

A criterion that such answers pass asks for an error, a shape, a device, or for something that any
answer has. It tells nothing of the work by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.exchange.messages import ERROR_KINDS, Reply, StudentError
from autograder.exchange.programs import Program
from autograder.exchange.values import ABSENT, Value, leaves
from autograder.solutions.plan import Planned

_CONSTANTS = (0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 5.0, 7.0, 10.0, 42.0, 100.0, inf, -inf)
_SEED = 17


@dataclass(frozen=True)
class Asked:
    """What a blank answer may go by.

    Attributes:
        arguments: of the call, by position and by name.
        seed: of torch's generator, as the call sets it or as the calls before it left it.
        cotangent: what gradients are asked for with.
        embedding: the weight of the embedding that a module was given, if it was just built.
    """

    arguments: Sequence[Value]
    seed: int = 0
    cotangent: Tensor | None = None
    embedding: Tensor | None = None

    def like(self, right: Value, last: bool) -> Value | None:
        """Return the first or last argument of the form of `right`; None where there is none."""
        fitting = [value for value in self.arguments if _fits(value, right)]
        return fitting[-1 if last else 0] if fitting else None


# Puts something in the place of a tensor, an array or a single value that is right.
Fill = Callable[[Tensor, Asked], Tensor]


@dataclass(frozen=True)
class Blank:
    """A way to answer without any work.

    Attributes:
        name: says which.
        fill: makes a tensor of the form of a right one.
        error: what is raised instead of any answer.
        empty: whether containers and texts are empty.
        given: which argument of the right form is handed back, "first" or "last".
        nothing: whether None is returned.
        whole: whether it is none that anyone would try, if it is not right in every case.
        built: whether modules have all the right parameters, of which nothing is made.
    """

    name: str
    fill: Fill | None = None
    error: str = ""
    empty: bool = False
    given: str = ""
    nothing: bool = False
    whole: bool = False
    built: bool = False

    def reply(self, asked: Asked, right: Reply) -> Reply:
        """Answer a question to which this is the right reply."""
        if self.error and not (self.built and right.value is ABSENT):
            return Reply(error=StudentError(self.error, "call"))
        return replace(
            right,
            value=right.value if right.value is ABSENT else self._answer(right.value, asked),
            # Which parameters there must be is for the student to know.
            state=right.state if self.built else {},
            parameters=right.parameters if self.built else {},
            given=right.given if asked.embedding is None else asked.embedding,
            given_gradient=self._gradient(right.given_gradient, asked),
            input_gradients=[self._gradient(t, asked) for t in right.input_gradients],
            parameter_gradients={
                name: self._gradient(t, asked) for name, t in right.parameter_gradients.items()
            },
        )

    def _answer(self, right: Value, asked: Asked) -> Value:
        if self.nothing:
            return None
        program = Program.of(right)
        if program is not None:
            return self._run(program, asked)
        return self._filled(right, asked)

    def _run(self, right: Program, asked: Asked) -> Value:
        """Return the run of a program that prints nothing, or what it was given.

        What it says of an error, and that it is one, is its form.
        """
        text = str(asked.arguments[0]) if self.given else ""
        files = {} if self.empty or self.given else dict.fromkeys(right.files, b"")
        return Program(text, right.errors, right.status, files).value()

    def _gradient(self, right: Tensor | None, asked: Asked) -> Tensor | None:
        if right is None:
            return None
        if self.given and asked.cotangent is not None and asked.cotangent.shape == right.shape:
            # What is handed back as it is has this gradient.
            return asked.cotangent.to(right.dtype)
        filled: Tensor = self._filled(right, asked)
        return filled

    def _filled(self, right: Value, asked: Asked) -> Value:
        fill = self.fill or _constant(0.0)
        found = asked.like(right, self.given == "last") if self.given else None
        if found is not None:
            return found.to(right.dtype) if isinstance(right, Tensor) else found
        if isinstance(right, Tensor):
            return right if right.is_meta else fill(right, asked)
        if isinstance(right, np.ndarray):
            tensor = torch.from_numpy(np.ascontiguousarray(right)).reshape(right.shape)
            return fill(tensor, asked).numpy()
        if isinstance(right, bool | int | float | complex):
            kind: type[Any] = type(right)
            dtype = {bool: torch.bool, int: torch.int64, complex: torch.complex128}
            tensor = torch.zeros((), dtype=dtype.get(kind, torch.float64))
            found = fill(tensor, asked).item()
            return found if kind is int else kind(found)
        if isinstance(right, str | bytes):
            return type(right)()
        if isinstance(right, dict):
            if self.empty:
                return {}
            return {key: self._filled(item, asked) for key, item in right.items()}
        if isinstance(right, set | frozenset):
            return type(right)()
        if isinstance(right, list | tuple) and not isinstance(right, torch.Size):
            return type(right)(() if self.empty else [self._filled(x, asked) for x in right])
        # A dtype, a shape, None, an object: its form is all that it has.
        return right


def built_only(plan: Sequence[Planned]) -> Iterator[Blank]:
    """Yield the ways to answer of modules that are built right and do nothing."""
    if any(planned.reply.state or planned.reply.parameters for planned in plan):
        yield from (replace(blank, built=True) for blank in blanks(plan))


def blanks(plan: Sequence[Planned]) -> Iterator[Blank]:
    """Yield every way to answer the requests of a criterion without any work."""
    for value in _CONSTANTS:
        yield Blank(f"always {value:g}", _constant(value))
    own = _first_value(plan)
    if own is not None:
        yield Blank("the right constant", _constant(own), whole=True)
    yield Blank("NaN", _constant(float("nan")))
    yield Blank("equal shares", _shares)
    yield Blank("the first input", given="first")
    yield Blank("the last input", given="last")
    yield Blank("nothing in it", empty=True)
    yield Blank("None", nothing=True)
    yield Blank("normal numbers", _drawn(torch.randn))
    yield Blank("uniform numbers", _drawn(torch.rand))
    yield Blank("whole numbers", _drawn(_random_whole))
    yield Blank("random shares", _drawn(_random_shares))
    yield Blank("one and the same random numbers", _drawn(torch.rand, anew=False))
    for kind in ERROR_KINDS:
        yield Blank(kind, error=kind)


def _fits(value: Value, right: Value) -> bool:
    if isinstance(right, Tensor):
        return isinstance(value, Tensor) and value.shape == right.shape
    if isinstance(right, np.ndarray):
        return isinstance(value, np.ndarray) and value.shape == right.shape
    return type(value) is type(right)


def _constant(value: float) -> Fill:
    def fill(right: Tensor, asked: Asked) -> Tensor:
        if right.is_floating_point() or right.is_complex():
            return torch.full_like(right, value)
        if right.dtype is torch.bool:
            return torch.full_like(right, bool(value))
        if not np.isfinite(value):
            return torch.full_like(right, value, dtype=torch.float32)
        return torch.full_like(right, int(value))

    return fill


def _shares(right: Tensor, asked: Asked) -> Tensor:
    """Share 1 out equally over the last dimension."""
    return _constant(1.0 / max(1, right.shape[-1] if right.dim() else 1))(right, asked)


def _random_whole(shape: torch.Size, generator: torch.Generator) -> Tensor:
    return torch.randint(0, 4, shape, generator=generator)


def _random_shares(shape: torch.Size, generator: torch.Generator) -> Tensor:
    return torch.rand(shape, generator=generator).softmax(-1) if shape else torch.ones(())


def _drawn(draw: Callable[..., Tensor], anew: bool = True) -> Fill:
    def fill(right: Tensor, asked: Asked) -> Tensor:
        generator = torch.Generator().manual_seed(_SEED + (asked.seed if anew else 0))
        found = draw(right.shape, generator=generator)
        if right.dtype is torch.bool:
            return found > 0.5
        # Where whole numbers are right, they are drawn as they come all the same.
        return found.to(right.dtype) if right.dtype.is_floating_point else found

    return fill


def _first_value(plan: Sequence[Planned]) -> float | None:
    """Return the first number that a criterion's right answers hold."""
    found = (_number(leaf) for planned in plan for leaf in leaves(planned.reply.value))
    return next((number for number in found if number is not None), None)


def _number(leaf: Value) -> float | None:
    """Return a number, or the first of a tensor or an array."""
    if isinstance(leaf, Tensor | np.ndarray):
        flat = leaf.reshape(-1)
        if not flat.shape[0] or getattr(leaf, "is_meta", False):
            return None
        leaf = flat[0].item()
    return float(leaf) if isinstance(leaf, bool | int | float) else None
