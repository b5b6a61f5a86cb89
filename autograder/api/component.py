"""The only way a test touches a component.

`component.call(name, ...)` calls a function, `component.build(name, ...)` makes a module,
`component.make(name, ...)` any object, `component.run(...)` runs a program. Both backends, the
student's imported module and the judge's sandbox, stand behind the same `Session`, so a test
cannot tell them apart. What a test asks for beside a call, as a seed, stands in `asking(...)`:
every argument of a call is the student's.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Protocol, Self

from autograder.api.answer import Answer, CheckFailed, Question, State, arguments_of
from autograder.api.lazy import Tensor, torch
from autograder.api.messages import Reply, Request
from autograder.api.operations import Ask, Operation
from autograder.api.values import Handle, Named, Value, mapped
from autograder.rules.guard import PROVIDED


class Session(Protocol):
    """Carries requests to one component. `perform` may raise where the component is gone."""

    def perform(self, request: Request) -> Reply:
        """Perform the operations of `request` and return the reply to the last one."""


class Line:
    """The session, handles and pending operations that a component and its objects share."""

    def __init__(self, session: Session, observe: Callable[[Answer], None]) -> None:
        self.session = session
        self.observe = observe
        self._numbers: Iterator[int] = itertools.count(1)
        # By handle, the first object in the chain of objects that it was made from.
        self._families: dict[int, int] = {}
        # What is still to be done, in the order of the test, and the families that it is about.
        self._pending: list[tuple[set[int], Operation]] = []

    def handle(self, of: int | None = None) -> int:
        """Return the handle of one more object, made from the object `of` if that is given."""
        handle = next(self._numbers)
        self._families[handle] = handle if of is None else self._families[of]
        return handle

    def later(self, handle: int, operation: Operation, used: Iterable[int] = ()) -> None:
        """Note an operation on an object, which uses others, until something is asked of them."""
        self._pending.append(({self._families[one] for one in (handle, *used)}, operation))

    def taken(self, handles: Iterable[int]) -> Request:
        """Remove and return the pending operations on these objects and all connected ones.

        They stay in the order of the test, so that objects change as they would in plain Python.
        """
        asked = {self._families[handle] for handle in handles}
        grown: set[int] = set()
        while asked != grown:
            grown = set(asked)
            for families, _ in self._pending:
                if families & asked:
                    asked |= families
        found = [operation for families, operation in self._pending if families & asked]
        self._pending = [one for one in self._pending if not one[0] & asked]
        return Request(found)

    def ask(self, request: Request, question: Question) -> Answer:
        """Put a request and return its answer, remembered as the last one."""
        try:
            reply = self.session.perform(request)
        except CheckFailed as failure:
            failure.question = question
            raise
        answer = Answer(reply, question, getattr(request.ops[-1], "cotangent", None) is not None)
        self.observe(answer)
        return answer


class Asker:
    """What can be asked of a component, of provided code and of objects.

    Attributes:
        question: what made it, if anything did.
    """

    question: Question | None = None

    def __init__(self, line: Line, of: Handle | Named) -> None:
        self._line = line
        # What is asked, and what each of its calls asks for beside its answer.
        self._of = of
        self._beside: Mapping[str, Any] = {}

    def asking(
        self,
        *,
        seed: int | None = None,
        cotangent: Tensor | None = None,
        keep_inputs: bool = False,
        cost: bool = False,
    ) -> Self:
        """Return a copy whose calls request more than their answer.

        Args:
            seed: seeds torch's generator before the call.
            cotangent: a tensor of the output's shape; gradients of (output * cotangent).sum() come
                back with the answer.
            keep_inputs: whether the tensor arguments come back as the call left them.
            cost: whether CPU time and floating-point operations are counted.
        """
        asked = copy.copy(self)
        told = {"keep_inputs": keep_inputs, "cost": cost}
        asked._beside = {"seed": seed, "cotangent": cotangent, **told}
        return asked

    def make(self, name: str, /, *args: object, **kwargs: object) -> Object:
        """Keep what a class, a class method ("Tokenizer.load"), a function or a method makes.

        What it raises shows in the object's first answer.
        """
        return Object(self, name, args, kwargs)

    def _put(
        self,
        verb: str,
        name: str,
        question: Question,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] = MappingProxyType({}),
    ) -> Answer:
        given, named, used = handed(args, kwargs)
        request = self._line.taken(
            used if isinstance(self._of, Named) else (self._of.number, *used)
        )
        beside = self._beside if verb in ("call", "run") else {}
        request.ops.append(Ask(name, verb, (self._of, *given), named, **beside))
        return self._line.ask(request, question)


# What may be an object, or hold one.
_HOLDING = (Asker, list, tuple, dict)


def handed(
    args: tuple[object, ...], kwargs: Mapping[str, object]
) -> tuple[tuple[Value, ...], dict[str, Value], list[int]]:
    """Put handles in the place of objects; return the arguments, and the handles."""
    used: list[int] = []
    if not any(isinstance(arg, _HOLDING) for arg in (*args, *kwargs.values())):
        return args, dict(kwargs), used

    def hand(value: object) -> Value:
        if isinstance(value, Object) and not value._beside:
            used.append(value.handle)
            return Handle(value.handle)
        if isinstance(value, Asker):
            raise TypeError("hand over an object itself, without asking(...)")
        return value

    given = tuple(mapped(arg, hand) for arg in args)
    return given, {key: mapped(arg, hand) for key, arg in kwargs.items()}, used


@dataclass
class _Life:
    """What was asked of an object: how many calls, of which method last, and who uses it."""

    calls: int = 0
    last: str = ""
    users: list[Object] = field(default_factory=list)

    def words(self) -> str:
        """Say what was last asked of those that use it."""
        asked = [user for user in self.users if user.life.calls]
        if not asked:
            return ""
        life, made = asked[-1].life, asked[-1].question.text(values=False)
        count = "a call" if life.calls == 1 else f"{life.calls} calls"
        return f"{count} of {made}.{life.last}" if life.last else f"{count} of {made}"


class Object(Asker):
    """An object that lives beside the component, under a handle.

    Attributes:
        handle: its number.
        question: what made it.
        life: what was asked of it; those that `asking` returns share it.
    """

    handle: int
    question: Question
    _is_module = False

    def __init__(
        self, owner: Asker, name: str, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> None:
        line = owner._line
        self.handle = line.handle(owner.handle if isinstance(owner, Object) else None)
        super().__init__(line, Handle(self.handle))
        self.question = Question(name, arguments_of(args, kwargs), owner.question)
        self.life = _Life()
        given, named, used = handed(args, kwargs)
        for one in (*args, *kwargs.values()):
            if isinstance(one, Object):
                one.life.users.append(self)
        given = (owner._of, *given)
        build = Ask(name, "call", given, named, into=self.handle, module=self._is_module)
        line.later(self.handle, build, used)

    def __repr__(self) -> str:
        return self.question.text(values=False)

    def __call__(self, *args: object, **kwargs: object) -> Answer:
        """Call the object itself."""
        return self.call("", *args, **kwargs)

    def call(self, method: str, /, *args: object, **kwargs: object) -> Answer:
        """Call a method of the object."""
        again = self.life.calls > 0
        self.life.calls, self.life.last = self.life.calls + 1, method
        made, after = self._shown(), self.life.words()
        question = Question(method, arguments_of(args, kwargs), made, again, after)
        return self._put("call", method, question, args, kwargs)

    def _shown(self) -> Question:
        """Return in words what is asked."""
        return self.question

    def get(self, attribute: str) -> Answer:
        """Read an attribute."""
        return self._put("get", attribute, Question(attribute, None, self.question))

    def take(self, count: int) -> Answer:
        """Take the next items of an iterator, at most `count`, as a list."""
        return self._put("take", "", Question(f"the next {count} of {self!r}", None), (count,))


class Module(Object):
    """A module built by a component.

    `load`, `to`, `train` and `write_given` take effect with the next question and return the
    module itself, so they can be chained.
    """

    _is_module = True
    _mode = ""

    def _shown(self) -> Question:
        """Return in words what is asked, in the mode that it was put in."""
        return Question(self._mode, (), self.question) if self._mode else self.question

    def load(self, state: dict[str, Tensor]) -> Module:
        """Write every tensor of `state` into the state_dict entry of that key."""
        return self._queue("load", state)

    def to(self, dtype: torch.dtype | None = None, device: str | None = None) -> Module:
        """Move the module to a dtype, a device, or both."""
        return self._queue("to", dtype, device)

    def train(self, on: bool = True) -> Module:
        """Switch between training and evaluation."""
        self._mode = "train" if on else "eval"
        return self._queue("train", on)

    def write_given(self, weight: Tensor) -> Module:
        """Overwrite, in place, the weight of the embedding that the module was given."""
        return self._queue("write_given", weight)

    def state(self) -> State:
        """Fetch the module's state_dict, its parameters and the weight it was given."""
        question = replace(self.question, after=self.life.words())
        return self._put("state", "", question).state

    def _queue(self, verb: str, *args: Value) -> Module:
        self._line.later(self.handle, Ask("", verb, (self._of, *args)))
        return self


