"""The only way a test touches a component.

`component.call(name, ...)` calls a function, `component.build(name, ...)` makes a module. Both
backends, the student's imported module and the judge's sandbox, stand behind the same `Session`,
so a test cannot tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from autograder.exchange.messages import Reply, Request
from autograder.exchange.operations import (
    Build,
    Call,
    Load,
    Move,
    Operation,
    ReadState,
    Train,
    WriteGiven,
)
from autograder.exchange.values import DTYPE_NAMES
from autograder.suite.answer import Answer, Question, StudentRaised


class Session(Protocol):
    """Carries requests to one component. `perform` may raise where the component is gone."""

    def perform(self, request: Request) -> Reply:
        """Perform the operations of `request` and return the reply to the last one."""


class Component:
    """One component under test."""

    def __init__(self, session: Session, observe: Callable[[Answer], None]) -> None:
        self._session = session
        self._observe = observe
        self._handles = 0

    def call(
        self,
        function: str,
        *args: object,
        seed: int | None = None,
        cotangent: Tensor | None = None,
        keep_inputs: bool = False,
        **kwargs: object,
    ) -> Answer:
        """Call a function of the component.

        Args:
            function: its name.
            args: tensors, numbers, strings, booleans or None.
            seed: seeds torch's generator before the call.
            cotangent: if given, a tensor of the output's shape; gradients of
                (output * cotangent).sum() come back with the answer.
            keep_inputs: whether the tensor arguments come back as the call left them.
        """
        call = Call(
            function,
            args=args,
            kwargs=kwargs,
            seed=seed,
            cotangent=cotangent,
            keep_inputs=keep_inputs,
        )
        return self._ask(Request(), function, call)

    def build(self, cls: str, *args: object, **kwargs: object) -> Module:
        """Build a module. What its constructor raises shows in the module's first answer."""
        self._handles += 1
        return Module(self, self._handles, cls, args, kwargs)

    def _ask(self, request: Request, label: str, call: Call) -> Answer:
        request.ops.append(call)
        reply = self._session.perform(request)
        arguments = (*(("", arg) for arg in call.args), *call.kwargs.items())
        answer = Answer(reply, Question(label, arguments), call.cotangent is not None)
        self._observe(answer)
        return answer


class Module:
    """A module built by a component.

    `load`, `to`, `train` and `write_given` take effect with the next question and return the
    module itself, so they can be chained.
    """

    def __init__(
        self,
        component: Component,
        handle: int,
        cls: str,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> None:
        self._component = component
        self._handle = handle
        self._cls = cls
        self._arguments = (*(("", arg) for arg in args), *kwargs.items())
        self._pending = Request()
        self._queue(Build(handle, cls, args, kwargs))

    def load(self, state: dict[str, Tensor]) -> Module:
        """Write every tensor of `state` into the state_dict entry of that key."""
        return self._queue(Load(self._handle, state))

    def to(self, dtype: torch.dtype | None = None, device: str | None = None) -> Module:
        """Move the module to a dtype, a device, or both."""
        name = None if dtype is None else DTYPE_NAMES[dtype]
        return self._queue(Move(self._handle, name, device))

    def train(self, on: bool = True) -> Module:
        """Switch between training and evaluation."""
        return self._queue(Train(self._handle, on))

    def write_given(self, weight: Tensor) -> Module:
        """Overwrite, in place, the weight of the embedding that the module was given."""
        return self._queue(WriteGiven(self._handle, weight))

    def __call__(
        self,
        *args: object,
        method: str = "",
        seed: int | None = None,
        cotangent: Tensor | None = None,
        keep_inputs: bool = False,
        **kwargs: object,
    ) -> Answer:
        """Call the module, or one of its methods; arguments as for `Component.call`."""
        request, self._pending = self._pending, Request()
        question = Question(self._cls, self._arguments).text(values=False)
        label = f"{question}.{method}" if method else question
        call = Call(method, self._handle, args, kwargs, seed, cotangent, keep_inputs)
        return self._component._ask(request, label, call)

    def state(self) -> State:
        """Fetch the module's state_dict, its parameters and the weight it was given."""
        self._queue(ReadState(self._handle))
        request, self._pending = self._pending, Request()
        reply = self._component._session.perform(request)
        question = Question(self._cls, self._arguments)
        self._component._observe(Answer(reply, question, False))
        if reply.error is not None:
            raise StudentRaised(reply.error, question)
        return State(reply.state, reply.parameters, reply.given)

    def _queue(self, operation: Operation) -> Module:
        self._pending.ops.append(operation)
        return self


@dataclass(frozen=True)
class State:
    """A module's state_dict entries, its parameters, and the weight of a given embedding."""

    entries: dict[str, Tensor]
    parameters: dict[str, Tensor]
    given: Tensor | None
