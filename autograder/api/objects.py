"""What ordinary tests ask of a component, where the component lives.

A test of plain pytest holds no object of the component's: it holds a number, and asks by it
(`OrdinaryAsk`). What it asks is done here. Values are sent back; any other object stays here,
under a number (`Held`). What the test lends is called back in between: the reply then says what is
asked of the test, and the next requests are answered until one of them (`Resume`) brings the
answer. Objects of the other tests have their numbers here, too.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import copy
import functools
import importlib
import importlib.util
import io
import operator
import os
import random
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePath
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from autograder.api.lazy import loaded, torch
from autograder.api.messages import Reply, Request, StudentError
from autograder.api.operations import OrdinaryAsk, Resume
from autograder.api.values import (
    ABSENT,
    ARRAY_DTYPES,
    MAX_ITEMS,
    MAX_TEXT,
    Array,
    Callback,
    Copier,
    Handle,
    Held,
    Made,
    Named,
    Tracked,
    Unsendable,
    Value,
    is_sendable,
    kind_of,
    name_of_class,
    opaque,
    plain_tensor,
    with_tensors,
)

# The attribute by which what a function of the test raised is known when it comes back.
_OF_TEST = "_number_in_the_test"
# By name: a student's code may put others in their place.
TYPES: Mapping[str, type] = {
    name: cls for name, cls in vars(builtins).items() if isinstance(cls, type)
}
# How many objects of a component one test may hold, and how deep calls may be in calls back.
MAX_OBJECTS = 100_000
MAX_CALLS_BACK = 40
MAX_FILES = 64
# How many causes of an exception are told.
_CAUSES = 3
_WARNINGS = 20
_WORDS = 2000
# The folder in which files of the test lie, below the one that the component runs in.
FILES = "tmp_path"

# Values that are themselves on both sides.
SIMPLE = (type(None), bool, int, float, complex, str, bytes)
# Of these classes, and no other that extends one, are objects that cross as they are.
_COPIED = (
    *SIMPLE,
    *(Decimal, Fraction, date, datetime, time, timedelta, list, tuple, set, frozenset, dict),
    *(collections.OrderedDict, collections.defaultdict, collections.Counter),
)
# What an object's class may extend, and how the value that the builtin class holds is read.
_BUILT_IN: Mapping[type, Callable[[Any], Any]] = {
    str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    bool: bool,
    int: int.__index__,
    float: float.__float__,
    complex: complex.__complex__,
    list: lambda value: list(list.__iter__(value)),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    dict: lambda value: dict(dict.items(value)),
    set: lambda value: set(set.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
}
# Classes of libraries by which a test may know an object, by their dotted names.
PUBLIC_CLASSES = (
    *("torch.nn.Module", "torch.optim.Optimizer", "torch.utils.data.Dataset"),
    *("torch.autograd.Function", "enum.Enum"),
    *("builtins.str", "builtins.bytes", "builtins.int", "builtins.float", "builtins.complex"),
    *("builtins.list", "builtins.tuple", "builtins.dict", "builtins.set", "builtins.frozenset"),
)


def _subclass(name: str, bases: tuple[type, ...], attributes: Mapping[str, Any]) -> type:
    """Make a class of the test's that extends one of the component's; its methods call back."""
    return type(name, bases, dict(attributes))


def _attribute(owner: Any, name: str) -> Any:
    """Return an attribute; of a package also a module in it that nobody has imported yet."""
    try:
        return getattr(owner, name)
    except AttributeError:
        if not isinstance(owner, ModuleType) or not hasattr(owner, "__path__"):
            raise
        inner = f"{owner.__name__}.{name}"
        if importlib.util.find_spec(inner) is None:
            raise
        return importlib.import_module(inner)


def _public_names(thing: Any) -> list[str]:
    return [name for name in dir(thing) if isinstance(name, str)]


# What can be asked. Nothing else is: a verb is no name that is looked up.
VERBS: Mapping[str, Callable[..., Any]] = {
    "call": operator.call,
    "getattr": _attribute,
    "setattr": setattr,
    "delattr": delattr,
    "super": lambda cls, owner, name: getattr(super(cls, owner), name),
    "subclass": _subclass,
    "dir": _public_names,
    "class": type,
    # A module that is named is imported before.
    "import": lambda module: None,
    "enter": lambda manager: type(manager).__enter__(manager),
    "exit": lambda manager, error: type(manager).__exit__(
        manager, None if error is None else type(error), error, None
    ),
    **{
        name: getattr(builtins, name)
        for name in (
            *("iter", "next", "len", "str", "repr", "bool", "float", "int", "complex", "bytes"),
            *("hash", "isinstance", "issubclass", "abs", "round", "divmod", "format", "reversed"),
        )
    },
    **{
        name: getattr(operator, name)
        for name in (
            *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_"),
            *("xor", "lshift", "rshift", "eq", "ne", "lt", "le", "gt", "ge", "getitem", "setitem"),
            *("delitem", "contains", "neg", "pos", "invert", "index", "iadd", "isub", "imul"),
            *("itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor"),
        )
    },
}


def _leaf(numbers: Any, gradient: Any) -> Any:
    made = numbers.requires_grad_()
    made.grad = gradient
    return made


def _parameter(numbers: Any, gradient: Any) -> Any:
    made = torch.nn.Parameter(numbers)
    made.grad = gradient
    return made


def _module(cls: type, state: Mapping[str, Any]) -> Any:
    """Make a module of torch's again: its own attributes, its tensors, the modules in it."""
    make: Any = cls
    module = make.__new__(make)
    torch.nn.Module.__init__(module)
    for name, value in state["attributes"].items():
        object.__setattr__(module, name, value)
    for name, tensor, trained in state["parameters"]:
        value = None if tensor is None else torch.nn.Parameter(tensor, requires_grad=trained)
        module.register_parameter(name, value)
    for name, tensor in state["buffers"].items():
        module.register_buffer(name, tensor)
    for name, inner in state["modules"].items():
        module.add_module(name, inner)
    return module


