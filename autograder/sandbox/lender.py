"""Perform forbidden operations for a stand-in in a process beside the child, which has none.

A stand-in is made of what its exercise forbids. In the child these kernels are sealed, as in every
other; what its lines call is put to this process instead, which holds no student's code, answers
for these operations alone, and reads what it is asked as the judge reads replies: as hostile.
Whatever the child's code does with the line, it can have computed what the stand-in offers anyhow.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.exchange.exceptions import describe
from autograder.exchange.kernels import COMPOSED, KERNELS
from autograder.exchange.messages import Reply
from autograder.exchange.values import Value, answered, tensors_in, with_tensors
from autograder.sandbox.replies import decode_reply, encode_reply
from autograder.sandbox.wire import Pipe

# The keys of a question: what is called, with what, from which state of random draws; and of which
# of its tensors, by number, gradients are wanted for which cotangents.
_Question = dict[str, Value]


@dataclass(frozen=True)
class _Call:
    lender: Lender
    name: str
    args: Value
    kwargs: Value
    draws: Tensor

    def asking(self, tensors: tuple[Tensor, ...], **more: Value) -> _Question:
        """Return the question for these tensors in the place of the call's own."""
        left = iter(tensors)
        args, kwargs = with_tensors([self.args, self.kwargs], lambda _: next(left))
        return {"call": self.name, "args": args, "kwargs": kwargs, "draws": self.draws, **more}


class Lender:
    """The child's end: calls what the process at the other end performs.

    Args:
        descriptor: of the line to it.
    """

    def __init__(self, descriptor: int) -> None:
        self._pipe = Pipe(descriptor)
        # Student code has threads.
        self._turn = threading.Lock()

    def function(self, name: str, differentiable: bool) -> Callable[..., Any]:
        """Return what has a function performed.

        Args:
            name: as in `offered`.
            differentiable: whether gradients are this function's affair, and not its caller's.
        """
        return partial(self._perform, name, differentiable)

    def _perform(self, name: str, differentiable: bool, /, *args: Any, **kwargs: Any) -> Any:
        call = _Call(self, name, list(args), kwargs, torch.get_rng_state())
        tensors = tuple(tensors_in([call.args, kwargs]))
        needed = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
        if differentiable and (needed or torch._C._are_functorch_transforms_active()):
            return _Lent.apply(call, *tensors)  # type: ignore[no-untyped-call]
        return self.computed(call, tensors)

    def computed(self, call: _Call, tensors: tuple[Tensor, ...]) -> Any:
        """Have a call performed; its random draws and what it changes are brought over, too."""
        result, changed, draws = self.ask(call.asking(tensors))
        with torch.no_grad():
            for number, values in changed:
                tensors[number].detach().copy_(values)
        torch.set_rng_state(draws)
        return result

    def ask(self, question: _Question) -> Any:
        """Put a question; raise what it raised there.

        Raises:
            RuntimeError: there is no answer.
        """
        frame = encode_reply(Reply(value=answered(question)), 0)
        with self._turn:
            self._pipe.send(frame)
            _, reply = decode_reply(self._pipe.receive)
        if reply.error is not None:
            kind = getattr(builtins, reply.error.kind, RuntimeError)
            raise kind(reply.error.text)
        return reply.value


class _Lent(torch.autograd.Function):
    """A lent operation with gradients: the vector-Jacobian product is lent, too."""

    @staticmethod
    def forward(call: _Call, *tensors: Tensor) -> Any:
        result = call.lender.computed(call, tensors)
        return tuple(result) if isinstance(result, list) else result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.call, *tensors = inputs
        ctx.save_for_backward(*tensors)
        whole = [tensor for tensor in tensors_in(output) if not tensor.is_floating_point()]
        ctx.mark_non_differentiable(*whole)

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor | None) -> Any:
        needed = tuple(n for n, needs in enumerate(ctx.needs_input_grad[1:]) if needs)
        there = tuple(n for n, cotangent in enumerate(cotangents) if cotangent is not None)
        given = [cotangent for cotangent in cotangents if cotangent is not None]
        found = _LentGradient.apply(ctx.call, needed, there, *ctx.saved_tensors, *given)  # type: ignore[no-untyped-call]
        gradients = dict(zip(needed, found, strict=True))
        return None, *(gradients.get(number) for number in range(len(ctx.saved_tensors)))

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *inputs: Any) -> Any:
        return _one_by_one(_Lent, info.batch_size, in_dims, inputs)


