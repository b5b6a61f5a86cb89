"""What a test lends a component: its own functions and objects, and how they may be asked.

What the component's side can make this side execute, it owns. So it can have called only functions
whose code stands in the suite's files, it can ask only what classes in these files define, and only
while the test is asking it: during the call that it was handed over with, or while an object that
has received it is asked.
"""

from __future__ import annotations

import collections
import functools
import sys
import types
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from autograder.api.objects import OF_TEST, loaded_class
from autograder.api.values import Callback, Handle, Held, Value, leaves
from autograder.proxies.files import is_below

MAX_LENT = 100_000
# What of an object of a library may be asked while it is lent.
_OF_LIBRARY: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("torch.optim.Optimizer", ("step", "zero_grad", "state_dict", "load_state_dict")),
    ("torch.optim.lr_scheduler.LRScheduler", ("step", "state_dict", "load_state_dict")),
)
# Methods of the test's own containers that may be handed over. None compares what it is given.
_CONTAINERS = (list, dict, set, collections.deque, collections.defaultdict, collections.Counter)
_OF_CONTAINERS = (
    *("append", "appendleft", "extend", "insert", "pop", "add", "update", "get", "setdefault"),
    *("__getitem__", "__setitem__"),
)
_REPAIR = "see docs/recipes.md, under Ordinary tests"


class CannotCross(TypeError):
    """The test hands something over that cannot be: the sentence says what to do instead."""