def _numpy_rng(state: Mapping[str, Any]) -> np.random.Generator:
    kind = getattr(np.random, state["bit_generator"])
    made = kind()
    made.state = state
    return np.random.Generator(made)


def _torch_rng(state: Any) -> Any:
    return torch.Generator().set_state(state)


def _python_rng(version: int, numbers: Array, gauss: float | None) -> random.Random:
    made = random.Random()  # noqa: S311
    made.setstate((version, tuple(map(int, numbers)), gauss))
    return made


def _embedding(weight: Any) -> Any:
    return torch.nn.Embedding(weight.shape[0], weight.shape[1], _weight=weight.clone())


# A large argument: its number, and at the first time what it is.
LARGE = "large"
# What a test hands over that is made here of values. `Conversation` makes files.
_MAKERS: Mapping[str, Callable[..., Any]] = {
    "range": range,
    "slice": slice,
    "Ellipsis": lambda: Ellipsis,
    "frozenset": frozenset,
    "OrderedDict": collections.OrderedDict,
    "Counter": collections.Counter,
    "defaultdict": collections.defaultdict,
    "deque": collections.deque,
    "property": property,
    "staticmethod": staticmethod,
    "classmethod": classmethod,
    "bytearray": bytearray,
    "itemgetter": operator.itemgetter,
    "attrgetter": operator.attrgetter,
    "methodcaller": operator.methodcaller,
    "partial": lambda function, args, kwargs: functools.partial(function, *args, **kwargs),
    "method": getattr,
    "pattern": re.compile,
    "SimpleNamespace": lambda attributes: SimpleNamespace(**attributes),
    "StringIO": io.StringIO,
    "BytesIO": io.BytesIO,
    "numpy number": lambda array: array[()],
    "numpy dtype": lambda name: ARRAY_DTYPES[name],
    "device": lambda name: torch.device(name),
    "leaf": _leaf,
    "parameter": _parameter,
    "module": _module,
    "numpy rng": _numpy_rng,
    "torch rng": _torch_rng,
    "random rng": _python_rng,
    "embedding": _embedding,
}


