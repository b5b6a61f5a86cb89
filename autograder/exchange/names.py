"""Forbidden modules and functions, by name: refused where the student's own code uses them.

What a library does inside is its own affair: a use counts if the line that imports or calls stands
in the submission, also by way of `importlib` or `exec`.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Callable, Collection, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any, NoReturn, cast

# Those who import on somebody's behalf.
_HERE = (lambda: None).__code__.co_filename
_MEDIATORS = ("importlib", "runpy", "pkgutil", "pydoc", "_frozen_importlib")

Charge = Callable[[str, FrameType | None], NoReturn]
IsStudents = Callable[[str], bool]


def resolve(dotted: str) -> tuple[Any, str]:
    """Return what holds a function, and its name there.

    Raises:
        LookupError: there is no such function, or it cannot be replaced.
    """
    parts = dotted.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            owner: Any = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:-1]:
            owner = getattr(owner, part, None)
        name = parts[-1]
        found = getattr(owner, name, None)
        if not callable(found):
            raise LookupError(f"there is no function {dotted}")
        if isinstance(found, type):
            raise LookupError(f"{dotted} is a class: name functions, or its module in modules")
        try:
            setattr(owner, name, getattr(owner, name))
        except (AttributeError, TypeError) as error:
            raise LookupError(f"{dotted} belongs to a type that cannot be changed") from error
        return owner, name
    raise LookupError(f"there is no module to find {dotted} in")


class NameGuard:
    """Refuses imports and calls that come from a student's own code.

    Args:
        modules: top-level modules that may not be imported.
        functions: dotted names of functions that may not be called.
        is_students: tells whether a file is the student's own.
        charge: notes a use and raises.
    """

    def __init__(
        self,
        modules: Sequence[str],
        functions: Sequence[str],
        is_students: IsStudents,
        charge: Charge,
    ) -> None:
        self._modules = frozenset(modules)
        self._functions = frozenset(functions)
        self._enforced = self._modules | self._functions
        self._hidden: dict[str, ModuleType] = {}
        self._filled: dict[str, str] = {}
        self._is_students = is_students
        self._charge = charge

    def enforce(self, names: Collection[str]) -> None:
        """Refuse only these from now on, of what was given."""
        self._enforced = frozenset(names)

    def install(self, last: bool) -> None:
        """Begin to refuse.

        Args:
            last: whether nobody else in this process needs the modules: then they are also taken
                out of its table, so that they cannot be found there.
        """
        if not self._modules and not self._functions:
            return
        for dotted in sorted(self._functions):
            owner, name = resolve(dotted)
            self._filled[getattr(owner, "__name__", "")] = dotted
            setattr(owner, name, self._refusing(dotted, getattr(owner, name)))
        if last:
            sys.meta_path.insert(0, self)
        if not self._modules:
            return
        builtins.__import__ = self._importing(builtins.__import__)
        importlib.import_module = self._importing_by_name(importlib.import_module)
        if last:
            for name in list(sys.modules):
                if name.partition(".")[0] in self._modules:
                    self._hidden[name] = sys.modules.pop(name)

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Find what was taken out of the table, unless the student's code asks for it."""
        frame = sys._getframe(1)
        self._check_import(name, frame)
        # What is loaded is looked for only to be loaded again, with what was taken out of it.
        if name in self._filled and name in sys.modules and (using := self._user(frame)):
            self._charge(self._filled[name], using)
        return ModuleSpec(name, cast(Loader, self)) if name in self._hidden else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a module that is loaded already: a second copy of it would not work."""
        return self._hidden[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: it has been executed."""

    def _check_import(self, name: str, frame: FrameType | None) -> None:
        root = name.partition(".")[0]
        if root in self._modules and root in self._enforced:
            using = self._user(frame)
            if using is not None:
                self._charge(root, using)

    def _user(self, frame: FrameType | None) -> FrameType | None:
        """Return the frame that uses something, if it is the student's own."""
        while frame is not None:
            file = frame.f_code.co_filename
            if self._is_students(file):
                return frame
            module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
            # What is compiled from a text stands for whoever had it run.
            if not (file.startswith("<") or module in _MEDIATORS or file == _HERE):
                return None
            frame = frame.f_back
        return None

    def _refusing(self, dotted: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def refuse(*args: Any, **kwargs: Any) -> Any:
            using = self._user(sys._getframe(1)) if dotted in self._enforced else None
            if using is not None:
                self._charge(dotted, using)
            return original(*args, **kwargs)

        return refuse

    def _importing_by_name(self, original: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
        def import_module(name: str, package: str | None = None) -> ModuleType:
            self._check_import(name, sys._getframe(1))
            return original(name, package)

        return import_module

    def _importing(self, original: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
        def import_(
            name: str,
            globals: Any = None,
            locals: Any = None,
            fromlist: Any = (),
            level: int = 0,
        ) -> ModuleType:
            if level == 0:
                self._check_import(name, sys._getframe(1))
            return original(name, globals, locals, fromlist, level)

        return import_