class _LentGradient(torch.autograd.Function):
    """The gradients of a call's tensors, of those `needed`, for the results that are `there`."""

    @staticmethod
    def forward(
        call: _Call, needed: tuple[int, ...], there: tuple[int, ...], *tensors: Tensor
    ) -> tuple[Tensor | None, ...]:
        count = len(tensors) - len(there)
        cotangents = dict(zip(there, tensors[count:], strict=True))
        question = call.asking(tensors[:count], needed=list(needed), cotangents=cotangents)
        return tuple(call.lender.ask(question))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep nothing: there are no second derivatives."""

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor | None) -> Any:
        raise RuntimeError("beside a stand-in there are no second derivatives of what it computes")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *inputs: Any) -> Any:
        return _one_by_one(_LentGradient, info.batch_size, in_dims, inputs)


def _one_by_one(
    function: type[torch.autograd.Function],
    count: int,
    in_dims: tuple[Any, ...],
    inputs: tuple[Any, ...],
) -> Any:
    """Map over a function by calling it again and again: there is nothing else to be won."""
    found = [
        function.apply(  # type: ignore[no-untyped-call]
            *(
                given if dim is None else given.select(dim, number)
                for given, dim in zip(inputs, in_dims, strict=True)
            )
        )
        for number in range(count)
    ]
    if isinstance(found[0], Tensor):
        return torch.stack(found), 0
    columns = [
        torch.stack(column) if isinstance(column[0], Tensor) else column[0]
        for column in zip(*found, strict=True)
    ]
    return tuple(columns), tuple(0 if isinstance(column, Tensor) else None for column in columns)


def offered(operations: Collection[str]) -> dict[str, Callable[..., Any]]:
    """Return the functions of some operations, by the names under which they are asked for.

    A method is not among them: it has an object that cannot be sent, and is composed of others.
    """
    found = {}
    for operation in operations:
        for kernel in KERNELS[operation]:
            name, _, overload = kernel.partition(".")
            if torch._C._dispatch_has_kernel(f"aten::{kernel}"):
                found[kernel] = getattr(getattr(torch.ops.aten, name), overload or "default")
        for module, path in COMPOSED.get(operation, ()):
            function = getattr(sys.modules.get(module), path, None)
            if function is not None:
                found[f"{module}.{path}"] = function
    return found


def lend(descriptor: int, operations: Collection[str]) -> None:
    """Perform these operations for whoever is at the other end, until that is closed."""
    functions = offered(operations)
    pipe = Pipe(descriptor)
    while True:
        reply = Reply()
        _, asked = decode_reply(pipe.receive)
        try:
            reply.value = answered(_answer(functions, asked.value))
            frame = encode_reply(reply, 0)
        except Exception as error:
            # No file here is a student's.
            frame = encode_reply(Reply(error=describe(error, "call", "\0")), 0)
        pipe.send(frame)


def _answer(functions: dict[str, Callable[..., Any]], question: _Question) -> Value:
    tensors: list[Tensor] = []
    needed = question.get("needed", [])

    def note(tensor: Tensor) -> Tensor:
        tensors.append(tensor.requires_grad_(len(tensors) in needed))
        return tensor

    args, kwargs = with_tensors([question["args"], question["kwargs"]], note)
    torch.set_rng_state(question["draws"])
    function = functions[question["call"]]
    if needed:
        result = function(*args, **kwargs)
        outputs = [result] if isinstance(result, Tensor) else list(result)
        pairs = [
            (outputs[number], cotangent)
            for number, cotangent in question["cotangents"].items()
            if outputs[number].requires_grad
        ]
        inputs = [tensors[number] for number in needed]
        if not pairs:
            return [None] * len(inputs)
        some, cotangents = zip(*pairs, strict=True)
        return torch.autograd.grad(some, inputs, cotangents, allow_unused=True)
    with torch.no_grad():
        # Their versions do not tell: some kernels write past them.
        before = [tensor.clone() for tensor in tensors]
        result = function(*args, **kwargs)
    changed = [
        (number, tensor)
        for number, (tensor, old) in enumerate(zip(tensors, before, strict=True))
        if not tensor.is_meta and not torch.equal(tensor, old)
    ]
    return [result, changed, torch.get_rng_state()]