class Stop(Exception):
    """Ends a request early, with the error that its reply reports.

    Args:
        error: is reported.
        raised: what the student's code raised, if that is why.
    """

    def __init__(self, error: StudentError, raised: BaseException | None = None) -> None:
        super().__init__(error, raised)
        self.error = error
        self.raised = raised


_UNBUILT = Stop(StudentError("Exception", "build", "the module was not built"))


class ObjectOfTest:
    """An object of the test's: what is done with it is asked of the test."""

    def __init__(self, conversation: Conversation, number: int) -> None:
        object.__setattr__(self, "_asked", (conversation, number))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _ask_back(self, "getattr", name)

    def __setattr__(self, name: str, value: object) -> None:
        _ask_back(self, "setattr", name, value)

    def __hash__(self) -> int:
        return id(self)


def _ask_back(owner: Any, verb: str, *args: Any, **kwargs: Any) -> Any:
    conversation, number = object.__getattribute__(owner, "_asked")
    return conversation.ask_back(number, verb, args, kwargs)


def _asking_back(verb: str) -> Callable[..., Any]:
    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _ask_back(self, verb, *args, **kwargs)

    return ask


# What may be asked of an object of the test's, beside its attributes.
OF_TEST: Mapping[str, str] = {
    f"__{verb}__": verb
    for verb in (
        *("call", "iter", "next", "len", "str", "repr", "bool", "getitem", "setitem", "contains"),
        *("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "truediv", "neg", "enter"),
        *("exit", "float", "int", "index", "abs", "radd", "rsub", "rmul", "rtruediv"),
    )
}
for _name, _verb in OF_TEST.items():
    setattr(ObjectOfTest, _name, _asking_back(_verb))


class Conversation:
    """What one test and the component have of each other.

    Args:
        report: describes an exception of the student's code.
        perform: answers a further request, while the test is asked back.
        module_of: returns a module by its name.
        private: returns a tensor of the test's that nobody else holds.

    Attributes:
        objects: what lives here, by number; of what could not be made, the `Stop` that says why.
    """

    def __init__(
        self,
        report: Callable[[BaseException], StudentError],
        perform: Callable[[Request], Reply],
        module_of: Callable[[str], Any],
        private: Callable[[Any], Any],
    ) -> None:
        self._report = report
        self._perform = perform
        self._module_of = module_of
        self._private = private
        # Sends a reply and waits for the next request; set where a child answers.
        self.exchange: Callable[[Reply], Request] | None = None
        # Whether it tells where a call has left the generators, as the solution does.
        self.tells_draws = False
        self._thread = threading.get_ident()
        self._depth = 0
        # Where files of the test lie. The student's code may go elsewhere later.
        self.folder = Path.cwd() / FILES
        self._files: dict[str, tuple[int, int]] = {}
        self._placed = False
        self.forget()

    def forget(self) -> None:
        """Begin another test: no number means anything any more."""
        self.objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._leaves: dict[int, list[Any]] = {}
        self._tests: dict[int, Any] = {}
        self._known: dict[int, tuple[int, int, int]] = {}
        self._large: dict[int, Value] = {}

    def ask(self, operation: OrdinaryAsk) -> Reply:
        """Do what a test asks; what the student's code raises is a part of the reply."""
        if "draws" in operation.beside:
            set_draws(operation.beside["draws"])
        before = fingerprint() if self.tells_draws else ()
        with (
            _reading(self, operation.beside),
            contextlib.redirect_stdout(_Printed()) as printed,
            warnings.catch_warnings(record=True) as warned,
        ):
            warnings.simplefilter("always")
            reply = self._done(operation)
            if "stdin" in operation.beside and isinstance(sys.stdin, io.StringIO):
                reply.beside["read"] = sys.stdin.tell()
        if warned:
            reply.beside["warnings"] = [self._warned(one) for one in warned[:_WARNINGS]]
        if text := printed.getvalue():
            reply.beside["printed"] = text
        if self.tells_draws and fingerprint() != before:
            reply.beside["drew"] = draws()
        return reply

    def _warned(self, warning: warnings.WarningMessage) -> Value:
        """Return what stands for a warning: its class and its text."""
        return [self._raised(warning.message), str(warning.message)[:_WORDS]]  # type: ignore[arg-type]

    def _done(self, operation: OrdinaryAsk) -> Reply:
        self._write(operation.written)
        given = (*operation.args, *operation.kwargs.values())
        if any(type(value) is Made and value.maker == LARGE for value in given):
            whole = {key: self._whole(value) for key, value in operation.kwargs.items()}
            operation = replace(
                operation, args=tuple(map(self._whole, operation.args)), kwargs=whole
            )
        sources: list[Any] = []
        args = [self.real(value, sources) for value in operation.args]
        kwargs = {key: self.real(value, sources) for key, value in operation.kwargs.items()}
        before = [_marks_of(source) for source in sources]
        versions = {id(x): x._version for x in (*args, *kwargs.values()) if is_tensor(x)}
        try:
            if operation.verb == "backward":
                self._backward(operation.args[0].number, *args)
                result = None
            else:
                result = VERBS[operation.verb](*args, **kwargs)
        except BaseException as error:
            reply = Reply(error=self._report(error), beside={"raised": self._raised(error)})
        else:
            reply = Reply(value=self._packed(operation.verb, result))
            if isinstance(reply.value, Tracked) and reply.value.differentiable:
                self._leaves[reply.value.number] = sources
        reply.beside |= self._learned(operation, args, kwargs, versions)
        written = [
            [place, plain_tensor(source).clone(), _gradient_of(source)]
            for place, (source, marks) in enumerate(zip(sources, before, strict=True))
            if _marks_of(source) != marks
        ]
        if written:
            reply.beside["sources"] = written
        return reply

    def _backward(self, number: int, output: Any, gradient: Any) -> None:
        """Let a gradient flow back; note what arrives at the tensors that the test handed over."""
        leaves = self._leaves.get(number, [])
        own = [leaf.grad for leaf in leaves]
        for leaf in leaves:
            leaf.grad = None
        torch.autograd.backward(output, gradient.to(output.dtype), retain_graph=True)
        self._flowed = [_gradient_of(leaf) for leaf in leaves]
        for leaf, before in zip(leaves, own, strict=True):
            leaf.grad = before

    def _packed(self, verb: str, result: Any) -> Value:
        """Return what stands for an answer; what an attribute holds stays here, too."""
        packed = self.pack(result)
        if verb == "getattr" and type(result) in (list, dict, set):
            return Tracked(self.keep(result), packed)
        return packed

    def _whole(self, value: Value) -> Value:
        """Return a large argument, which is sent once: later it comes as its number alone."""
        if type(value) is not Made or value.maker != LARGE:
            return value
        number, *sent = value.parts
        if sent:
            # Where both sides are one process, the test goes on to change its own.
            self._large[number] = copy.deepcopy(sent[0])
        # What the call does to it is not seen by the next.
        return with_tensors(self._large[number], lambda tensor: tensor.clone())

    def _learned(
        self,
        operation: OrdinaryAsk,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        versions: Mapping[int, int],
    ) -> dict[str, Value]:
        """Return what else a test learns: changed arguments, gradients, parameters and files."""
        found: dict[str, Value] = {}
        pairs = [
            *((i, value, args[i]) for i, value in enumerate(operation.args)),
            *((key, value, kwargs[key]) for key, value in operation.kwargs.items()),
        ]
        changed = [
            [key, self.pack(now)]
            for key, value, now in pairs
            if _is_changed(value, now, versions.get(id(now), 0))
        ]
        if changed:
            found["changed"] = changed
        if operation.verb == "backward":
            found["gradients"] = self._flowed
        if refreshed := self._refreshed():
            found["refreshed"] = refreshed
        if self._placed and (files := self._written_files()):
            found["files"] = files
        return found

    # What the test hands over.

    def real(self, value: Value, sources: list[Any]) -> Any:
        """Return what stands behind a value of the test's.

        Args:
            value: the value.
            sources: gets the tensors that gradients flow back to.
        """
        kind = type(value)
        if kind in SIMPLE:
            return value
        if isinstance(value, torch.Tensor):
            return self._private(value)
        if kind is Handle:
            return self.object_of(value.number)
        if kind is Named:
            return named(value.path, self._module_of)
        if kind is Callback:
            return self._of_test(value)
        if kind is Made:
            return self._make(value, sources)
        if kind is set:
            return {self.real(item, sources) for item in value}
        if kind is dict:
            return {self.real(k, sources): self.real(v, sources) for k, v in value.items()}
        if isinstance(value, np.ndarray):
            return value.copy()
        if isinstance(value, PurePath):
            return Path(value)
        container = kind_of(value, also=True)
        items = container.items(value)
        if items is None:
            return value
        return container.remade(value, [self.real(item, sources) for item in items])

    def object_of(self, number: int) -> Any:
        """Return an object.

        Raises:
            Stop: it could not be made, which is the answer to every question about it.
        """
        found = self.objects.get(number, _UNBUILT)
        if type(found) is Stop:
            raise Stop(*found.args)
        return found

    def _make(self, value: Made, sources: list[Any]) -> Any:
        parts = [self.real(part, sources) for part in value.parts]
        if value.maker == "exception":
            return self._error_of_test(*parts)
        if value.maker == "file":
            name, as_text = parts
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            return str(path) if as_text else path
        made = _MAKERS[value.maker](*parts)
        if value.maker in ("leaf", "parameter"):
            sources.append(made)
        return made

    def _of_test(self, value: Callback) -> Any:
        if value.number in self._tests:
            return self._tests[value.number]
        if not value.name:
            found: Any = ObjectOfTest(self, value.number)
        else:

            def found(*args: Any, **kwargs: Any) -> Any:
                return self.ask_back(value.number, "call", args, kwargs)

            found.__name__ = found.__qualname__ = value.name
        self._tests[value.number] = found
        self._numbers[id(found)] = -value.number
        return found

    def ask_back(
        self, number: int, verb: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Ask an object or a function of the test's, and answer further requests meanwhile."""
        if self.exchange is None:
            raise RuntimeError("nobody can be asked here")
        if threading.get_ident() != self._thread:
            raise RuntimeError("a function of the test cannot be called from another thread")
        if self._depth >= MAX_CALLS_BACK:
            raise RecursionError("maximum recursion depth exceeded")
        packed = {key: self.pack(value) for key, value in kwargs.items()}
        back = [number, verb, [self.pack(value) for value in args], packed]
        reply = Reply(beside={"back": back})
        if refreshed := self._refreshed():
            reply.beside["refreshed"] = refreshed
        if isinstance(sys.stdout, _Printed) and (text := sys.stdout.taken()):
            reply.beside["printed"] = text
        self._depth += 1
        try:
            while True:
                request = self.exchange(reply)
                if isinstance(request.ops[-1], Resume):
                    return self._resumed(request.ops[-1])
                reply = self._perform(request)
        finally:
            self._depth -= 1

    def _resumed(self, answer: Resume) -> Any:
        self._write(answer.written)
        if not answer.raised:
            return self.real(answer.value, [])
        raise self._error_of_test(answer.raised, answer.number)

    def _error_of_test(self, name: str, number: int) -> Exception:
        """Return what stands for an exception of the test's: of it only the class is known."""
        cls = getattr(builtins, name, Exception)
        error: Exception = cls() if issubclass(cls, Exception) else Exception()
        vars(error)[_OF_TEST] = number
        return error

    # What the test gets.

    def pack(self, value: object) -> Value:
        """Return what stands for an object: a value, or a number under which it stays here.

        Raises:
            Unsendable: it exceeds a cap.
        """
        return _Packer(self).copy(value)

    def keep(self, value: object) -> int:
        """Return the number of an object; one that it did not have before stays here."""
        number = self._numbers.get(id(value))
        if number is not None:
            return number
        if len(self.objects) >= MAX_OBJECTS:
            raise Unsendable(f"a test holds more than {MAX_OBJECTS} objects")
        number = len(self.objects) + 1
        self.objects[number] = value
        self._numbers[id(value)] = number
        return number

    def number_of_test(self, value: object) -> int:
        """Return the number of an object of the test's; 0 for any other."""
        return max(0, -self._numbers.get(id(value), 0))

    def _raised(self, error: BaseException, depth: int = 0) -> Value:
        """Return what stands for an exception: itself, its arguments and its cause."""
        if number := vars(error).get(_OF_TEST, 0):
            return Callback(number)
        args: list[Value] = []
        with contextlib.suppress(Exception):
            args = [self.pack(arg) for arg in error.args]
        cause = error.__cause__
        known = None if cause is None or depth == _CAUSES else self._raised(cause, depth + 1)
        return [self._held(error), args, known]

    def _held(self, value: object) -> Held:
        found = opaque(value)
        bases = bases_of(self, value if isinstance(value, type) else type(value))
        return Held(found.words, found.name, self.keep(value), ABSENT, bases)

    def track(self, numbers: Any) -> Tracked:
        """Return what stands for an array or a tensor, which stays here, too."""
        number = self.keep(numbers)
        if isinstance(numbers, np.ndarray):
            return Tracked(number, np.array(numbers, copy=True, order="C", subok=False))
        leaf = bool(numbers.requires_grad and numbers.is_leaf)
        if leaf and number not in self._known:
            # One that has a gradient already is told at once.
            self._known[number] = _marks_of(numbers) if numbers.grad is None else (-1, 0, 0)
        copied = plain_tensor(numbers).clone()
        return Tracked(number, copied, bool(numbers.requires_grad), leaf)

    def _refreshed(self) -> list[Value]:
        """Return the parameters that the test has and that are changed here, with gradients."""
        found = []
        for number, before in self._known.items():
            leaf = self.objects[number]
            now = _marks_of(leaf)
            if now != before:
                self._known[number] = now
                found.append([number, plain_tensor(leaf).clone(), _gradient_of(leaf)])
        return found

    def _write(self, written: Sequence[Value]) -> None:
        """Write what the test has written into what came back before."""
        for number, numbers, *gradient in written:
            target = self.objects[number]
            if isinstance(target, np.ndarray):
                target[...] = numbers
                continue
            if isinstance(target, list | dict | set):
                rewrite(target, self.real(numbers, []))
                continue
            with torch.no_grad():
                target.copy_(numbers)
            if gradient:
                target.grad = self.real(gradient[0], [])
            if number in self._known:
                self._known[number] = _marks_of(target)

    # Files of the test.

    def place(self, files: Sequence[Value]) -> None:
        """Write files of the test to their folder."""
        self.folder.mkdir(exist_ok=True)
        self._placed = True
        for name, data in files:
            path = self.folder / name
            if data is None:
                path.mkdir(parents=True, exist_ok=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            self._files[name] = state_of(path)

    def _written_files(self) -> list[Value]:
        """Return the files of that folder that are new or changed: regular ones alone."""
        found: list[Value] = []
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            if path.is_symlink() or not path.is_file() or self._files.get(name) == state_of(path):
                continue
            if path.stat().st_size > 16 * MAX_TEXT or len(found) == MAX_FILES:
                raise Unsendable("it left more files, or larger ones, than are taken")
            self._files[name] = state_of(path)
            found.append([name, path.read_bytes()])
        return found


class _Packer(Copier):
    """Copies what goes to an ordinary test: values as they are, numbers for all other objects."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__()
        self._conversation = conversation

    def copy(self, value: object) -> Value:
        """Copy a value of any kind."""
        self._left -= 1
        if self._left < 0:
            raise Unsendable(f"it has more than {MAX_ITEMS} parts")
        cls, talk = type(value), self._conversation
        if of_test := talk.number_of_test(value):
            return Callback(of_test)
        if isinstance(value, BaseException) and (number := vars(value).get(_OF_TEST)):
            return Callback(number)
        if cls in _COPIED or isinstance(value, (PurePath, np.generic, torch.Size, torch.dtype)):
            return super().copy(value)
        if isinstance(value, range | slice):
            return Made(cls.__name__, (value.start, value.stop, value.step))
        if isinstance(value, np.ndarray) and value.dtype.name in ARRAY_DTYPES:
            return talk.track(value) if value.ndim else super().copy(value)
        if isinstance(value, torch.Tensor) and is_sendable(value):
            is_tracked = value.ndim or value.requires_grad
            return talk.track(value) if is_tracked else super().copy(value)
        if isinstance(value, type) and TYPES.get(name_of_class(value)) is value:
            return Named(f"builtins:{name_of_class(value)}")
        return self._held(value)

    def _held(self, value: Any) -> Held:
        held = self._conversation._held(value)
        base = next((base for base in _BUILT_IN if isinstance(value, base)), None)
        if base is None:
            return held
        # Where the solution answers with the builtin itself, this is its value: as the builtin
        # class holds it, whatever the class that extends it says of it.
        plain = self.copy(_BUILT_IN[base](value))
        return Held(held.words, held.name, held.number, plain, held.bases)


def bases_of(conversation: Conversation, cls: type) -> tuple[Value, ...]:
    """Return what a test may know of a class.

    Of a class of exceptions these are its bases, as the test has its own for each; of any other
    the public classes that it extends.
    """
    if not issubclass(cls, BaseException):
        return tuple(Named(path) for path in PUBLIC_CLASSES if _is_below(cls, path))
    return (_class_of_exceptions(conversation, cls),)


def _class_of_exceptions(conversation: Conversation, cls: type) -> Value:
    """Return what stands for a class of exceptions: its name, its number, and its bases."""
    name = name_of_class(cls)
    if getattr(builtins, name, None) is cls:
        return Named(f"builtins:{name}")
    bases = [base for base in cls.__bases__ if issubclass(base, BaseException)]
    forms = tuple(_class_of_exceptions(conversation, base) for base in bases)
    return Held("a class", "", conversation.keep(cls), name, forms)


def loaded_class(path: str) -> type | None:
    """Return a class of a module that is imported, by its dotted name; None where there is none."""
    module, _, name = path.rpartition(".")
    found: object = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) else None


def _is_below(cls: type, path: str) -> bool:
    base = loaded_class(path)
    return base is not None and issubclass(cls, base)


def named(path: str, module_of: Callable[[str], Any] = importlib.import_module) -> Any:
    """Return a module ("torch.nn"), or what a library calls by a name ("torch.nn:Linear")."""
    module, _, name = path.partition(":")
    return found_in(module_of(module), name)


def found_in(owner: Any, name: str) -> Any:
    """Return what a module or an object has under a dotted name; itself for an empty one.

    Raises:
        Stop: there is none.
    """
    found = owner
    for part in name.split(".") if name else ():
        try:
            found = getattr(found, part)
        except AttributeError:
            of = "" if isinstance(owner, ModuleType) else name_of_class(type(owner))
            raise Stop(StudentError("MissingName", "call", name, key=of)) from None
    return found


def is_tensor(value: object) -> bool:
    """Return whether this is a tensor, where anything uses torch."""
    return loaded() and isinstance(value, torch.Tensor)


def _is_changed(value: Value, now: Any, version: int) -> bool:
    """Return whether an argument that can be changed in place is no longer what it was.

    Args:
        value: what the test handed over.
        now: what became of it.
        version: of a tensor, how often it was written to before.
    """
    if isinstance(value, torch.Tensor):
        return bool(now._version != version)
    if type(value) in (list, dict, set) or isinstance(value, np.ndarray):
        return not _is_same(value, now)
    return False


def _is_same(value: Value, now: Any) -> bool:
    kind = type(value)
    if kind in (list, tuple):
        return type(now) is kind and len(now) == len(value) and all(map(_is_same, value, now))
    if kind is dict:
        return (
            type(now) is dict
            and [*now] == [*value]
            and all(map(_is_same, value.values(), now.values()))
        )
    if isinstance(value, np.ndarray):
        return (
            isinstance(now, np.ndarray)
            and now.dtype == value.dtype
            and now.shape == value.shape
            and now.tobytes() == value.tobytes()
        )
    if isinstance(value, torch.Tensor):
        return is_tensor(now) and torch.equal(value, now)
    if kind in SIMPLE:
        return type(now) is kind and (now == value or (now != now and value != value))
    # What stands for an object is the same object, whatever became of it.
    return kind is not set or (type(now) is set and now == value)


def _gradient_of(leaf: Any) -> Value:
    return None if leaf.grad is None else plain_tensor(leaf.grad).clone()


def _marks_of(leaf: Any) -> tuple[int, int, int]:
    """Return what tells whether a parameter or its gradient was written to."""
    gradient = leaf.grad
    return leaf._version, id(gradient), 0 if gradient is None else gradient._version


def rewrite(target: Any, now: Any) -> None:
    """Change a container in place to what it is now."""
    if isinstance(target, list) and isinstance(now, list):
        target[:] = now
    elif isinstance(target, dict | set) and type(now) is type(target):
        target.clear()
        target.update(now)


# Standard streams, files and generators.


class _Printed(io.StringIO):
    """What is printed, up to the cap."""

    def write(self, text: str) -> int:
        if self.tell() < MAX_TEXT:
            super().write(text[: MAX_TEXT - self.tell()])
        return len(text)

    def prompt(self) -> str:
        """Return the line that was begun last, and take it back."""
        before, newline, line = self.getvalue().rpartition("\n")
        self.seek(len(before + newline))
        self.truncate()
        return line

    def taken(self) -> str:
        """Return what was printed so far, and forget it."""
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text


class _Typed(io.StringIO):
    """Standard input where the test has a function of its own for `input`."""

    def __init__(self, conversation: Conversation, number: int) -> None:
        super().__init__()
        self._asked = conversation, number

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        """Ask the test; what `input` has printed before is its prompt."""
        conversation, number = self._asked
        prompt = sys.stdout.prompt() if isinstance(sys.stdout, _Printed) else ""
        return f"{conversation.ask_back(number, 'call', (prompt,) if prompt else (), {})}\n"


@contextlib.contextmanager
def _reading(conversation: Conversation, beside: Mapping[str, Value]) -> Iterator[None]:
    """Let the student's code read what the test has for it: standard input, and files."""
    before, folder = sys.stdin, Path.cwd()
    if "files" in beside:
        conversation.place(beside["files"])
    if "cwd" in beside:
        os.chdir(conversation.folder / beside["cwd"])
    if "stdin" in beside:
        sys.stdin = io.StringIO(beside["stdin"])
    if "input" in beside:
        sys.stdin = _Typed(conversation, beside["input"].number)
    try:
        yield
    finally:
        sys.stdin = before
        if "cwd" in beside:
            os.chdir(folder)


def state_of(path: Path) -> tuple[int, int]:
    """Return what tells whether a file was written to: when, and its size."""
    state = path.stat()
    return state.st_mtime_ns, state.st_size


def draws() -> list[Value]:
    """Return the state of the generators of `random`, numpy and torch."""
    version, numbers, gauss = random.getstate()
    own: list[Value] = [version, np.array(numbers, dtype=np.uint32), gauss]
    _, keys, *rest = np.random.get_state()
    of_numpy: list[Value] = [np.asarray(keys, dtype=np.uint32), *rest]
    return [own, of_numpy, torch.get_rng_state() if loaded() else None]


def fingerprint() -> tuple[object, ...]:
    """Return what tells two states of the generators apart."""
    _, keys, *rest = np.random.get_state()
    of_torch = bytes(torch.get_rng_state().numpy()) if loaded() else b""
    return random.getstate(), np.asarray(keys).tobytes(), tuple(rest), of_torch


def set_draws(state: Sequence[Value]) -> None:
    """Put the generators into a state that `draws` returned."""
    (version, numbers, gauss), of_numpy, of_torch = state
    random.setstate((version, tuple(map(int, numbers)), gauss))
    np.random.set_state(("MT19937", *of_numpy))
    if of_torch is not None and loaded():
        torch.set_rng_state(of_torch)
