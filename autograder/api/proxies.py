"""What an ordinary test holds in the place of a component: modules, objects and functions of it.

A test of plain pytest imports the component, calls it and compares. What it imports is a proxy:
each thing that is done with it is asked of the component (`api/objects.py`), which lives in another
process. What comes back is a value, or another proxy.

The component's side may be hostile, and this side is the judge. Nothing that comes back names an
attribute, a module or a class of this side: values are read by their kinds, classes of exceptions
are made here, and of what the test handed over only the suite's own functions and objects can be
asked, while they are lent.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import importlib.util
import io
import operator
import os
import random
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

import numpy as np

from autograder.api.answer import CheckFailed, Question, arguments_of
from autograder.api.lazy import loaded, torch
from autograder.api.likeness import same_kinds
from autograder.api.messages import Reply, Request, StudentError
from autograder.api.objects import OF_TEST, VERBS, draws, named, rewrite, same_draws, set_draws
from autograder.api.operations import Ask, Reset, Resume
from autograder.api.values import (
    ABSENT,
    ARRAY_DTYPES,
    Callback,
    Handle,
    Held,
    Made,
    Named,
    Opaque,
    Tracked,
    Value,
    leaves,
    mapped,
    plain_tensor,
)

# How deep questions may be within functions of the test that the component calls.
MAX_DEPTH = 40
MAX_LENT = 100_000
# The largest file of the test that is handed over.
MAX_FILE = 16 * 1024 * 1024

# Python's own exceptions that a component may raise here as they are.
_EXCEPTIONS = {
    name: cls
    for name, cls in vars(builtins).items()
    if isinstance(cls, type) and issubclass(cls, Exception)
}
_TYPES = {name: cls for name, cls in vars(builtins).items() if isinstance(cls, type)}
# Modules whose functions and classes are handed over by name; the component has its own.
_LIBRARIES = (
    *("builtins", "math", "cmath", "operator", "functools", "itertools", "statistics", "string"),
    *("collections", "random", "re", "json", "numpy", "torch"),
)
_UNNAMED_MODULES = ("torch", "torch.nn.functional", "numpy", "math", "operator", "builtins")
# What of an object of a library may be asked while it is lent.
_OF_LIBRARY: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("torch.optim.Optimizer", ("step", "zero_grad", "state_dict", "load_state_dict")),
    ("torch.optim.lr_scheduler.LRScheduler", ("step", "state_dict", "load_state_dict")),
)
_REPAIR = "see docs/recipes.md, under Ordinary tests"


class Ended(BaseException):
    """A case is over: the component is gone, or answered what the test is not to see.

    No `except` of a test's catches it, and it counts even if one does.
    """


class CannotCross(TypeError):
    """The test hands something over that cannot be: the sentence says what to do instead."""


@dataclass
class Rights:
    """What the solution was asked and answered: by name, and where its calls left generators."""

    answers: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    # By the number of a question within the criterion: its name, and the state after it.
    moved: Mapping[int, tuple[str, Value]] = field(default_factory=dict)


class Tester:
    """The test's side of a conversation.

    Args:
        perform: answers a request; raises `Ended` where nobody answers any more.
        names: the modules that are the component's, or those of its neighbours.
        folders: where the suite's own files lie.
        rights: what the solution answered; None while it is asked itself.

    Attributes:
        question: the last question, for messages.
        refused: what the component answered that the test was not to see, or why it is over.
        read_draws: fetches the state of the solution's generators; None for anybody else's.
        moved: as in `Rights`, noted while the solution is asked.
        own_folder: the `tmp_path` of the test that runs, where it has one.
        depth: how many functions of the test the component is calling.
    """

    def __init__(
        self,
        perform: Callable[[Request], Reply],
        names: Collection[str],
        folders: Sequence[Path],
        rights: Rights | None,
    ) -> None:
        self._perform = perform
        self.names = names
        self.folders = tuple(str(folder) for folder in folders)
        self._rights = rights
        self.question: Question | None = None
        self.refused: BaseException | None = None
        self.read_draws: Callable[[], Value] | None = None
        self.moved: dict[int, tuple[str, Value]] = {}
        self.own_folder: Path | None = None
        self.depth = 0
        self._asked = 0
        self._drawn: Value = None
        self._lent: dict[int, Any] = {}
        # Those that the test itself has put into something of the component's.
        self._kept: set[int] = set()
        self._numbers: dict[int, int] = {}
        # By number of what is lent, the objects of the component's that have it.
        self._holders: dict[int, set[int]] = {}
        # For each question that is not answered yet: what was lent with it, and what it is about.
        self._open: list[tuple[set[int], set[int]]] = []
        self._proxies: weakref.WeakValueDictionary[int, Proxy] = weakref.WeakValueDictionary()
        self._classes: dict[int, type[BaseException]] = {}
        self._arrays: dict[int, tuple[Any, Any]] = {}
        self._array_numbers: dict[int, int] = {}
        self._coming: dict[int, Any] = {}
        self._files: dict[str, tuple[int, int]] = {}

    # A question.

    def ask(self, verb: str, label: str, *args: object, **kwargs: object) -> Any:
        """Ask the component, and return the answer as the test gets it."""
        if self.refused is not None:
            raise Ended
        if self.depth >= MAX_DEPTH:
            self._end(Ended(f"it called back more than {MAX_DEPTH} deep"))
        lent: set[int] = set()
        sources: list[Any] = []
        beside = self._beside()
        given = tuple(self.hand(arg, lent, sources, beside) for arg in args)
        named_ = {key: self.hand(arg, lent, sources, beside) for key, arg in kwargs.items()}
        about = {value.number for value in (*given, *named_.values()) if type(value) is Handle}
        name = f"{verb} {label}".strip()
        asked = Ask(name, verb, given, named_, tuple(self._written()), beside)
        ops: list[Any] = [asked] if self._asked else [Reset(), asked]
        self._asked += 1
        number = self._asked
        question = self.question
        if verb != "repr":
            # Which pytest asks for its words.
            question = self.question = _question(verb, label, args, kwargs)
        self._open.append((lent, about))
        try:
            reply = self._exchanged(Request(ops), sources)
        finally:
            self._open.pop()
        self.question = question
        self._follow(number, name)
        self._learn(reply, args, kwargs, sources)
        if reply.error is not None:
            raise self._exception(reply.error, reply.beside.get("raised"))
        value = self._checked(name, reply.value)
        self._hold(lent, about, value)
        if verb in ("setattr", "setitem", "subclass"):
            self._kept |= lent
        if isinstance(value, Tracked) and value.differentiable and not value.leaf:
            return self._differentiable(value, sources)
        return self.local(value, label)

    def _hold(self, lent: set[int], about: set[int], value: Value) -> None:
        """Note which objects of the component's have what was lent."""
        if not (lent or self._holders):
            return
        receiving = about | {leaf.number for leaf in leaves(value) if isinstance(leaf, Held)}
        for one in lent:
            self._holders.setdefault(one, set()).update(receiving)
        for holders in self._holders.values():
            # What one of them has, those have that it was handed to.
            if holders & about:
                holders |= receiving

    def _exchanged(self, request: Request, sources: list[Any]) -> Reply:
        """Put a request, and answer what is asked back until the reply is there."""
        reply = self._put(request)
        while "back" in reply.beside:
            self._learn(reply)
            resumed = self._asked_back(reply.beside["back"])
            reply = self._put(Request([resumed]))
        return reply

    def _put(self, request: Request) -> Reply:
        try:
            return self._perform(request)
        except Ended as ended:
            self._end(ended)

    def _end(self, why: BaseException) -> Any:
        self.refused = self.refused or why
        raise Ended(*why.args)

    def _checked(self, name: str, value: Value) -> Value:
        """Return a value where the solution gives one; refuse an object in its place."""
        if self._rights is None:
            return value
        rights = self._rights.answers.get(name, ())
        known = [leaf for right in rights for leaf in leaves(right)]
        if not any(isinstance(leaf, Opaque) for leaf in known):
            value = mapped(value, _plain)
        try:
            same_kinds(value, rights)
        except CheckFailed as failure:
            failure.question = self.question
            self._end(failure)
        return value

    # What else comes with an answer.

    def _follow(self, number: int, name: str) -> None:
        """Put the generators where the solution's same call left them."""
        if self.read_draws is not None:
            after = self.read_draws()
            if not same_draws(after, draws()):
                self.moved[number] = name, after
        moved = self.moved if self._rights is None else self._rights.moved
        if number in moved and moved[number][0] == name:
            set_draws(moved[number][1])
            self._drawn = None

    def _learn(
        self,
        reply: Reply,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] = MappingProxyType({}),
        sources: Sequence[Any] = (),
    ) -> None:
        beside = reply.beside
        if "printed" in beside:
            print(beside["printed"], end="")
        for raised, text in beside.get("warnings", ()):
            self._warn(raised, text)
        for key, now in beside.get("changed", ()):
            there = kwargs.get(key) if isinstance(key, str) else args[key]
            _write_back(there, self.local(now))
        for place, numbers, gradient in beside.get("sources", ()):
            if sources[place].is_leaf:
                _write_back(sources[place], numbers)
                sources[place].grad = gradient
        for number, numbers, gradient in beside.get("refreshed", ()):
            self._refresh(number, numbers, gradient)
        for name, data in beside.get("files", ()):
            self._take_file(name, data)

    def _warn(self, raised: Value, text: Any) -> None:
        found = self._mirrored_of(raised)
        cls = type(found)
        if isinstance(found, Warning) and isinstance(text, str):
            warnings.warn(text if not isinstance(found, _Mirrored) else found, cls, stacklevel=4)

    def _refresh(self, number: int, numbers: Any, gradient: Any) -> None:
        if number in self._arrays:
            there = self._arrays[number][0]
            with torch.no_grad():
                there.copy_(numbers)
            there.grad = gradient
            self._note(number, there)
        else:
            # It comes with this very answer.
            self._coming[number] = gradient

    def _beside(self) -> dict[str, Value]:
        """Return what else the component is told: generators that have moved, standard input."""
        found: dict[str, Value] = {}
        now = draws()
        if self._drawn is None or not same_draws(now, self._drawn):
            # Both sides begin alike.
            if self._asked or self._drawn is not None:
                found["draws"] = now
            self._drawn = now
        if isinstance(sys.stdin, io.StringIO):
            found["stdin"] = sys.stdin.read()
        if builtins.input is not _INPUT:
            found["input"] = self._lend(builtins.input, "input")
        if self.own_folder is not None:
            place = os.getcwd()
            if _is_below(place, str(self.own_folder)):
                found["cwd"] = os.path.relpath(place, self.own_folder)
                found["files"] = self._files_below(self.own_folder)
        return found

    # What the test hands over.

    def hand(
        self, value: object, lent: set[int], sources: list[Any], beside: dict[str, Value]
    ) -> Value:
        """Return what crosses in the place of something of the test's.

        Args:
            value: what the test hands over.
            lent: gets the numbers of functions and objects that the component may ask.
            sources: gets the tensors that gradients flow back to.
            beside: gets the files whose paths are handed over.

        Raises:
            CannotCross: it cannot be handed over.
        """

        def hand(inner: object) -> Value:
            return self.hand(inner, lent, sources, beside)

        cls = type(value)
        if cls in (int, float, str, bool, type(None), bytes, complex):
            return self._path(value, beside) if cls is str else value
        if cls is Proxy:
            return Handle(_held(value).number)
        if cls is ProxyModule:
            return Named(object.__getattribute__(value, "_path"))
        if cls in (list, tuple, set):
            return cls(map(hand, value))  # type: ignore[call-overload]
        if cls is dict:
            return {hand(key): hand(item) for key, item in value.items()}  # type: ignore[attr-defined]
        if isinstance(value, PurePath):
            return self._path(value, beside)
        if id(value) in self._array_numbers:
            return Handle(self._array_numbers[id(value)])
        if isinstance(value, _Mirrored) and value.held is not None:
            return Handle(value.held.number)
        if isinstance(value, BaseException):
            return self._error_for(value)
        made = _made(value, hand, sources)
        if made is not None:
            return made
        name = self._name_of(value)
        number = self._numbers.get(id(value)) or self._number(value)
        lent.add(number)
        return Callback(number, name)

    def _error_for(self, error: BaseException) -> Value:
        """Return what crosses for an exception of the test's: its class, and a number."""
        return Made("exception", (_known_class(error), self._number(error)))

    def _lend(self, value: object, name: str) -> Callback:
        return Callback(self._numbers.get(id(value)) or self._number(value), name)

    def _number(self, value: object) -> int:
        if len(self._lent) >= MAX_LENT:
            raise CannotCross(f"a test lends more than {MAX_LENT} functions and objects")
        number = len(self._lent) + 1
        self._lent[number] = value
        self._numbers[id(value)] = number
        return number

    def _name_of(self, value: object) -> str:
        """Return the name of a function that may be lent; of an object that may be it is empty."""
        if self._is_own_function(value) and not isinstance(value, type):
            return _name_of_function(value)
        if isinstance(value, type) and self._is_own_class(value):
            return ""
        if self._is_own_class(type(value)) or _allowed(value) is not None:
            return ""
        if isinstance(value, Iterator):
            return ""
        if isinstance(value, types.ModuleType) and getattr(value, "__file__", "") is not None:
            owner = "reference" if value.__name__ == "reference" else f"module {value.__name__}"
            raise CannotCross(f"{owner} is handed over: hand over values; {_REPAIR}")
        kind = type(value).__name__
        raise CannotCross(f"an object of {kind} is handed over: {_instead(kind)}; {_REPAIR}")

    def _is_own_function(self, value: object) -> bool:
        """Return whether this is a function or a class whose code stands in the suite's files."""
        if isinstance(value, functools.partial):
            return self._is_own_function(value.func)
        if isinstance(value, types.MethodType):
            return self._is_own_function(value.__func__)
        if isinstance(value, type):
            return self._is_own_class(value)
        code = getattr(value, "__code__", None) if isinstance(value, types.FunctionType) else None
        return code is not None and self.is_own_file(code.co_filename)

    def _is_own_class(self, cls: type) -> bool:
        module = sys.modules.get(cls.__module__)
        file = getattr(module, "__file__", None)
        return isinstance(file, str) and self.is_own_file(file)

    def is_own_file(self, file: str) -> bool:
        """Return whether a file is the suite's."""
        return any(_is_below(file, folder) for folder in self.folders)

    # What the component asks of the test.

    def _asked_back(self, back: Value) -> Resume:
        """Do what the component asks of what the test has lent."""
        try:
            number, verb, args, kwargs = back
            function = self._borrowed(number, verb)
            given = [self.local(arg) for arg in args]
            named_ = {str(key): self.local(arg) for key, arg in kwargs.items()}
        except Ended:
            raise
        except Exception:
            return Resume(raised="TypeError")
        self.depth += 1
        try:
            result = function(*given, **named_)
            lent, sources = self._open[-1][0], []
            value = self.hand(result, lent, sources, {})
        except (Ended, KeyboardInterrupt):
            raise
        except BaseException as error:
            # Its text may hold what was expected: the component hears of the class alone.
            return Resume(raised=_known_class(error), number=self._number(error))
        finally:
            self.depth -= 1
        return Resume(value, written=tuple(self._written()))

    def _borrowed(self, number: object, verb: object) -> Callable[..., Any]:
        """Return what does what is asked of something that is lent now.

        Raises:
            LookupError, TypeError: it is not lent, or is not to be asked this.
        """
        if type(number) is not int or number not in self._lent:
            raise LookupError
        holders = self._holders.get(number, set())
        open_to_it = any(number in lent or about & holders for lent, about in self._open)
        if not open_to_it and number not in self._kept and self._lent[number] is not builtins.input:
            raise LookupError
        owner = self._lent[number]
        if verb == "call":
            if self._is_own_function(owner) or owner is builtins.input:
                return owner  # type: ignore[no-any-return]
            if (names := _allowed(owner)) is not None and "__call__" not in names:
                raise TypeError
            return functools.partial(_special, owner, "__call__")
        if verb in ("getattr", "setattr"):
            return functools.partial(self._attribute, owner, verb)
        if isinstance(owner, Iterator) and not self._is_own_class(type(owner)):
            if verb not in ("next", "iter"):
                raise TypeError
            return functools.partial(next if verb == "next" else iter, owner)
        special = next(name for name, known in OF_TEST.items() if known == verb)
        if not self._is_own_class(type(owner)):
            raise TypeError
        return functools.partial(_special, owner, special)

    def _attribute(self, owner: Any, verb: str, name: object, *value: object) -> Any:
        """Read or write what a class of the suite's, or an instance of it, defines."""
        if type(name) is not str or name.startswith("_"):
            raise AttributeError
        allowed = _allowed(owner)
        if allowed is not None:
            if verb != "getattr" or name not in allowed:
                raise AttributeError
            return _Bound(getattr(owner, name))
        if not self._is_own_class(type(owner)):
            raise AttributeError
        if verb == "setattr":
            setattr(owner, name, *value)
            return None
        own = vars(owner) if hasattr(owner, "__dict__") else {}
        classes = [cls for cls in type(owner).__mro__ if self._is_own_class(cls)]
        if name not in own and not any(name in vars(cls) for cls in classes):
            raise AttributeError(name)
        return getattr(owner, name)

    # What the test gets.

    def local(self, value: Value, label: str = "") -> Any:
        """Return what the test gets for a value that came back."""
        kind = type(value)
        if kind in (int, float, str, bool, type(None), bytes, complex):
            return value
        if kind in (list, tuple, set):
            return kind(self.local(item) for item in value)
        if kind is dict:
            return {self.local(key): self.local(item) for key, item in value.items()}
        if kind is Held:
            return self._object(value, label)
        if kind is Tracked:
            return self._array(value)
        if kind is Named:
            module, _, name = value.path.partition(":")
            return _TYPES.get(name, object) if module == "builtins" else object
        if kind is Made:
            return range(*value.parts[:3]) if value.maker == "range" else None
        if kind is Callback:
            return self._lent.get(value.number)
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return value[()]
        return value

    def _object(self, held: Held, label: str) -> Any:
        if _is_exception(held):
            return self._exception_of(held)
        found = self._proxies.get(held.number)
        if found is None:
            found = object.__new__(Proxy)
            object.__setattr__(found, "_held", held)
            object.__setattr__(found, "_label", label)
            object.__setattr__(found, "_tester", self)
            self._proxies[held.number] = found
        return found

    def _array(self, value: Tracked) -> Any:
        known = self._arrays.get(value.number)
        new = value.numbers
        if isinstance(new, list | dict | set):
            new = self.local(new)
        if known is not None and _fits(known[0], new):
            _write_back(known[0], new)
            self._note(value.number, known[0])
            return known[0]
        if value.leaf:
            new = torch.nn.Parameter(new)
            new.grad = self._coming.pop(value.number, None)
        self._array_numbers[id(new)] = value.number
        self._note(value.number, new)
        return new

    def _differentiable(self, value: Tracked, sources: list[Any]) -> Any:
        """Return a tensor whose gradients are asked of the component."""

        def backward(gradient: Any) -> list[Any]:
            return self._gradients(value.number, gradient)

        return _with_graph(value.numbers, backward, sources)

    def _gradients(self, number: int, gradient: Any) -> list[Any]:
        beside: dict[str, Value] = {}
        asked = Ask(
            *("backward", "backward", (Handle(number), gradient)),
            {},
            tuple(self._written()),
            beside,
        )
        reply = self._put(Request([asked]))
        self._learn(reply)
        if reply.error is not None:
            raise self._exception(reply.error, reply.beside.get("raised"))
        found = reply.beside.get("gradients", [])
        return found if isinstance(found, list) else []

    # Arrays and tensors that came back, which the test may write into.

    def _note(self, number: int, there: Any) -> None:
        if isinstance(there, np.ndarray | list | dict | set):
            self._arrays[number] = there, there.copy()
        else:
            gradient = None if there.grad is None or not there.is_leaf else there.grad.clone()
            self._arrays[number] = there, (plain_tensor(there).clone(), gradient)

    def _written(self) -> Iterator[Value]:
        """Yield what the test has written into what came back, since it was last looked at."""
        for number in list(self._arrays):
            yield from self._written_into(number)
            # Nobody but this table has it any more.
            if sys.getrefcount(self._arrays[number][0]) <= _ALONE:
                there, _ = self._arrays.pop(number)
                self._array_numbers.pop(id(there), None)

    def _written_into(self, number: int) -> Iterator[Value]:
        there, before = self._arrays[number]
        if isinstance(there, np.ndarray):
            if there.tobytes() != before.tobytes():
                self._note(number, there)
                yield [number, there.copy()]
        elif isinstance(there, list | dict | set):
            if not _has_same_items(there, before):
                self._note(number, there)
                yield [number, self.hand(type(there)(there), set(), [], {})]
        else:
            numbers, gradient = before
            now = there.grad if there.is_leaf else None
            if torch.equal(plain_tensor(there), numbers) and _same_gradient(now, gradient):
                return
            self._note(number, there)
            sent = None if now is None else plain_tensor(now).clone()
            yield [number, plain_tensor(there).clone(), *([sent] if there.requires_grad else [])]

    # Exceptions.

    def _exception(self, error: StudentError, raised: Value) -> BaseException:
        """Return what the test sees raised."""
        if type(raised) is Callback:
            own = self._lent.get(raised.number)
            if isinstance(own, BaseException):
                return own
        found = self._mirrored_of(raised)
        if found is None:
            kind = {"NotAttempted": "NotImplementedError", "MissingName": "AttributeError"}
            found = _EXCEPTIONS.get(kind.get(error.kind, error.kind), RuntimeError)(error.text)
        _note_error(found, error)
        return found

    def _mirrored_of(self, raised: Value, depth: int = 0) -> BaseException | None:
        """Return the exception of this side for one that came over; None where none did."""
        if not (isinstance(raised, list) and len(raised) == 3 and isinstance(raised[0], Held)):
            return None
        held, args, cause = raised
        found = self._exception_of(held)
        found.args = tuple(self.local(arg) for arg in args) if isinstance(args, list) else ()
        if cause is not None and depth < MAX_DEPTH:
            found.__cause__ = self._mirrored_of(cause, depth + 1)
        return found

    def _exception_of(self, held: Held) -> BaseException:
        """Return the exception of this side that stands for one of the component's."""
        if held.words == "a class":
            return self.class_of(held)  # type: ignore[return-value]
        cls = self.class_of(held.bases[0])
        found = cls.__new__(cls)
        if isinstance(found, _Mirrored):
            found.held, found.tester = held, self
        return found

    def class_of(self, base: Value) -> type[BaseException]:
        """Return the class of this side for one of exceptions: Python's own, or one made here."""
        if type(base) is Named:
            name = base.path.partition(":")[2]
            if name in _EXCEPTIONS:
                return _EXCEPTIONS[name]
            return _ENDS.get(name, RuntimeError)
        if not isinstance(base, Held):
            return RuntimeError
        own = base.bases[0] if base.plain is ABSENT and base.bases else base
        if own is not base:
            return self.class_of(own)
        if base.number not in self._classes:
            bases = tuple(dict.fromkeys(map(self.class_of, base.bases))) or (Exception,)
            name = base.plain if isinstance(base.plain, str) else ""
            self._classes[base.number] = _mirrored(name or "Error", bases, base, self)
        return self._classes[base.number]

    # Files.

    def _path(self, value: Any, beside: dict[str, Value]) -> Value:
        """Return what crosses for a path: one that lies where the test's files are is a file."""
        text = os.fspath(value)
        as_text = isinstance(value, str)
        if not text or "\n" in text or not os.path.isabs(text):
            return value
        own = self.own_folder
        if own is not None and (_is_below(text, str(own)) or text == str(own)):
            beside["files"] = self._files_below(own)
            return Made("file", (os.path.relpath(text, own), as_text))
        beside_tests = self.is_own_file(text) and not text.endswith(".py")
        if beside_tests and os.path.isfile(text) and not os.path.islink(text):
            name = f"beside_the_test/{os.path.basename(text)}"
            if os.path.getsize(text) > MAX_FILE:
                raise CannotCross(f"{os.path.basename(text)} is larger than {MAX_FILE} bytes")
            beside.setdefault("files", []).append([name, Path(text).read_bytes()])
            return Made("file", (name, as_text))
        return value

    def _files_below(self, folder: Path) -> list[Value]:
        """Return the files of `tmp_path` that are new or changed; folders without data."""
        found: list[Value] = []
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_symlink():
                continue
            if path.is_dir():
                found.append([name, None])
                continue
            state = path.stat().st_mtime_ns, path.stat().st_size
            if self._files.get(name) != state and state[1] <= MAX_FILE:
                self._files[name] = state
                found.append([name, path.read_bytes()])
        return found

    def _take_file(self, name: Any, data: Any) -> None:
        """Write a file that the component left below `tmp_path`: nowhere else."""
        parts = PurePath(name).parts if type(name) is str else ("..",)
        if self.own_folder is None or type(data) is not bytes or not parts:
            return
        if ".." in parts or os.path.isabs(name) or "\0" in name or "beside_the_test" in parts:
            return
        path = self.own_folder.joinpath(*parts)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            real = os.path.realpath(path.parent)
            if path.is_symlink() or not _is_below(real + os.sep, os.path.realpath(self.own_folder)):
                return
            path.write_bytes(data)
            self._files[name] = path.stat().st_mtime_ns, path.stat().st_size