class Component(Asker):
    """One component under test, or code that is provided with it."""

    def __init__(self, session: Session, observe: Callable[[Answer], None]) -> None:
        super().__init__(Line(session, observe), Named(""))

    def provided(self, module: str) -> Component:
        """Return `provided/<module>.py`, the grader's own copy, to be called like a component."""
        found = copy.copy(self)
        found._of = Named(f"{PROVIDED}.{module}")
        return found

    def call(self, function: str, /, *args: object, **kwargs: object) -> Answer:
        """Call a function."""
        return self._put(
            "call", function, Question(function, arguments_of(args, kwargs)), args, kwargs
        )

    def build(self, cls: str, /, *args: object, **kwargs: object) -> Module:
        """Build a module. What its constructor raises shows in the module's first answer."""
        return Module(self, cls, args, kwargs)

    def run(
        self, *arguments: str, stdin: str = "", files: Mapping[str, str | bytes] | None = None
    ) -> Answer:
        """Run the component as a program, in a folder that holds `files`, and wait for its end."""
        given = {
            name: data.encode() if isinstance(data, str) else data
            for name, data in (files or {}).items()
        }
        shown = arguments_of(arguments, {"stdin": stdin} if stdin else {})
        return self._put("run", "", Question("the program", shown), (arguments, stdin, given))
