"""Put questions to a component, and remember which call an answer came back from."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from autograder.api.answer import Answer, CheckFailed, Question
from autograder.api.lazy import Tensor
from autograder.api.messages import Reply, Request
from autograder.api.operations import Call
from autograder.api.values import Handle, Value, mapped


class Session(Protocol):
    """Carries requests to one component. `perform` may raise where the component is gone."""

    def perform(self, request: Request) -> Reply:
        """Perform the operations of `request` and return the reply to the last one."""


@dataclass(frozen=True)
class Options:
    """What a question asks for beside its arguments.

    Attributes:
        seed: seeds torch's generator before the call.
        cotangent: a tensor of the output's shape; gradients of (output * cotangent).sum() come back
            with the answer.
        keep_inputs: whether the tensor arguments come back as the call left them.
        cost: whether CPU time and floating-point operations are counted.
    """

    seed: int | None = None
    cotangent: Tensor | None = None
    keep_inputs: bool = False
    cost: bool = False


class Line:
    """What all that belongs to one component under test share."""

    def __init__(self, session: Session, observe: Callable[[Answer], None]) -> None:
        self.session = session
        self.observe = observe
        self.handles: Iterator[int] = itertools.count(1)

    def ask(self, request: Request, question: Question, options: Options | None = None) -> Answer:
        """Put a request and return its answer, remembered as the last one."""
        try:
            reply = self.session.perform(request)
        except CheckFailed as failure:
            failure.question = question
            raise
        answer = Answer(reply, question, options is not None and options.cotangent is not None)
        self.observe(answer)
        return answer


class Asker:
    """What can be asked of a component, of provided code and of objects alike."""

    def __init__(self, line: Line, options: Options) -> None:
        self._line = line
        self._options = options

    def _put(
        self,
        request: Request,
        name: str,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        handle: int | None = None,
        provided: str = "",
        of: Question | None = None,
        again: bool = False,
    ) -> Answer:
        given, named = handed(request, args, kwargs)
        options = self._options
        call = Call(
            name,
            handle,
            given,
            named,
            options.seed,
            options.cotangent,
            options.keep_inputs,
            options.cost,
            provided,
        )
        request.ops.append(call)
        arguments = (*(("", arg) for arg in args), *kwargs.items())
        return self._line.ask(request, Question(name, arguments, of, again), options)


class Kept(Asker):
    """Something that lives beside the component, under a handle.

    Attributes:
        handle: its number.
    """

    handle: int

    def taken(self) -> Request:
        """Take what is still to be done before it can be used."""
        raise NotImplementedError


# What may be an object, or hold one.
_HOLDING = (Asker, list, tuple, dict)


def handed(
    request: Request, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> tuple[tuple[Value, ...], dict[str, Value]]:
    """Put handles in the place of objects, after what is still to be done for them."""
    if not any(isinstance(arg, _HOLDING) for arg in (*args, *kwargs.values())):
        return args, dict(kwargs)

    def hand(value: object) -> Value:
        if isinstance(value, Kept):
            request.ops[:0] = value.taken().ops
            return Handle(value.handle)
        if isinstance(value, Asker):
            raise TypeError("hand over an object itself, without asking(...)")
        return value

    given = tuple(mapped(arg, hand) for arg in args)
    return given, {key: mapped(arg, hand) for key, arg in kwargs.items()}
