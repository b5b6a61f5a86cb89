"""Objects and modules of a component as an ordinary test has them: each thing is asked there."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from autograder.api.objects import PUBLIC_CLASSES, VERBS, loaded_class
from autograder.api.values import Held, Named
from autograder.proxies.mirrors import Mirrored


class Asks(Protocol):
    """The test's side of a conversation, as a proxy needs it."""

    def ask(self, verb: str, label: str, *args: object, **kwargs: object) -> Any:
        """Ask the component, and return the answer as the test gets it."""


# What libraries ask of any object to find out what it is; a component is not asked for it.
_UNASKED = (
    *("__wrapped__", "pytestmark", "__test__", "__torch_function__", "__set_name__", "__get__"),
    *("__mro_entries__", "__bases__", "__array__", "__array_interface__", "__array_struct__"),
    *("__array_priority__", "__array_ufunc__", "__array_function__", "__tensor_flatten__"),
    *("__code__", "__func__", "__self__", "__file__", "__path__", "__loader__", "__spec__"),
    *("__dict__", "__slots__", "__reduce__", "__reduce_ex__", "__getstate__", "__deepcopy__"),
    *("__copy__", "__await__", "__aiter__", "__signature__", "__fspath__", "__buffer__"),
    *("__parameters__", "__origin__", "__args__", "__attrs_attrs__", "__dataclass_fields__"),
    *("_mock_name", "_mock_methods", "_fields", "_pytestfixturefunction", "__objclass__"),
    "__length_hint__",
)


# What any object of Python's has, and a component's object has of its own.
_ASKED = frozenset(("__init__", "__doc__", "__module__"))


def held_by(proxy: object) -> Held:
    """Return what stands for a proxy's object."""
    found: Held = object.__getattribute__(proxy, "_held")
    return found


def label_of(proxy: object) -> str:
    """Return by what name a proxy's object was found."""
    found: str = object.__getattribute__(proxy, "_label")
    return found


def proxy_of(held: Held, label: str, examiner: Asks) -> Proxy:
    """Make the proxy of an object."""
    found = object.__new__(Proxy)
    object.__setattr__(found, "_held", held)
    object.__setattr__(found, "_label", label)
    object.__setattr__(found, "_examiner", examiner)
    return found


def examiner_of(proxy: object) -> Asks:
    """Return who asks for a proxy."""
    found: Asks = object.__getattribute__(proxy, "_examiner")
    return found


def path_of(module: ProxyModule) -> str:
    """Return the name of a proxy's module."""
    found: str = object.__getattribute__(module, "_path")
    return found


class Proxy:
    """An object of the component's: each thing that is done with it is asked there."""

    __slots__ = ("__weakref__", "_examiner", "_held", "_label")

    def __new__(cls, *args: Any) -> Any:
        """Make a class that extends one of the component's, as a `class` statement does."""
        name, bases, namespace = args
        return extended(name, bases, namespace)

    def __init__(self, *args: Any) -> None:
        """Have nothing done: what was made is a class of the component's."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """A class of this name that is below the public classes that the object's is below."""
        return _stand_in(held_by(self))

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
        """Call it there."""
        return _asked(self, "call", label_of(self), *args, **kwargs)

    def __iter__(self) -> Iterator[Any]:
        found = _asked(self, "iter")
        if type(found) is Proxy:
            return found
        return iter(found)

    def __next__(self) -> Any:
        return _asked(self, "next")

    def __instancecheck__(self, other: object) -> bool:
        if type(other) is not Proxy and not isinstance(other, Mirrored):
            return False
        return bool(examiner_of(self).ask("isinstance", "", other, self))

    def __subclasscheck__(self, other: object) -> bool:
        if type(other) is not Proxy:
            return False
        return bool(examiner_of(self).ask("issubclass", "", other, self))

    def __exit__(self, *raised: object) -> Any:
        return _asked(self, "exit", "", raised[1] if len(raised) > 1 else None)

    def __dir__(self) -> list[str]:
        found: list[str] = _asked(self, "dir")
        return found