# References that the table and the call itself have.
_ALONE = 2
_INPUT = builtins.input


def rights_of(asked: Sequence[tuple[Request, Reply]]) -> dict[str, list[Value]]:
    """Return by name what was answered to it; questions within calls back are told apart."""
    found: dict[str, list[Value]] = {}
    names: list[str] = []
    for request, reply in asked:
        last = request.ops[-1]
        if isinstance(last, Ask):
            names.append(last.name)
        if "back" in reply.beside or not names:
            continue
        name = names.pop()
        if reply.error is None:
            found.setdefault(name, []).append(reply.value)
    return found


def _known_class(error: BaseException) -> str:
    """Return the name of the nearest class of Python's own that an exception is of."""
    known = (cls.__name__ for cls in type(error).__mro__ if _EXCEPTIONS.get(cls.__name__) is cls)
    return next(known, "Exception")


def _plain(value: Value) -> Value:
    return value.plain if isinstance(value, Held) and value.plain is not ABSENT else value


def _question(
    verb: str, label: str, args: Sequence[object], kwargs: Mapping[str, object]
) -> Question:
    if verb == "call":
        return Question(label, arguments_of(map(_shown, args[1:]), _shown_all(kwargs)))
    if verb in ("getattr", "setattr", "delattr"):
        return Question(label, None)
    return Question(verb, arguments_of(map(_shown, args), {}))