class Loans:
    """The functions and objects that a test has lent.

    Args:
        folders: where the suite's own files lie.
        is_object: whether something is an object of the component's.
        criterion: whose test lends; a number of one means nothing in another.
    """

    def __init__(
        self, folders: Sequence[Path], criterion: str, is_object: Callable[[object], bool]
    ) -> None:
        self._is_object = is_object
        self._first = zlib.crc32(criterion.encode()) << 20
        self._folders = tuple(str(folder) for folder in folders)
        self._lent: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        # Those that the test itself has put into something of the component's.
        self._put: set[int] = set()
        # By number of what is lent, the objects of the component's that have it.
        self._holders: dict[int, set[int]] = {}
        # For each question that is not answered yet: what was lent with it, and what it is about.
        self._open: list[tuple[set[int], set[int]]] = []

    def is_own_file(self, file: str) -> bool:
        """Return whether a file is the suite's."""
        return any(is_below(file, folder) for folder in self._folders)

    # Lending.

    def lend(self, value: object) -> Callback:
        """Return what crosses for something that is lent.

        Raises:
            CannotCross: it cannot be lent.
        """
        return Callback(self.number(value), self._name_of(value))

    def number(self, value: object) -> int:
        """Return the number of an object of the test's."""
        known = self._numbers.get(id(value))
        if known is not None:
            return known
        if len(self._lent) >= MAX_LENT:
            raise CannotCross(f"a test lends more than {MAX_LENT} functions and objects")
        number = self._first + len(self._lent) + 1
        self._lent[number] = value
        self._numbers[id(value)] = number
        return number

    def get(self, number: object) -> Any:
        """Return what has a number; None if nothing has it."""
        return self._lent.get(number) if type(number) is int else None

    def open(self, given: Sequence[Value]) -> tuple[set[int], set[int]]:
        """Begin a question with these arguments; until it is closed they can be asked."""
        lent, about = set[int](), set[int]()
        for value in given:
            for leaf in leaves(value):
                if type(leaf) is Callback:
                    lent.add(leaf.number)
                elif type(leaf) is Handle:
                    about.add(leaf.number)
        self._open.append((lent, about))
        return self._open[-1]

    def put(self, loan: Callback) -> Callback:
        """Let something that is lent be asked for as long as the test runs."""
        self._put.add(loan.number)
        return loan

    def lend_more(self, value: Value) -> None:
        """Lend what a function of the test returns to the question that had it called."""
        if self._open:
            lent, _ = self._open[-1]
            lent.update(leaf.number for leaf in leaves(value) if type(leaf) is Callback)

    def close(self) -> None:
        """End the last question."""
        self._open.pop()

    def received(self, asked: tuple[set[int], set[int]], value: Value, is_put: bool) -> None:
        """Note who has what was lent with a question, by its answer.

        Args:
            asked: what `open` returned.
            value: the answer.
            is_put: whether the test has put it there itself, by an attribute or an item.
        """
        lent, about = asked
        if is_put:
            self._put |= lent
        if not (lent or self._holders):
            return
        receiving = about | {leaf.number for leaf in leaves(value) if isinstance(leaf, Held)}
        for one in lent:
            self._holders.setdefault(one, set()).update(receiving)
        for holders in self._holders.values():
            # What one of them has, those have that it was handed to.
            if holders & about:
                holders |= receiving

    def _name_of(self, value: object) -> str:
        """Return the name of a function that may be lent; of an object that may be it is empty."""
        if isinstance(value, type) and self._is_own_class(value):
            return ""
        if self._is_own_function(value):
            return getattr(value, "__name__", "") or "function"
        if self._is_own_class(type(value)) or _allowed(value) or isinstance(value, Iterator):
            return ""
        if type(value) is object:
            # By which a test knows something again.
            return ""
        if isinstance(value, types.ModuleType):
            raise CannotCross(f"the module {value.__name__} is handed over: {_REPAIR}")
        kind = type(value).__name__
        raise CannotCross(f"an object of {kind} is handed over: {_instead(kind)}; {_REPAIR}")

    def _is_own_function(self, value: object) -> bool:
        """Return whether this is a function or a class whose code stands in the suite's files."""
        if isinstance(value, functools.partial):
            return self._is_own_function(value.func)
        if isinstance(value, types.MethodType):
            return self._is_own_function(value.__func__)
        if isinstance(value, types.BuiltinMethodType):
            return type(value.__self__) in _CONTAINERS and value.__name__ in _OF_CONTAINERS
        if isinstance(value, type):
            return self._is_own_class(value)
        return isinstance(value, types.FunctionType) and self.is_own_file(
            value.__code__.co_filename
        )

    def _is_own_class(self, cls: type) -> bool:
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        return isinstance(file, str) and self.is_own_file(file)

    # Being asked.

    def borrowed(self, number: object, verb: object) -> Callable[..., Any]:
        """Return what does what is asked of something that is lent now.

        Raises:
            LookupError, TypeError: it is not lent, or is not to be asked this.
        """
        if type(number) is not int or number not in self._lent or not self._is_lent(number):
            raise LookupError
        owner = self._lent[number]
        if verb in ("getattr", "setattr"):
            return functools.partial(self._attribute, owner, verb)
        if verb == "call" and self._is_own_function(owner):
            return owner  # type: ignore[no-any-return]
        if verb == "call" and isinstance(owner, _Method):
            return owner.method
        is_own = self._is_own_class(type(owner))
        if isinstance(owner, Iterator) and not is_own and verb in ("next", "iter"):
            return functools.partial(next if verb == "next" else iter, owner)
        special = next(name for name, known in OF_TEST.items() if known == verb)
        if not is_own:
            raise TypeError
        return functools.partial(getattr(type(owner), special), owner)

    def _is_lent(self, number: int) -> bool:
        holders = self._holders.get(number, set())
        is_open = any(number in lent or about & holders for lent, about in self._open)
        return is_open or number in self._put

    def _attribute(self, owner: Any, verb: str, name: object, *value: object) -> Any:
        """Read or write what a class of the suite's, or an instance of it, defines."""
        if type(name) is not str or name.startswith("_"):
            raise AttributeError
        if verb == "getattr" and name in _allowed(owner):
            return _Method(getattr(owner, name))
        if not self._is_own_class(type(owner)):
            raise AttributeError
        own = vars(owner) if hasattr(owner, "__dict__") else {}
        classes = [cls for cls in type(owner).__mro__ if self._is_own_class(cls)]
        if name not in own and not any(name in vars(cls) for cls in classes):
            raise AttributeError
        if verb == "setattr":
            if any(map(self._is_object, value)):
                raise AttributeError
            setattr(owner, name, *value)
            return None
        return getattr(owner, name)


class _Method:
    """A method of a library's object that may be called."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method


def _allowed(value: object) -> tuple[str, ...]:
    """Return what may be asked of an object of a library."""
    for path, names in _OF_LIBRARY:
        cls = loaded_class(path)
        if cls is not None and isinstance(value, cls):
            return names
    return ("call",) if isinstance(value, _Method) else ()


def _instead(kind: str) -> str:
    if "Mock" in kind:
        return "write a small function or class in the test, which can be asked"
    return "hand over the values that are in it"
