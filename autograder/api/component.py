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
from typing import Protocol, Self

from autograder.api.answer import Answer, CheckFailed, Question, State, arguments_of
from autograder.api.lazy import Tensor, name_of, torch
from autograder.api.messages import Reply, Request
from autograder.api.operations import (
    Build,
    Call,
    Get,
    Load,
    Move,
    Operation,
    ReadState,
    RunProgram,
    Take,
    Train,
    WriteGiven,
)
from autograder.api.values import Handle, Value, mapped


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


# A call that asks for nothing beside its answer.
_PLAIN = Call("")


class Asker:
    """What can be asked of a component, of provided code and of objects."""

    def __init__(self, line: Line) -> None:
        self._line = line
        # What each of its calls asks for.
        self._call = _PLAIN

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
        asked._call = Call("", None, (), {}, seed, cotangent, keep_inputs, cost)
        return asked

    def _put(
        self,
        name: str,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        handle: int | None = None,
        of: Question | None = None,
        *,
        provided: str = "",
        again: bool = False,
        after: str = "",
    ) -> Answer:
        given, named, used = handed(args, kwargs)
        request = self._line.taken(used if handle is None else (handle, *used))
        request.ops.append(
            replace(
                self._call, name=name, handle=handle, args=given, kwargs=named, provided=provided
            )
        )
        question = Question(name, arguments_of(args, kwargs), of, again, after)
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
        if isinstance(value, Object) and value._call is _PLAIN:
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
    _is_module = False

    def __init__(
        self,
        line: Line,
        name: str,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        *,
        provided: str = "",
        of: Object | None = None,
    ) -> None:
        super().__init__(line)
        owner = None if of is None else of.handle
        self.handle = line.handle(owner)
        made_by = None if of is None else of.question
        self.question: Question = Question(name, arguments_of(args, kwargs), made_by)
        self.life = _Life()
        given, named, used = handed(args, kwargs)
        for one in (*args, *kwargs.values()):
            if isinstance(one, Object):
                one.life.users.append(self)
        build = Build(self.handle, name, given, named, self._is_module, owner, provided)
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
        return self._put(method, args, kwargs, self.handle, made, again=again, after=after)

    def _shown(self) -> Question:
        """Return in words what is asked."""
        return self.question

    def make(self, method: str, /, *args: object, **kwargs: object) -> Object:
        """Keep what a method of the object makes, as an iterator or another object."""
        return Object(self._line, method, args, kwargs, of=self)

    def get(self, attribute: str) -> Answer:
        """Read an attribute."""
        return self._ask(Get(self.handle, attribute), Question(attribute, None, self.question))

    def take(self, count: int) -> Answer:
        """Take the next items of an iterator, at most `count`, as a list."""
        words = f"the next {count} of {self!r}"
        return self._ask(Take(self.handle, count), Question(words, None))

    def _ask(self, operation: Operation, question: Question) -> Answer:
        request = self._line.taken([self.handle])
        request.ops.append(operation)
        return self._line.ask(request, question)


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
        return self._queue(Load(self.handle, state))

    def to(self, dtype: torch.dtype | None = None, device: str | None = None) -> Module:
        """Move the module to a dtype, a device, or both."""
        name = None if dtype is None else name_of(dtype)
        return self._queue(Move(self.handle, name, device))

    def train(self, on: bool = True) -> Module:
        """Switch between training and evaluation."""
        self._mode = "train" if on else "eval"
        return self._queue(Train(self.handle, on))

    def write_given(self, weight: Tensor) -> Module:
        """Overwrite, in place, the weight of the embedding that the module was given."""
        return self._queue(WriteGiven(self.handle, weight))

    def state(self) -> State:
        """Fetch the module's state_dict, its parameters and the weight it was given."""
        question = replace(self.question, after=self.life.words())
        return self._ask(ReadState(self.handle), question).state

    def _queue(self, operation: Operation) -> Module:
        self._line.later(self.handle, operation)
        return self


class Component(Asker):
    """One component under test, or code that is provided with it."""

    def __init__(self, session: Session, observe: Callable[[Answer], None]) -> None:
        super().__init__(Line(session, observe))
        self._provided = ""

    def provided(self, module: str) -> Component:
        """Return `provided/<module>.py`, the grader's own copy, to be called like a component."""
        found = copy.copy(self)
        found._provided = module
        return found

    def call(self, function: str, /, *args: object, **kwargs: object) -> Answer:
        """Call a function."""
        return self._put(function, args, kwargs, provided=self._provided)

    def build(self, cls: str, /, *args: object, **kwargs: object) -> Module:
        """Build a module. What its constructor raises shows in the module's first answer."""
        return Module(self._line, cls, args, kwargs, provided=self._provided)

    def make(self, name: str, /, *args: object, **kwargs: object) -> Object:
        """Keep what a class, a class method ("Tokenizer.load") or a function makes.

        What it raises shows in the object's first answer.
        """
        return Object(self._line, name, args, kwargs, provided=self._provided)

    def run(
        self, *arguments: str, stdin: str = "", files: Mapping[str, str | bytes] | None = None
    ) -> Answer:
        """Run the component as a program, in a folder that holds `files`, and wait for its end."""
        given = {
            name: data.encode() if isinstance(data, str) else data
            for name, data in (files or {}).items()
        }
        request = Request([RunProgram(tuple(arguments), stdin, given, self._call.cost)])
        shown = arguments_of(arguments, {"stdin": stdin} if stdin else {})
        return self._line.ask(request, Question("the program", shown))