def _asked(proxy: Proxy, verb: str, label: str = "", *args: object, **kwargs: object) -> Any:
    return examiner_of(proxy).ask(verb, label, proxy, *args, **kwargs)


_ONE = "len str repr bool float int complex bytes hash abs index neg pos invert enter"
_MORE = (
    "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift eq ne lt le gt ge "
    "getitem setitem delitem contains iadd isub imul ipow itruediv ifloordiv imod imatmul iand ior "
    "ixor round divmod format reversed"
)
_REFLECTED = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift divmod"


def _method(verb: str, reflected: bool = False) -> Callable[..., Any]:
    def method(self: Proxy, *args: object) -> Any:
        operands = (*args, self) if reflected else (self, *args)
        return examiner_of(self).ask(verb, "", *operands)

    return method


for _verb in (*_ONE.split(), *_MORE.split()):
    setattr(Proxy, f"__{_verb.strip('_')}__", _method(_verb))
for _verb in _REFLECTED.split():
    setattr(Proxy, f"__r{_verb.strip('_')}__", _method(_verb, reflected=True))
assert all(verb in VERBS for verb in (*_ONE.split(), *_MORE.split(), *_REFLECTED.split()))

_STAND_INS: dict[tuple[str, tuple[str, ...]], type] = {}


def _stand_in(held: Held) -> type:
    """Return a class by which the test may know an object, and by its name."""
    claimed = {base.path for base in held.bases if type(base) is Named}
    # From the list alone: what is claimed names no other class.
    paths = tuple(path for path in PUBLIC_CLASSES if path in claimed)
    key = held.name, paths
    if key not in _STAND_INS:
        bases = [found for path in paths if (found := loaded_class(path)) is not None]
        name = held.name or ("type" if held.words == "a class" else "object")
        with contextlib.suppress(Exception):
            _STAND_INS[key] = types.new_class(name, tuple(bases))
        # Bases that Python does not put together.
        _STAND_INS.setdefault(key, types.new_class(name))
    return _STAND_INS[key]


# What a `class` statement adds by itself.
_OF_STATEMENT = ("__classcell__", "__module__", "__qualname__", "__doc__", "__firstlineno__")


def extended(name: str, bases: Sequence[Any], namespace: Mapping[str, Any]) -> Any:
    """Make a class of the test's in the component's process; its functions stay the test's."""
    base = next(base for base in bases if type(base) is Proxy)
    kept = {key: value for key, value in namespace.items() if key not in _OF_STATEMENT}
    made = examiner_of(base).ask("subclass", name, name, tuple(bases), kept)
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
        return examiner_of(cls).ask("super", name, cls, owner, name)


def super_of_suite(*args: Any) -> Any:
    """Do what `super(...)` does in a suite's file, also in a class that extends a component's."""
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
        return isinstance(other, type) or (
            type(other) is Proxy and held_by(other).words == "a class"
        )


class TypeOfSuite(type, metaclass=_KindOfTypes):
    """What `type` is to the suite's files: it knows the class of a component's object."""


# Modules.


class ProxyModule(types.ModuleType):
    """A module of the component's, as the suite's files import it."""

    def __init__(self, path: str, examiner: Asks) -> None:
        super().__init__(path)
        object.__setattr__(self, "_path", path)
        object.__setattr__(self, "_examiner", examiner)
        object.__setattr__(self, "__path__", [])

    def __getattr__(self, name: str) -> Any:
        examiner = examiner_of(self)
        if name == "__all__":
            return [found for found in examiner.ask("dir", "", self) if not found.startswith("_")]
        if (name.startswith("__") and name != "__doc__") or name in _UNASKED:
            raise AttributeError(name)
        return examiner.ask("getattr", name, self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("__") or isinstance(value, types.ModuleType):
            object.__setattr__(self, name, value)
            return
        examiner_of(self).ask("setattr", name, self, name, value)
