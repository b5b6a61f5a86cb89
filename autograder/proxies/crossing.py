"""What crosses in the place of values of a test that are made again where the component lives."""

from __future__ import annotations

import builtins
import collections
import contextlib
import functools
import hashlib
import io
import operator
import pickle
import random
import re
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.api.lazy import loaded, torch
from autograder.api.objects import LARGE, named
from autograder.api.values import ARRAY_DTYPES, Made, Named, Value, array_of, plain_tensor

Hand = Callable[[object], Value]

# From this size on an argument is not sent twice, and this many are known by their numbers.
_LARGE, _MOST = 20_000, 64
# Containers with fewer items are sent as they are, whatever is in them.
_ITEMS = 100


class LargeArguments:
    """The large arguments that a component has been given: it has each of them already."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def once(self, value: Value) -> Value:
        """Return what crosses for an argument: from the second time on its number."""
        content = _content_of(value)
        if len(content) < _LARGE:
            return value
        digest = hashlib.sha256(content).digest()
        if digest in self._numbers:
            return Made(LARGE, (self._numbers[digest],))
        if len(self._numbers) == _MOST:
            return value
        self._numbers[digest] = len(self._numbers)
        return Made(LARGE, (self._numbers[digest], value))


def _content_of(value: Value) -> bytes:
    """Return what tells a large value from others; nothing of a small one, or one with handles."""
    size = 0
    if isinstance(value, list | tuple | dict | set) and len(value) >= _ITEMS:
        size = _LARGE
    elif isinstance(value, str | bytes):
        size = len(value)
    elif isinstance(value, np.ndarray | torch.Tensor):
        size = value.nbytes
    if size < _LARGE:
        return b""
    if isinstance(value, torch.Tensor):
        about = f"{value.dtype} {tuple(value.shape)} {value.stride()}"
        return about.encode() + array_of(value).tobytes()
    content = pickle.dumps(value)
    # What stands for an object of the test's means something in one call alone.
    return b"" if Made.__module__.encode() in content else content


# Modules whose functions and classes are handed over by name; the component has its own.
_LIBRARIES = (
    *("builtins", "math", "cmath", "operator", "functools", "itertools", "statistics", "string"),
    *("collections", "random", "re", "json", "numpy", "torch"),
)
_UNNAMED_MODULES = ("torch", "torch.nn.functional", "numpy", "math", "operator", "builtins")


def made(value: Any, hand: Hand, sources: list[Any]) -> Value | None:
    """Return what crosses for a value that is made again there; None for any other object."""
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
    if (found := _callable(value, hand)) is not None:
        return found
    if isinstance(value, re.Pattern):
        return Made("pattern", (value.pattern, value.flags))
    if cls is types.SimpleNamespace:
        return Made("SimpleNamespace", ({name: hand(one) for name, one in vars(value).items()},))
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
    if cls in (collections.OrderedDict, collections.Counter):
        return Made(cls.__name__, ({hand(key): hand(item) for key, item in value.items()},))
    if cls is collections.defaultdict:
        items = {hand(key): hand(item) for key, item in value.items()}
        return Made("defaultdict", (hand(value.default_factory), items))
    if cls is collections.deque:
        return Made("deque", ([*map(hand, value)], value.maxlen))
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


# What the methods of these values do is the same on both sides.
_UNCHANGING = (str, bytes, int, float, tuple, frozenset, re.Pattern)


def _callable(value: Any, hand: Hand) -> Value | None:
    """Return what crosses for what the standard library makes to be called."""
    cls = type(value)
    if cls in (operator.itemgetter, operator.attrgetter):
        return Made(cls.__name__, tuple(map(hand, value.__reduce__()[1])))
    if cls is operator.methodcaller:
        maker, parts = value.__reduce__()
        if maker is cls:
            return Made("methodcaller", tuple(map(hand, parts)))
    if cls is functools.partial and isinstance(value.func, type | types.BuiltinFunctionType):
        named = {name: hand(one) for name, one in value.keywords.items()}
        return Made("partial", (hand(value.func), [*map(hand, value.args)], named))
    is_method = isinstance(value, types.BuiltinMethodType | types.MethodWrapperType)
    if is_method and type(value.__self__) in _UNCHANGING:
        return Made("method", (hand(value.__self__), value.__name__))
    return None


def _is_of_tests(cls: type) -> bool:
    return cls.__module__.partition(".")[0] not in ("builtins", "collections", "torch", "typing")


def _container(value: Any, hand: Hand) -> Value:
    if loaded() and isinstance(value, torch.Size):
        return value
    if isinstance(value, dict):
        return {hand(key): hand(item) for key, item in value.items()}
    kind = next(cls for cls in (list, tuple, set) if isinstance(value, cls))
    return kind(map(hand, value))


def _made_of_torch(value: Any, hand: Hand) -> Value | None:
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


def _module_state(module: Any, hand: Hand) -> Value:
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
