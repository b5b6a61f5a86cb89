"""The test's side of a conversation with a component that lives in another process.

A test of plain pytest imports the component, calls it and compares. What it imports is a proxy:
each thing that is done with it is asked of the component (`api/objects.py`). What comes back is a
value, or another proxy.

The component's side may be hostile, and this side is the judge. Nothing that comes back names an
attribute, a module or a class of this side: values are read by their kinds, classes of exceptions
are made here, and of what the test has lent only the suite's own can be asked (`loans.py`).
"""

from __future__ import annotations

import builtins
import copy
import io
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from autograder.api.answer import CheckFailed, Question, arguments_of
from autograder.api.likeness import same_kinds
from autograder.api.messages import Reply, Request, StudentError
from autograder.api.objects import (
    MAX_CALLS_BACK,
    SIMPLE,
    TYPES,
    draws,
    fingerprint,
    set_draws,
)
from autograder.api.operations import Operation, OrdinaryAsk, Reset, Resume
from autograder.api.values import (
    ABSENT,
    Absent,
    Callback,
    Handle,
    Held,
    Made,
    Named,
    Opaque,
    Tracked,
    Value,
    kind_of,
)
from autograder.proxies.crossing import LargeArguments, made
from autograder.proxies.files import Files
from autograder.proxies.loans import Loans
from autograder.proxies.mirrors import (
    EXCEPTIONS,
    Mirrored,
    Mirrors,
    is_exception,
    known_class,
    number_of,
)
from autograder.proxies.proxy import Proxy, ProxyModule, held_by, label_of, path_of, proxy_of
from autograder.proxies.tracked import TrackedValues, with_graph, write_back

# Of the items of a container that is shown in the words of a call.
_SHOWN_ITEMS = 50
# What the test itself puts into something of the component's stays there.
_PUTTING = ("setattr", "setitem", "subclass")
_INPUT = builtins.input
# What else the solution's values are noted as, beside answers.
_CHANGED, _ARGUMENTS, _BACK = "changed by", "arguments of exceptions", "arguments of calls back"
# What stands for something, and is no value.
_STANDING = (Named, Handle, Callback, Absent)


class Ended(BaseException):
    """A case is over: the component is gone, or answered what the test is not to see.

    No `except` of a test's catches it, and it counts even if one does.
    """


@dataclass
class Rights:
    """What the solution was asked and answered, and where its calls left generators."""

    # By name, the first answer, then one part of each kind that there is in any.
    answers: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    # By the number of a question within the criterion: its name, and the state after it.
    moved: Mapping[int, tuple[str, Value]] = field(default_factory=dict)