def _shown_all(kwargs: Mapping[str, object]) -> dict[str, object]:
    return {key: _shown(value) for key, value in kwargs.items()}


class Word:
    """Stands in the words of a call for what is shown by its name."""

    def __init__(self, word: str) -> None:
        self._word = word

    def __repr__(self) -> str:
        return self._word


def _shown(value: object) -> object:
    """Return what is shown of an argument; nothing is asked for it."""
    if type(value) is Proxy:
        return Word(_held(value).name or object.__getattribute__(value, "_label") or "an object")
    if isinstance(value, types.FunctionType | types.ModuleType | type):
        return Word(value.__name__)
    if isinstance(value, list | tuple | dict | set) and len(value) > 50:
        return Word(f"{type(value).__name__} of {len(value)}")
    return value


def _is_below(path: str, folder: str) -> bool:
    return os.path.normpath(path).startswith(folder.rstrip(os.sep) + os.sep)


def _allowed(value: object) -> tuple[str, ...] | None:
    """Return what may be asked of an object of a library; None if it is of no such class."""
    for path, names in _OF_LIBRARY:
        module, _, name = path.rpartition(".")
        cls = getattr(sys.modules.get(module), name, None)
        if isinstance(cls, type) and isinstance(value, cls):
            return names
    return ("__call__",) if isinstance(value, _Bound) else None


