"""The classes of exceptions that stand here for those of a component.

Nothing that the component says names a class of this side: Python's own exceptions are known by
their names, and every other class is made here, with the bases that it has there.
"""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from autograder.api.messages import StudentError
from autograder.api.values import ABSENT, Held, Named, Value

# Asks the component: a verb, a label for messages, what it is about, and with what.
Ask = Callable[..., Any]

# Python's own exceptions that a component may raise here as they are.
EXCEPTIONS: Mapping[str, type[Exception]] = {
    name: cls
    for name, cls in vars(builtins).items()
    if isinstance(cls, type) and issubclass(cls, Exception)
}
# Those that are no `Exception`: what is raised ends a test, and nothing else.
_ENDS: Mapping[str, type[BaseException]] = {
    "SystemExit": type("SystemExit", (SystemExit,), {}),
    "KeyboardInterrupt": type("KeyboardInterrupt", (BaseException,), {}),
    "GeneratorExit": type("GeneratorExit", (BaseException,), {}),
    "BaseException": type("BaseException", (BaseException,), {}),
}


class _Mirror(type):
    """The class of the classes that stand for a component's exceptions."""

    held: Held
    ask: Ask

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make one where the component is; of a class that the test derives, make one here."""
        if "held" in vars(cls):
            return vars(cls)["ask"]("call", cls.__name__, cls, *args, **kwargs)
        return super().__call__(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        if "held" not in vars(cls) or name.startswith("__"):
            raise AttributeError(name)
        return vars(cls)["ask"]("getattr", name, cls, name)


class Mirrored(metaclass=_Mirror):
    """What an exception of a component's own class has beside what Python's have.

    Attributes:
        own: what stands for it; None for one that the test has made.
        ask_own: asks the component about it.
        error: what is known of where it was raised.
    """

    own: Held | None = None
    ask_own: Ask | None = None
    error: StudentError | None = None

    def __getattr__(self, name: str) -> Any:
        if self.own is None or self.ask_own is None or name.startswith("_"):
            raise AttributeError(name)
        return self.ask_own("getattr", name, self, name)

    def __str__(self) -> str:
        return super().__str__() if self.error is None else self.error.text


def number_of(value: object) -> int | None:
    """Return the component's number of a mirrored exception or class; None of anything else."""
    if isinstance(value, _Mirror):
        held = vars(value).get("held")
        return None if held is None else held.number
    return value.own.number if isinstance(value, Mirrored) and value.own is not None else None


class Mirrors:
    """The classes that one test has for a component's classes of exceptions.

    Args:
        ask: asks the component.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._classes: dict[int, type[BaseException]] = {}

    def exception(self, held: Held) -> BaseException:
        """Return what stands here for an exception."""
        cls = self.class_of(held.bases[0])
        found = cls.__new__(cls)
        if isinstance(found, Mirrored):
            found.own, found.ask_own = held, self._ask
        return found

    def class_of(self, form: Value) -> type[BaseException]:
        """Return the class of this side for one of exceptions: Python's own, or one made here."""
        if type(form) is Named:
            name = form.path.partition(":")[2]
            return EXCEPTIONS.get(name) or _ENDS.get(name, RuntimeError)
        if not isinstance(form, Held):
            return RuntimeError
        if form.plain is ABSENT:
            # The class as an object: what stands for classes is in it.
            return self.class_of(form.bases[0]) if form.bases else RuntimeError
        if form.number not in self._classes:
            bases = tuple(dict.fromkeys(map(self.class_of, form.bases))) or (Exception,)
            self._classes[form.number] = self._made(form, bases)
        return self._classes[form.number]

    def _made(self, form: Held, bases: tuple[type[BaseException], ...]) -> type[BaseException]:
        name = form.plain if isinstance(form.plain, str) and form.plain.isidentifier() else "Error"
        first = () if any(issubclass(base, Mirrored) for base in bases) else (Mirrored,)
        body: dict[str, Any] = {"held": form, "ask": self._ask, "__module__": "student"}
        with contextlib.suppress(TypeError):
            return _Mirror(name, (*first, *bases), body)  # type: ignore[return-value]
        # Bases that Python does not put together.
        return _Mirror(name, (Mirrored, Exception), body)  # type: ignore[return-value]


def is_exception(held: Held) -> bool:
    """Return whether an object is an exception, or a class of exceptions."""
    first = held.bases[0] if held.bases else None
    return isinstance(first, Held) or (type(first) is Named and ":" in first.path)


def known_class(error: BaseException) -> str:
    """Return the name of the nearest class of Python's own that an exception is of."""
    known = (cls.__name__ for cls in type(error).__mro__ if EXCEPTIONS.get(cls.__name__) is cls)
    return next(known, "Exception")