class Examiner:
    """The test's side.

    Args:
        perform: answers a request; raises `Ended` where nobody answers any more.
        names: the modules that are the component's, or those of its neighbours.
        folders: where the suite's own files lie.
        own_folder: the folder below which the test's own files lie.
        criterion: whose test it is.
        rights: what the solution answered; None while it is asked itself.

    Attributes:
        question: the last question, for messages.
        refused: what the component answered that the test was not to see, or why it is over.
        moved: as in `Rights`, noted while the solution is asked.
        depth: how many functions of the test the component is calling.
        left_open: whether the component was left in the middle of a call.
    """

    def __init__(
        self,
        perform: Callable[[Request], Reply],
        names: Collection[str],
        folders: Sequence[Path],
        own_folder: Path,
        criterion: str,
        rights: Rights | None,
    ) -> None:
        self._perform = perform
        self.names = names
        self._rights = rights
        self.question: Question | None = None
        self.refused: BaseException | None = None
        self.moved: dict[int, tuple[str, Value]] = {}
        self.depth = 0
        self.left_open = False
        self.loans = Loans(folders, criterion, _is_object)
        self._files = Files(own_folder, self.loans.is_own_file)
        self._mirrors = Mirrors(self.ask)
        self._tracked = TrackedValues(self.local, lambda value: self.hand(value, [], {}))
        self._proxies: weakref.WeakValueDictionary[tuple[int, str], Proxy] = (
            weakref.WeakValueDictionary()
        )
        self._asked = 0
        self._large = LargeArguments()
        # A test may have threads: the component has one, and is asked by one at a time.
        self._alone = threading.RLock()
        # Where the component's generators are, as far as that is known.
        self._drawn: tuple[object, ...] = ()

    def begin(self) -> None:
        """Note where the generators are, which are there on the other side, too."""
        self._drawn = fingerprint()

    def end(self, why: str) -> NoReturn:
        """End the case: it is lost, whatever the test makes of it."""
        self._end(Ended(why))

    # A question.

    def ask(self, verb: str, label: str, *args: object, **kwargs: object) -> Any:
        """Ask the component, and return the answer as the test gets it.

        Args:
            verb: what is asked, one of `objects.VERBS`.
            label: the name of the function or attribute, for messages; empty without one.
            args: what it is asked of, and what it is asked with.
            kwargs: further arguments of a call.

        Raises:
            Ended: nobody answers any more, or the test is not to see the answer.
            CannotCross: the test hands over what cannot be.
            BaseException: what the component's code raised.
        """
        with self._alone:
            return self._ask(verb, label, args, kwargs)

    def _ask(
        self, verb: str, label: str, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> Any:
        if self.refused is not None:
            raise Ended
        if self.depth >= MAX_CALLS_BACK:
            self._end(Ended(f"it calls back more than {MAX_CALLS_BACK} deep"))
        sources: list[Any] = []
        asked = self._operation(verb, label, args, kwargs, sources)
        question = self.question
        if verb != "repr":
            # For this pytest asks when it writes its words.
            question = self.question = _question(verb, label, args, kwargs)
        ops: list[Operation] = [asked] if self._asked else [Reset(), asked]
        self._asked += 1
        number = self._asked
        opened = self.loans.open([*asked.args, *asked.kwargs.values()])
        try:
            reply = self._exchanged(Request(ops))
        finally:
            self.loans.close()
        self.question = question
        self._follow(number, asked.name, reply.beside.get("drew"))
        self._learn(reply, args, kwargs, sources, asked.name)
        if reply.error is not None:
            is_next = verb == "next" or label in ("__next__", "send", "throw", "__anext__")
            raise self._exception(reply.error, reply.beside.get("raised"), is_next)
        is_imported = bool(args) and isinstance(args[0], ProxyModule)
        value = self._checked(asked.name, reply.value, is_imported)
        self.loans.received(opened, value, verb in _PUTTING)
        if isinstance(value, Tracked) and value.differentiable and not value.leaf:
            return self._differentiable(value, sources)
        return self.local(value, _label_of_answer(verb, label))

    def _operation(
        self,
        verb: str,
        label: str,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        sources: list[Any],
    ) -> OrdinaryAsk:
        beside = self._beside()
        given = tuple(self._large.once(self.hand(arg, sources, beside)) for arg in args)
        further = {
            key: self._large.once(self.hand(arg, sources, beside)) for key, arg in kwargs.items()
        }
        owner = label_of(args[0]) if verb != "call" and args and type(args[0]) is Proxy else ""
        name = f"{verb} {label}".strip() + (f" of {owner}" if owner else "")
        written = tuple(self._tracked.written())
        return OrdinaryAsk(name, verb, given, further, written=written, beside=beside)

    def _exchanged(self, request: Request) -> Reply:
        """Put a request, and answer what is asked back until the reply is there."""
        reply = self._put(request)
        try:
            while "back" in reply.beside:
                self._learn(reply)
                reply = self._put(Request([self._asked_back(reply.beside["back"])]))
        except BaseException:
            self.left_open = True
            raise
        return reply

    def _put(self, request: Request) -> Reply:
        try:
            return self._perform(request)
        except Ended as ended:
            self._end(ended)

    def _end(self, why: BaseException) -> NoReturn:
        self.refused = self.refused or why
        # What the test still had to say, as to undo a patch, is said to nobody any more.
        self.left_open = True
        raise Ended(*why.args)

    def _checked(self, name: str, value: Value, is_imported: bool = False) -> Value:
        """Return a value where the solution gives one; refuse an object in its place.

        Args:
            name: what was asked, or what else the value is.
            value: what came.
            is_imported: whether it is what a module of the component's has.
        """
        if self._rights is None:
            return value
        rights = self._rights.answers.get(name, ())
        if is_imported and not rights and isinstance(value, Held):
            # `import *` takes what no test uses. It is looked at when it is asked.
            return value
        known = rights[1:]
        if not any(isinstance(part, Opaque) for part in known):
            value = _without_classes(value)
        parts = [_as_plain_flag(part, known) for part in every_part(value)]
        try:
            is_whole = len(parts) == 1 and parts[0] is value
            same_kinds(value if is_whole else parts, rights)
            if any(isinstance(part, _STANDING) for part in parts) and not any(
                isinstance(part, (*_STANDING, Opaque)) for part in known
            ):
                raise CheckFailed("the result holds something that is no value")
        except CheckFailed as failure:
            failure.question = self.question
            self._end(failure)
        return value

    # What else comes with an answer.

    def _follow(self, number: int, name: str, drew: Value) -> None:
        """Put the generators where the solution's same call left them.

        Args:
            number: of the question.
            name: its name.
            drew: where they were left now; the solution alone is heard.
        """
        if self._rights is None and drew is not None:
            self.moved[number] = name, drew
        moved = self.moved if self._rights is None else self._rights.moved
        if number in moved and moved[number][0] == name:
            set_draws(moved[number][1])
            self._drawn = ()

    def _learn(
        self,
        reply: Reply,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] = MappingProxyType({}),
        sources: Sequence[Any] = (),
        name: str = "",
    ) -> None:
        beside = reply.beside
        if "printed" in beside:
            print(beside["printed"], end="")
        read = beside.get("read")
        if type(read) is int and read >= 0 and isinstance(sys.stdin, io.StringIO):
            sys.stdin.seek(min(sys.stdin.tell() + read, len(sys.stdin.getvalue())))
        for raised, text in beside.get("warnings", ()):
            self._warn(raised, text)
        for key, now in beside.get("changed", ()):
            there = kwargs.get(key) if isinstance(key, str) else args[key]
            write_back(there, self.local(self._checked(f"{_CHANGED} {name}", now)))
        for place, numbers, gradient in beside.get("sources", ()):
            if sources[place].is_leaf:
                write_back(sources[place], numbers)
                sources[place].grad = gradient
        for number, numbers, gradient in beside.get("refreshed", ()):
            self._tracked.refresh(number, numbers, gradient)
        for name, data in beside.get("files", ()):
            self._files.take(name, data)

    def _warn(self, raised: Value, text: Value) -> None:
        found = self._mirrored(raised)
        if isinstance(found, Warning) and isinstance(text, str):
            said = found if isinstance(found, Mirrored) else text
            warnings.warn(said, type(found), stacklevel=4)

    def _beside(self) -> dict[str, Value]:
        """Return what else the component is told: generators that have moved, standard input."""
        found: dict[str, Value] = {}
        now = fingerprint()
        if now != self._drawn:
            found["draws"] = draws()
            self._drawn = now
        if isinstance(sys.stdin, io.StringIO):
            found["stdin"] = sys.stdin.getvalue()[sys.stdin.tell() :]
        if builtins.input is not _INPUT:
            found["input"] = self.loans.put(self.loans.lend(builtins.input))
        self._files.working_folder(found)
        return found

    # What the test hands over.

    def hand(self, value: object, sources: list[Any], beside: dict[str, Value]) -> Value:
        """Return what crosses in the place of something of the test's.

        Args:
            value: what the test hands over.
            sources: gets the tensors that gradients flow back to.
            beside: gets the files whose paths are handed over.

        Raises:
            CannotCross: it cannot be handed over.
        """

        def hand(inner: object) -> Value:
            return self.hand(inner, sources, beside)

        cls = type(value)
        if cls is Proxy:
            return Handle(held_by(value).number)
        if isinstance(value, str | PurePath) and cls.__module__ in ("builtins", "pathlib"):
            return self._files.handed(value, beside)
        if cls in SIMPLE:
            return value
        if isinstance(value, ProxyModule):
            return Named(path_of(value))
        if cls in (list, tuple, set):
            return cls(map(hand, value))  # type: ignore[call-overload]
        if isinstance(value, dict) and cls is dict:
            return {hand(key): hand(item) for key, item in value.items()}
        number = self._tracked.number_of(value)
        if number is None:
            number = number_of(value)
        if number is not None:
            return Handle(number)
        if isinstance(value, BaseException):
            # Of an exception of the test's the component knows the class alone.
            return Made("exception", (known_class(value), self.loans.number(value)))
        found = made(value, hand, sources)
        return self.loans.lend(value) if found is None else found

    # What the component asks of the test.

    def _asked_back(self, back: Value) -> Resume:
        """Do what the component asks of what the test has lent."""
        try:
            number, verb, args, kwargs = back
            function = self.loans.borrowed(number, verb)
            given = [self.local(self._checked(_BACK, arg)) for arg in args]
            further = {str(key): self.local(arg) for key, arg in kwargs.items()}
        except Exception:
            return Resume(raised="TypeError")
        self.depth += 1
        try:
            value = self.hand(function(*given, **further), [], {})
            self.loans.lend_more(value)
            return Resume(value, written=tuple(self._tracked.written()))
        except (Ended, KeyboardInterrupt):
            raise
        except BaseException as error:
            # Its text may hold what was expected: the component hears of the class alone.
            return Resume(raised=known_class(error), number=self.loans.number(error))
        finally:
            self.depth -= 1

    # What the test gets.

    def local(self, value: Value, label: str = "") -> Any:
        """Return what the test gets for a value that came back.

        Args:
            value: the value.
            label: by what name it was found, for messages.
        """
        kind = type(value)
        if kind in SIMPLE:
            return value
        if kind in (list, tuple, set):
            return kind(self.local(item) for item in value)
        if kind is dict:
            return {self.local(key): self.local(item) for key, item in value.items()}
        if kind is Held:
            return self._object(value, label)
        if kind is Tracked:
            return self._tracked.get(value)
        if kind is Named:
            module, _, name = value.path.partition(":")
            return TYPES.get(name, object) if module == "builtins" else object
        if kind is Made:
            kinds: dict[str, Callable[..., object]] = {"range": range, "slice": slice}
            parts = value.parts[:3]
            is_plain = all(type(part) in (int, type(None)) for part in parts)
            # An object in it would decide a comparison.
            return kinds[value.maker](*parts) if value.maker in kinds and is_plain else None
        if kind is Callback:
            return self.loans.get(value.number)
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return value[()]
        return value

    def _object(self, held: Held, label: str) -> Any:
        if is_exception(held):
            is_class = held.words == "a class"
            return self._mirrors.class_of(held) if is_class else self._mirrors.exception(held)
        # One function may have two names, and each is asked by its own.
        key = held.number, label if held.words == "a function" else ""
        found = self._proxies.get(key)
        if found is None:
            found = self._proxies[key] = proxy_of(held, label, self)
        return found

    def _differentiable(self, value: Tracked, sources: list[Any]) -> Any:
        """Return a tensor whose gradients are asked of the component."""

        def backward(gradient: Any) -> list[Any]:
            given = Handle(value.number), gradient
            written = tuple(self._tracked.written())
            asked = OrdinaryAsk("backward", "backward", given, written=written)
            reply = self._exchanged(Request([asked]))
            self._learn(reply)
            if reply.error is not None:
                raise self._exception(reply.error, reply.beside.get("raised"))
            found = reply.beside.get("gradients", [])
            return found if isinstance(found, list) else []

        return with_graph(value.numbers, backward, sources)

    def _exception(
        self, error: StudentError, raised: Value, is_next: bool = False
    ) -> BaseException:
        """Return what the test sees raised."""
        own = self.loans.get(raised.number) if type(raised) is Callback else None
        if isinstance(own, BaseException):
            return own
        found = self._mirrored(raised)
        if found is None:
            kind = {"NotAttempted": "NotImplementedError", "MissingName": "AttributeError"}
            found = EXCEPTIONS.get(kind.get(error.kind, error.kind), RuntimeError)(error.text)
        if isinstance(found, StopIteration) and not is_next:
            # Out of anything else it would end a loop of the test's.
            found = RuntimeError("a call raised StopIteration")
        # For messages: what is known of where it was raised.
        vars(found)["error"] = error
        return found

    def _mirrored(self, raised: Value, depth: int = 0) -> BaseException | None:
        """Return the exception of this side for one that came over; None where none did."""
        if not (isinstance(raised, list) and len(raised) == 3 and isinstance(raised[0], Held)):
            return None
        held, args, cause = raised
        if not is_exception(held):
            return None
        found = self._mirrors.exception(held)
        own = args if isinstance(args, list) else []
        found.args = tuple(self.local(self._checked(_ARGUMENTS, arg)) for arg in own)
        if isinstance(found, SystemExit) and found.args:
            found.code = found.args[0]
        if cause is not None and depth < MAX_CALLS_BACK:
            found.__cause__ = self._mirrored(cause, depth + 1)
        return found