class _Bound:
    """A method of a library's object that may be called."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._method(*args, **kwargs)


def _special(owner: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(type(owner), name)(owner, *args, **kwargs)


def _name_of_function(value: object) -> str:
    name = getattr(value, "__name__", "")
    return name if isinstance(name, str) and name else "function"


def _instead(kind: str) -> str:
    if "Mock" in kind:
        return "write a small function or class in the test, which can be asked"
    return "hand over the values that are in it"


def _made(value: Any, hand: Callable[[object], Value], sources: list[Any]) -> Value | None:
    """Return what crosses for a value that is made anew there; None for any other object."""
    cls = type(value)
    if loaded() and isinstance(value, torch.Tensor):
        plain = plain_tensor(value)
        if not value.requires_grad:
            return plain
        sources.append(value)
        maker = "parameter" if isinstance(value, torch.nn.Parameter) else "leaf"
        gradient = value.grad if value.is_leaf else None
        known = None if gradient is None else plain_tensor(gradient).clone()
        return Made(maker, (plain.clone(), known))
    if isinstance(value, np.generic) and value.dtype.name in ARRAY_DTYPES:
        return Made("numpy number", (np.asarray(value),))
    if isinstance(value, np.ndarray) and value.dtype.name in ARRAY_DTYPES:
        return np.asarray(value)
    if isinstance(value, np.dtype) and value.name in ARRAY_DTYPES:
        return Made("numpy dtype", (value.name,))
    if cls is range:
        return Made("range", (value.start, value.stop, value.step))
    if cls is slice:
        return Made("slice", tuple(map(hand, (value.start, value.stop, value.step))))
    if value is Ellipsis:
        return Made("Ellipsis")
    if cls is property:
        return Made("property", tuple(map(hand, (value.fget, value.fset, value.fdel))))
    if cls in (staticmethod, classmethod):
        return Made(cls.__name__, (hand(value.__func__),))
    if cls in (frozenset, bytearray):
        return Made(cls.__name__, ([*map(hand, value)] if cls is frozenset else bytes(value),))
    if isinstance(value, io.StringIO | io.BytesIO):
        return Made("StringIO" if isinstance(value, io.StringIO) else "BytesIO", (value.read(),))
    if isinstance(value, io.TextIOBase) and value.readable():
        return Made("StringIO", (value.read(),))
    if isinstance(value, list | tuple | dict | set) and not _is_of_tests(cls):
        return _container(value, hand)
    if isinstance(value, type({}.keys()) | type({}.values()) | type({}.items())):
        return [*map(hand, value)]
    if loaded() and (found := _made_of_torch(value, hand)) is not None:
        return found
    if (found := _rng(value)) is not None:
        return found
    kinds = (type(value).__module__ in ("datetime", "decimal", "fractions"),)
    if any(kinds):
        return value
    return _by_name(value)


def _is_of_tests(cls: type) -> bool:
    return cls.__module__.partition(".")[0] not in ("builtins", "collections", "torch", "typing")


def _container(value: Any, hand: Callable[[object], Value]) -> Value:
    if loaded() and isinstance(value, torch.Size):
        return value
    if isinstance(value, dict):
        return {hand(key): hand(item) for key, item in value.items()}
    kind = next(cls for cls in (list, tuple, set) if isinstance(value, cls))
    return kind(map(hand, value))


def _made_of_torch(value: Any, hand: Callable[[object], Value]) -> Value | None:
    if isinstance(value, torch.dtype):
        return value
    if isinstance(value, torch.device):
        return Made("device", (str(value),))
    if isinstance(value, torch.nn.Module) and type(value).__module__.startswith("torch.nn."):
        return _module_state(value, hand)
    if isinstance(value, torch.utils.data.DataLoader):
        return [hand(batch) for batch in value]
    return None


_OF_MODULES = {"_parameters", "_buffers", "_modules"}


def _module_state(module: Any, hand: Callable[[object], Value]) -> Value:
    cls = type(module)
    attributes = {
        name: hand(value)
        for name, value in vars(module).items()
        if name not in _OF_MODULES and not (name.startswith("_") and not _is_value(value))
    }
    state = {
        "attributes": attributes,
        "parameters": [
            [name, None if p is None else plain_tensor(p), p is None or p.requires_grad]
            for name, p in module._parameters.items()
        ],
        "buffers": {
            name: None if b is None else plain_tensor(b) for name, b in module._buffers.items()
        },
        "modules": {name: hand(inner) for name, inner in module._modules.items()},
    }
    return Made("module", (Named(f"{cls.__module__}:{cls.__qualname__}"), state))


def _is_value(value: object) -> bool:
    return isinstance(value, int | float | str | bool | None | tuple)


def _rng(value: object) -> Value | None:
    """Return a copy of a generator as it stands; the test's own goes on by one draw.

    What the component draws from its copy moves nothing here.
    """
    if isinstance(value, np.random.Generator):
        state = value.bit_generator.state
        value.integers(2**32)
        return Made("numpy rng", (_plain_state(state),))
    if isinstance(value, random.Random):
        version, numbers, gauss = value.getstate()
        value.random()
        return Made("random rng", (version, np.array(numbers, dtype=np.uint32), gauss))
    if loaded() and isinstance(value, torch.Generator):
        kept = value.get_state()
        torch.rand(1, generator=value)
        return Made("torch rng", (kept,))
    return None


def _plain_state(state: Mapping[str, Any]) -> dict[str, Value]:
    return {k: _plain_state(v) if isinstance(v, Mapping) else v for k, v in state.items()}


def _by_name(value: object) -> Value | None:
    """Return the name of a class, function or module of a library; None if it has none."""
    if isinstance(value, types.ModuleType):
        top = value.__name__.partition(".")[0]
        return Named(value.__name__) if top in _LIBRARIES else None
    if isinstance(value, type) and issubclass(value, BaseException):
        known = getattr(builtins, value.__name__, None) is value
        return Named(f"builtins:{value.__name__}") if known else None
    name = getattr(value, "__qualname__", getattr(value, "__name__", None))
    if not isinstance(name, str) or not callable(value):
        return None
    module = getattr(value, "__module__", None)
    owner = getattr(value, "__objclass__", None)
    if owner is not None:
        module = owner.__module__
    places = [module] if isinstance(module, str) else []
    for place in (*places, *_UNNAMED_MODULES):
        if place.partition(".")[0].removeprefix("_") not in _LIBRARIES or place not in sys.modules:
            continue
        for spelled in (name, getattr(value, "__name__", name)):
            path = f"{place}:{spelled}"
            with contextlib.suppress(Exception):
                if named(path) == value:
                    return Named(path)
    return None


def _has_same_items(there: Any, before: Any) -> bool:
    """Return whether a container holds the very objects that it held before."""
    if isinstance(there, set):
        return bool(there == before)
    mine, theirs = ([*x.items()] if isinstance(x, dict) else x for x in (there, before))
    if isinstance(there, dict):
        mine, theirs = ([part for pair in x for part in pair] for x in (mine, theirs))
    return len(mine) == len(theirs) and all(map(operator.is_, mine, theirs))


def _fits(there: Any, new: Any) -> bool:
    if isinstance(there, list | dict | set):
        return type(there) is type(new)
    return type(there) is type(new) and there.shape == new.shape and there.dtype == new.dtype


def _same_gradient(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return bool(torch.equal(one, other))


def _write_back(there: Any, now: Any) -> None:
    """Change in place what the component has changed in place."""
    if isinstance(there, list | dict | set):
        rewrite(there, now)
    elif isinstance(there, np.ndarray) and isinstance(now, np.ndarray):
        if there.shape == now.shape and there.dtype == now.dtype:
            there[...] = now
    elif loaded() and isinstance(there, torch.Tensor) and isinstance(now, torch.Tensor):
        if there.shape == now.shape:
            with torch.no_grad():
                there.copy_(now)


def _with_graph(numbers: Any, backward: Callable[[Any], list[Any]], sources: list[Any]) -> Any:
    """Return a tensor through which gradients flow to the sources, as `backward` computes them."""

    class Remote(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, begin: Any, *given: Any) -> Any:
            return numbers.clone()

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            found = backward(gradient)
            padded = [*found, *[None] * len(sources)][: len(sources)]
            fits = [
                g if isinstance(g, torch.Tensor) and g.shape == source.shape else None
                for g, source in zip(padded, sources, strict=True)
            ]
            return (None, *fits)

    begin = torch.zeros((), requires_grad=True)
    return Remote.apply(begin, *sources)


# Exceptions of the component's own classes.


class _Mirror(type):
    """The class of exceptions' classes that stand for those of a component."""

    _of: Held
    _tester: Tester

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        own = vars(cls).get("_of")
        if own is None:
            # A class that the test derives.
            return super().__call__(*args, **kwargs)
        return cls._tester.ask("call", cls.__name__, _handle(own, cls._tester), *args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        own = vars(cls).get("_of")
        if own is None or name.startswith("__"):
            raise AttributeError(name)
        return cls._tester.ask("getattr", name, _handle(own, cls._tester), name)


class _Mirrored(metaclass=_Mirror):
    """What an exception of a component's own class has beside what Python's have."""

    held: Held | None = None
    tester: Tester | None = None
    error: StudentError | None = None

    def __getattr__(self, name: str) -> Any:
        if self.held is None or self.tester is None or name.startswith("_"):
            raise AttributeError(name)
        return self.tester.ask("getattr", name, _handle(self.held, self.tester), name)

    def __str__(self) -> str:
        return self.error.text if self.error is not None else super().__str__()


def _handle(held: Held, tester: Tester) -> Proxy:
    found = object.__new__(Proxy)
    object.__setattr__(found, "_held", held)
    object.__setattr__(found, "_label", held.name)
    object.__setattr__(found, "_tester", tester)
    return found


def _mirrored(
    name: str, bases: tuple[type[BaseException], ...], held: Held, tester: Tester
) -> type[BaseException]:
    """Make a class of exceptions; what catches pytest's own never catches one."""
    own = [base for base in bases if issubclass(base, _Mirrored)]
    first = () if own else (_Mirrored,)
    spelled = name if name.isidentifier() else "Error"
    body = {"_of": held, "_tester": tester, "__module__": "student"}
    try:
        return _Mirror(spelled, (*first, *bases), body)  # type: ignore[return-value]
    except TypeError:
        return _Mirror(spelled, (*first, bases[0]), body)  # type: ignore[return-value]


# Those that are no `Exception`: what is raised ends a test, and nothing else.
_ENDS: Mapping[str, type[BaseException]] = {
    "SystemExit": type("SystemExit", (SystemExit,), {}),
    "KeyboardInterrupt": type("KeyboardInterrupt", (BaseException,), {}),
    "GeneratorExit": type("GeneratorExit", (BaseException,), {}),
    "BaseException": type("BaseException", (BaseException,), {}),
}


def _is_exception(held: Held) -> bool:
    """Return whether an object is an exception, or a class of exceptions."""
    first = held.bases[0] if held.bases else None
    return isinstance(first, Held) or (type(first) is Named and ":" in first.path)


def _note_error(found: BaseException, error: StudentError) -> None:
    """Keep with an exception what is known of it, for messages."""
    with contextlib.suppress(Exception):
        vars(found)["error"] = error


# Proxies.


def _held(proxy: object) -> Held:
    found: Held = object.__getattribute__(proxy, "_held")
    return found


# What libraries ask of any object to find out what it is; a component is not asked for it.
_UNASKED = (
    *("__wrapped__", "pytestmark", "__test__", "__torch_function__", "__set_name__", "__get__"),
    *("__mro_entries__", "__bases__", "__array__", "__array_interface__", "__array_struct__"),
    *("__array_priority__", "__array_ufunc__", "__array_function__", "__tensor_flatten__"),
    *("__code__", "__func__", "__self__", "__file__", "__path__", "__loader__", "__spec__"),
    *("__dict__", "__slots__", "__reduce__", "__reduce_ex__", "__getstate__", "__deepcopy__"),
    *("__copy__", "__await__", "__aiter__", "__signature__", "__fspath__", "__buffer__"),
    *("__parameters__", "__origin__", "__args__", "__attrs_attrs__", "__dataclass_fields__"),
    *("_mock_name", "_mock_methods", "_fields", "_pytestfixturefunction", "__objclass__", "__length_hint__"),
)


# What any object of Python's has, and a component's object has of its own.
_ASKED = frozenset(("__init__", "__doc__", "__module__"))


class Proxy:
    """An object of the component's: each thing that is done with it is asked there."""

    __slots__ = ("__weakref__", "_held", "_label", "_tester")

    def __new__(cls, *args: Any) -> Any:
        """Make a class that extends one of the component's, as a `class` statement does."""
        name, bases, namespace = args
        return _extended(name, bases, namespace)

    def __init__(self, *args: Any) -> None:
        pass

    @property
    def __class__(self) -> type:
        """A class of this name that is below the public classes that the object's is below."""
        return _stand_in(_held(self))

    def __getattribute__(self, name: str) -> Any:
        if name in _ASKED:
            return _asked(self, "getattr", name, name)
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Any:
        if name in _UNASKED or name.startswith("_pytest"):
            raise AttributeError(name)
        return _asked(self, "getattr", name, name)

    def __setattr__(self, name: str, value: object) -> None:
        _asked(self, "setattr", name, name, value)

    def __delattr__(self, name: str) -> None:
        _asked(self, "delattr", name, name)

    def __call__(self, /, *args: object, **kwargs: object) -> Any:
        label = object.__getattribute__(self, "_label")
        return _asked(self, "call", label, *args, **kwargs)

    def __iter__(self) -> Iterator[Any]:
        found = _asked(self, "iter")
        if type(found) is Proxy:
            return found
        return iter(found)

    def __next__(self) -> Any:
        return _asked(self, "next")

    def __instancecheck__(self, other: object) -> bool:
        if type(other) is not Proxy and not isinstance(other, _Mirrored):
            return False
        return bool(object.__getattribute__(self, "_tester").ask("isinstance", "", other, self))

    def __subclasscheck__(self, other: object) -> bool:
        if type(other) is not Proxy:
            return False
        return bool(object.__getattribute__(self, "_tester").ask("issubclass", "", other, self))

    def __exit__(self, *raised: object) -> Any:
        return _asked(self, "exit", "", raised[1] if len(raised) > 1 else None)

    def __dir__(self) -> list[str]:
        found: list[str] = _asked(self, "dir")
        return found

    def __ipow__(self, other: object) -> Any:
        return _asked(self, "ipow", "", other)


def _asked(proxy: Proxy, verb: str, label: str = "", *args: object, **kwargs: object) -> Any:
    tester: Tester = object.__getattribute__(proxy, "_tester")
    return tester.ask(verb, label, proxy, *args, **kwargs)


_ONE = "len str repr bool float int complex bytes hash abs index neg pos invert enter"
_MORE = (
    "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift eq ne lt le gt ge "
    "getitem setitem delitem contains iadd isub imul itruediv ifloordiv imod imatmul iand ior ixor "
    "round divmod format reversed"
)
_REFLECTED = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift divmod"


def _method(verb: str, reflected: bool = False) -> Callable[..., Any]:
    def method(self: Proxy, *args: object) -> Any:
        tester: Tester = object.__getattribute__(self, "_tester")
        if reflected:
            return tester.ask(verb, "", *args, self)
        return tester.ask(verb, "", self, *args)

    return method


for _verb in (*_ONE.split(), *_MORE.split()):
    setattr(Proxy, f"__{_verb.strip('_')}__", _method(_verb))
for _verb in _REFLECTED.split():
    setattr(Proxy, f"__r{_verb.strip('_')}__", _method(_verb, reflected=True))
assert all(verb in VERBS for verb in (*_ONE.split(), *_MORE.split(), *_REFLECTED.split()))

_STAND_INS: dict[tuple[str, tuple[str, ...]], type] = {}


def _stand_in(held: Held) -> type:
    """Return a class by which the test may know an object, and by its name."""
    paths = tuple(base.path for base in held.bases if type(base) is Named)
    key = held.name, paths
    if key not in _STAND_INS:
        bases = []
        for path in paths:
            module, _, name = path.rpartition(".")
            found = getattr(sys.modules.get(module), name, None)
            if isinstance(found, type):
                bases.append(found)
        name = held.name or ("type" if held.words == "a class" else "object")
        with contextlib.suppress(TypeError):
            _STAND_INS[key] = type(name, tuple(bases), {"__module__": "student"})
        _STAND_INS.setdefault(key, type(name, (), {"__module__": "student"}))
    return _STAND_INS[key]


def _extended(name: str, bases: Sequence[Any], namespace: Mapping[str, Any]) -> Any:
    """Make a class of the test's in the component's process; its functions stay the test's."""
    base = next(base for base in bases if type(base) is Proxy)
    tester: Tester = object.__getattribute__(base, "_tester")
    kept = {}
    for key, value in namespace.items():
        if key in ("__classcell__", "__module__", "__qualname__", "__doc__", "__firstlineno__"):
            continue
        kept[key] = value
    # The class has what it was given as long as it is asked.
    made = tester.ask("subclass", name, name, tuple(bases), kept)
    if "__classcell__" in namespace:
        namespace["__classcell__"].cell_contents = made
    return made


class _Super:
    """What `super()` is in a class of the test's that extends a component's."""

    def __init__(self, cls: Proxy, owner: object) -> None:
        self._cls, self._owner = cls, owner

    def __getattribute__(self, name: str) -> Any:
        cls = object.__getattribute__(self, "_cls")
        owner = object.__getattribute__(self, "_owner")
        return _asked_super(cls, owner, name)


def _asked_super(cls: Proxy, owner: object, name: str) -> Any:
    tester: Tester = object.__getattribute__(cls, "_tester")
    return tester.ask("super", name, cls, owner, name)


def _super(*args: Any) -> Any:
    frame = sys._getframe(1)
    cls = args[0] if args else frame.f_locals["__class__"]
    owner = args[1] if len(args) > 1 else frame.f_locals[frame.f_code.co_varnames[0]]
    return _Super(cls, owner) if type(cls) is Proxy else super(cls, owner)


class _KindOfTypes(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and type(args[0]) is Proxy:
            return _asked(args[0], "class")
        return type(*args, **kwargs) if cls is TypeOfSuite else super().__call__(*args, **kwargs)

    def __instancecheck__(cls, other: object) -> bool:
        return isinstance(other, type) or (type(other) is Proxy and _held(other).words == "a class")


class TypeOfSuite(type, metaclass=_KindOfTypes):
    """What `type` is to the suite's files: it knows the class of a component's object."""


# Modules.


class ProxyModule(types.ModuleType):
    """A module of the component's, as the suite's files import it."""

    def __init__(self, path: str, tester: Tester) -> None:
        super().__init__(path)
        object.__setattr__(self, "_path", path)
        object.__setattr__(self, "_tester", tester)
        object.__setattr__(self, "__path__", [])

    def __getattr__(self, name: str) -> Any:
        tester: Tester = object.__getattribute__(self, "_tester")
        if name == "__all__":
            return [found for found in tester.ask("dir", "", self) if not found.startswith("_")]
        if name.startswith("__") and name != "__doc__":
            raise AttributeError(name)
        return tester.ask("getattr", name, self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("__") or isinstance(value, types.ModuleType):
            object.__setattr__(self, name, value)
            return
        tester: Tester = object.__getattribute__(self, "_tester")
        tester.ask("setattr", name, self, name, value)


class Imports:
    """Imports for the suite's files: in the place of the component's modules they get proxies.

    Args:
        tester: whose component it is.
        given: further modules for the suite's files, by name.
    """

    def __init__(self, tester: Tester, given: Mapping[str, Any]) -> None:
        self._tester = tester
        self._given = given
        self._modules: dict[str, ProxyModule] = {}
        self._import = builtins.__import__
        self._import_module = importlib.import_module

    @contextlib.contextmanager
    def replaced(self) -> Iterator[None]:
        """Give the suite's files builtins of their own; no other code ever gets a proxy."""
        owners = (importlib.util, importlib._bootstrap)  # type: ignore[attr-defined]
        make = importlib.util.module_from_spec
        self._builtins = {
            **vars(builtins),
            "__import__": self._imported,
            "super": _super,
            "type": TypeOfSuite,
        }

        def made(spec: Any) -> types.ModuleType:
            module = make(spec)
            if spec.origin and self._tester.is_own_file(spec.origin):
                vars(module)["__builtins__"] = self._builtins
            return module

        for owner in owners:
            owner.module_from_spec = made
        importlib.import_module = self._imported_module
        try:
            yield
        finally:
            for owner in owners:
                owner.module_from_spec = make
            importlib.import_module = self._import_module

    def _imported(
        self,
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        if level == 0 and self._is_for_suite(name, globals):
            found = self._module(name)
            return found if fromlist else self._module(name.partition(".")[0])
        return self._import(name, globals, locals, fromlist, level)

    def _imported_module(self, name: str, package: str | None = None) -> Any:
        frame = sys._getframe(1)
        if not name.startswith(".") and self._is_for_suite(name, frame.f_globals):
            return self._module(name)
        return self._import_module(name, package)

    def _is_for_suite(self, name: str, scope: Any) -> bool:
        top = name.partition(".")[0]
        if top not in self._tester.names and top not in self._given:
            return False
        file = (scope or {}).get("__file__")
        return isinstance(file, str) and self._tester.is_own_file(file)

    def _module(self, name: str) -> Any:
        if name in self._given:
            return self._given[name]
        if name not in self._modules:
            top, _, inner = name.partition(".")
            self._modules[name] = ProxyModule(name, self._tester)
            if inner:
                self._tester.ask("import", name, self._modules[name])
                owner, _, last = name.rpartition(".")
                object.__setattr__(self._module(owner), last, self._modules[name])
        return self._modules[name]
