"""The only way a test touches a component.

`component.call(name, ...)` calls a function, `component.build(name, ...)` makes a module. Both
backends, the student's imported module and the judge's sandbox, stand behind the same `Session`,
so a test cannot tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from autograder.exchange.messages import Reply, Request
from autograder.suite.answer import Answer, Question, StudentRaised


class Session(Protocol):
    """Carries requests to one component. `perform` may raise where the component is gone."""

    def perform(self, request: Request) -> Reply:
        """Perform the operations of `request` and return the reply to the last one."""


class _Options(NamedTuple):
    """What a call asks for beside its arguments."""

    seed: int | None
    cotangent: Tensor | None
    keep_inputs: bool


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
        options = _Options(seed, cotangent, keep_inputs)
        return self._ask(Request(), function, {"name": function}, args, kwargs, options)

    def build(self, cls: str, *args: object, **kwargs: object) -> Module:
        """Build a module. What its constructor raises shows in the module's first answer."""
        self._handles += 1
        return Module(self, self._handles, cls, args, kwargs)

    def _ask(
        self,
        request: Request,
        label: str,
        target: dict[str, Any],
        args: tuple[object, ...],
        kwargs: dict[str, object],
        options: _Options,
    ) -> Answer:
        op = {"op": "call", **target, **_encoded(request, args, kwargs)}
        if options.seed is not None:
            op["seed"] = options.seed
        if options.cotangent is not None:
            op["cotangent"] = request.encode(options.cotangent)["tensor"]
        if options.keep_inputs:
            op["keep_inputs"] = True
        request.ops.append(op)
        reply = self._session.perform(request)
        arguments = (*(("", arg) for arg in args), *kwargs.items())
        answer = Answer(reply, Question(label, arguments), options.cotangent is not None)
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
        self._queue("build", name=cls, **_encoded(self._pending, args, kwargs))

    def load(self, state: dict[str, Tensor]) -> Module:
        """Write every tensor of `state` into the state_dict entry of that key."""
        indices = {key: self._pending.encode(value)["tensor"] for key, value in state.items()}
        return self._queue("load", state=indices)

    def to(self, dtype: torch.dtype | None = None, device: str | None = None) -> Module:
        """Move the module to a dtype, a device, or both."""
        name = None if dtype is None else str(dtype).removeprefix("torch.")
        return self._queue("move", dtype=name, device=device)

    def train(self, on: bool = True) -> Module:
        """Switch between training and evaluation."""
        return self._queue("train", on=on)

    def write_given(self, weight: Tensor) -> Module:
        """Overwrite, in place, the weight of the embedding that the module was given."""
        return self._queue("write_given", tensor=self._pending.encode(weight)["tensor"])

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
        target = {"handle": self._handle, "name": method}
        options = _Options(seed, cotangent, keep_inputs)
        return self._component._ask(request, label, target, args, kwargs, options)

    def state(self) -> State:
        """Fetch the module's state_dict, its parameters and the weight it was given."""
        self._queue("state")
        request, self._pending = self._pending, Request()
        reply = self._component._session.perform(request)
        question = Question(self._cls, self._arguments)
        self._component._observe(Answer(reply, question, False))
        if reply.error is not None:
            raise StudentRaised(reply.error, question)
        return State(reply.state, reply.parameters, reply.given)

    def _queue(self, op: str, **fields: Any) -> Module:
        self._pending.ops.append({"op": op, "handle": self._handle, **fields})
        return self


@dataclass(frozen=True)
class State:
    """A module's state_dict entries, its parameters, and the weight of a given embedding."""

    entries: dict[str, Tensor]
    parameters: dict[str, Tensor]
    given: Tensor | None


def _encoded(
    request: Request, args: tuple[object, ...], kwargs: dict[str, object]
) -> dict[str, Any]:
    return {
        "args": [request.encode(arg) for arg in args],
        "kwargs": {key: request.encode(arg) for key, arg in kwargs.items()},
    }