def rights_of(asked: Sequence[tuple[Request, Reply]]) -> dict[str, list[Value]]:
    """Return by name what was answered to it; questions within calls back are told apart."""
    found: dict[str, list[Value]] = {}
    names: list[str] = []
    for request, reply in asked:
        last = request.ops[-1]
        if isinstance(last, OrdinaryAsk):
            names.append(last.name)
        if "back" in reply.beside:
            found.setdefault(_BACK, []).extend(reply.beside["back"][2])
            continue
        if not names:
            continue
        name = names.pop()
        for _, now in reply.beside.get("changed", ()):
            found.setdefault(f"{_CHANGED} {name}", []).append(now)
        raised = reply.beside.get("raised")
        if isinstance(raised, list):
            found.setdefault(_ARGUMENTS, []).extend(raised[1])
        if reply.error is None:
            found.setdefault(name, []).append(reply.value)
    return {name: _in_short(values) for name, values in found.items()}


def _in_short(values: Sequence[Value]) -> list[Value]:
    """Return the first of some values, then one part of each kind that there is in any of them."""
    parts: dict[object, Value] = {}
    for value in values:
        for part in every_part(value):
            parts.setdefault((type(part), kind_of(part).dtype(part)), part)
    return [*values[:1], *parts.values()]


def every_part(value: Value) -> Iterator[Value]:
    """Yield the parts of a value, also keys and what sets hold."""
    if isinstance(value, Tracked):
        yield from every_part(value.numbers)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from every_part(key)
            yield from every_part(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from every_part(item)
    else:
        yield value


def _without_classes(value: Value) -> Value:
    """Return a value with the builtin's own values where a class of the student's extends one."""
    if isinstance(value, Tracked) and isinstance(value.numbers, list | dict | set):
        return replace(value, numbers=_without_classes(value.numbers))
    if isinstance(value, dict):
        return {_without_classes(key): _without_classes(item) for key, item in value.items()}
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(map(_without_classes, value))
    return _plain(value)


def _as_plain_flag(part: Value, known: Sequence[Value]) -> Value:
    """Return one truth value of numpy's as Python's, where a right one is Python's."""
    is_flag = isinstance(part, np.ndarray) and part.ndim == 0 and part.dtype == np.bool_
    return bool(part) if is_flag and any(isinstance(one, bool) for one in known) else part


def _label_of_answer(verb: str, label: str) -> str:
    """Return by what name an answer goes: what a call returns is no function of its name."""
    if verb in ("getattr", "super", "subclass"):
        return label
    return f"{label}()" if verb == "call" else verb


def _is_object(value: object) -> bool:
    return type(value) is Proxy or isinstance(value, Mirrored)


def _plain(value: Value) -> Value:
    """Return the value of the builtin class that an object's class extends, if it does."""
    if isinstance(value, Held) and value.plain is not ABSENT:
        return _without_classes(value.plain)
    return value


# The words of a question. Nothing is asked for them.


class Word:
    """Stands in the words of a call for what is shown by its name."""

    def __init__(self, word: str) -> None:
        self._word = word

    def __repr__(self) -> str:
        return self._word


def _question(
    verb: str, label: str, args: Sequence[object], kwargs: Mapping[str, object]
) -> Question:
    if verb in ("getattr", "setattr", "delattr"):
        return Question(label, None)
    called = verb == "call"
    shown = map(_shown, args[1:] if called else args)
    further = {key: _shown(value) for key, value in kwargs.items()}
    return Question(label if called else verb, arguments_of(shown, further))


def _shown(value: Any) -> object:
    if type(value) is Proxy:
        return Word(held_by(value).name or label_of(value) or "an object")
    if isinstance(value, types.FunctionType | types.ModuleType | type):
        return Word(value.__name__)
    if type(value) in (list, tuple, dict, set):
        long = len(value) > _SHOWN_ITEMS or any(map(_is_deep, _items_of(value)))
        # As it is now: the call may change it.
        return Word(f"{type(value).__name__} of {len(value)}") if long else copy.copy(value)
    return value if isinstance(value, SIMPLE) or _has_numbers(value) else Word("an object")


def _items_of(value: Any) -> Iterator[object]:
    return iter([*value.keys(), *value.values()] if isinstance(value, dict) else value)


def _is_deep(value: object) -> bool:
    return type(value) is Proxy or not isinstance(value, (*SIMPLE, list, tuple))


def _has_numbers(value: object) -> bool:
    return hasattr(value, "shape") and type(value).__module__.partition(".")[0] in (
        "numpy",
        "torch",
    )
