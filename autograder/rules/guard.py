"""The guard: what a component forbids raises where a submission uses it.

It stands where everybody calls: functions and classes are replaced by ones that look who calls.
What reaches around the public interface does not meet it, and is held for a person (`reader`).
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import os
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any, NoReturn

from autograder.rules.forbidden import OPERATIONS, ForbiddenUse, Rules, resolve

# The folder of provided code, as a package.
PROVIDED = "provided"
# Who imports on somebody's behalf.
_MEDIATORS = ("importlib", "runpy", "pkgutil", "_frozen_importlib", "autograder")
_HERE = (lambda: None).__code__.co_filename
# The module that calls a component: the search for a responsible line ends at its frames.
_ASKS = "autograder.api.executor"
# What starts a process, or serves several: where everybody calls it, by module and name.
_PROCESSES = (
    *(("os", name) for name in ("fork", "forkpty", "system", "posix_spawn", "posix_spawnp")),
    *(("os", f"spawn{kind}") for kind in ("v", "ve", "vp", "vpe", "l", "le", "lp", "lpe")),
    ("subprocess", "Popen.__init__"),
    ("multiprocessing.process", "BaseProcess.start"),
    ("multiprocessing.heap", "Arena.__init__"),
    ("multiprocessing.synchronize", "SemLock.__init__"),
    ("multiprocessing.shared_memory", "SharedMemory.__init__"),
)
# Modules that start one on behalf of their caller; any other library does so for itself.
_STARTERS = (
    *("os", "subprocess", "multiprocessing", "concurrent.futures", "asyncio", "pty"),
    *("torch.multiprocessing", "torch.utils.data"),
)
NO_PROCESSES = "grading starts no processes"
# Bound here, because a submission can replace them in their modules.
_SEP, _frame_at = os.sep, sys._getframe


def _is_of(frame: FrameType, modules: Collection[str]) -> bool:
    name = str(frame.f_globals.get("__name__", ""))
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def _let_loader_end() -> None:
    """Let torch's loader, which was stopped as it began, end without an error of its own."""
    loaders = sys.modules.get("torch.utils.data.dataloader")
    if iterator := getattr(loaders, "_MultiProcessingDataLoaderIter", None):
        iterator._shutdown = True


class ForbiddenOperation(Exception):
    """Something forbidden was used."""


def belongs_to(file: str, folder: str) -> bool:
    """Return whether a source file lies in a folder."""
    return file.startswith(folder + _SEP)


class Guard:
    """Makes what is forbidden raise, and remembers the first use in every file.

    An operation counts when it runs for a line of the submission, by way of a library, too, and is
    charged to the innermost such line. Functions, classes and modules count where the line itself
    calls or imports: what a library does inside is its own affair.

    Args:
        names: all operations, and functions and classes by dotted name, that may ever be forbidden.
        ours: folders below a submission's whose files are none of it.
    """

    def __init__(self, names: Sequence[str], ours: Sequence[str] = (PROVIDED,)) -> None:
        self._names = tuple(dict.fromkeys(names))
        self._ours = ours
        self._folder = ""
        self._rules = Rules()
        self._enforced: frozenset[str] = frozenset()
        self._exempt: Collection[str] = ()
        self._others: Collection[str] = ()
        self._uses: list[ForbiddenUse] = []
        self._undo: list[Callable[[], object]] = []

    def install(self) -> None:
        """Replace what may be forbidden, in every module that holds it; `begin` sets what raises.

        Names that do not exist are skipped: collecting the suite reports them.
        """
        replaced: dict[int, tuple[Any, Any]] = {}
        for name in self._names:
            for dotted in OPERATIONS.get(name, (name,)):
                try:
                    owner, last = resolve(dotted)
                except LookupError:
                    continue
                found = getattr(owner, last)
                if isinstance(found, type):
                    self._replace_methods(name, found)
                else:
                    replacement = self._refusing(name, found)
                    self._set(owner, last, replacement)
                    # Held as well: while it lives, no other object has its id.
                    replaced[id(found)] = (found, replacement)
        for module in list(sys.modules.values()):
            for key, value in list(getattr(module, "__dict__", {}).items()):
                if id(value) in replaced and value is replaced[id(value)][0]:
                    self._set(module, key, replaced[id(value)][1])
        self._set(builtins, "__import__", self._importing(builtins.__import__))
        for place, dotted in _PROCESSES:
            # Not every system has all of them.
            with contextlib.suppress(ImportError, LookupError):
                importlib.import_module(place)
                owner, last = resolve(f"{place}.{dotted}")
                self._set(owner, last, self._starting(getattr(owner, last)))
        by_name = self._importing_by_name(importlib.import_module)
        self._set(importlib, "import_module", by_name)

    def uninstall(self) -> None:
        """Put everything back in its place."""
        while self._undo:
            self._undo.pop()()

    def begin(
        self,
        folder: Path,
        rules: Rules,
        exempt: Collection[str] = (),
        others: Collection[str] = (),
    ) -> None:
        """Enforce rules on the files of a submission from now on.

        Args:
            folder: the submission.
            rules: what it may not use.
            exempt: files in it that may, as stand-ins do.
            others: files of other components, which have rules of their own about functions,
                classes and modules.
        """
        self._folder, self._rules = str(folder), rules
        self._enforced = rules.names
        self._exempt, self._others = frozenset(exempt), frozenset(others)

    def check(self, name: str) -> None:
        """Refuse an operation that is about to run, if the file that led to it may not use it."""
        if name in self._enforced:
            self._check_operation(name, _frame_at(1))

    def uses(self) -> list[ForbiddenUse]:
        """Return the first use in every file that has one."""
        return list(self._uses)

    def forget(self) -> None:
        """Forget all uses: another component is asked from now on."""
        self._uses.clear()

    def _replace_methods(self, name: str, found: type) -> None:
        """Have objects of a class, and of its subclasses, refuse to be made or used."""
        for key, value in list(vars(found).items()):
            if key.startswith("_"):
                continue
            if isinstance(value, FunctionType):
                self._set(found, key, self._refusing(name, value))
            elif isinstance(value, staticmethod):
                self._set(found, key, staticmethod(self._refusing(name, value.__func__)))
        self._set(found, "__init__", self._refusing(name, getattr(found, "__init__")))  # noqa: B009

    def _set(self, owner: Any, name: str, value: object) -> None:
        own = vars(owner)
        undo = partial(setattr, owner, name, own[name]) if name in own else None
        self._undo.append(undo or partial(delattr, owner, name))
        setattr(owner, name, value)

    def _refusing(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        operation = name in OPERATIONS

        def call(*args: Any, **kwargs: Any) -> Any:
            if name in self._enforced:
                frame = _frame_at(1)
                if operation:
                    self._check_operation(name, frame)
                elif using := self._direct(frame, args):
                    self._charge(name, using)
            return original(*args, **kwargs)

        for kept in ("__name__", "__qualname__", "__doc__", "__module__"):
            if isinstance(text := getattr(original, kept, None), str):
                setattr(call, kept, text)
        return call

    def _starting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Return what starts a process for anyone but the submission's own lines.

        No child can, so that at home the same raises the same.
        """

        @functools.wraps(original)
        def start(*args: Any, **kwargs: Any) -> Any:
            frame: FrameType | None = _frame_at(1)
            loads = False
            while frame is not None and _is_of(frame, _STARTERS):
                loads |= _is_of(frame, ("torch.utils.data",))
                frame = frame.f_back
            if self._folder and frame is not None and self._is_students(frame.f_code.co_filename):
                repair = "do the work in this one"
                if loads:
                    _let_loader_end()
                    repair = "give DataLoader num_workers=0"
                raise PermissionError(f"{NO_PROCESSES}: {repair}")
            return original(*args, **kwargs)

        return start

    def _check_operation(self, name: str, frame: FrameType | None) -> None:
        """Charge the innermost line in the submission's folder, unless its file is exempt.

        If there is no such line, as in a thread or where the component is torch's own class, the
        component is charged without a line.
        """
        while frame is not None and frame.f_globals.get("__name__") != _ASKS:
            file = frame.f_code.co_filename
            if belongs_to(file, self._folder):
                if not self._is_students(file):
                    return
                self._charge(name, frame)
            frame = frame.f_back
        self._charge(name, None)

    def _direct(self, frame: FrameType | None, args: Sequence[Any] = ()) -> FrameType | None:
        """Return the frame of the student's file that makes the call; None if no such file does.

        Frames of the object's own methods are skipped: its subclass may lie in a library.
        """
        while frame is not None:
            file = frame.f_code.co_filename
            if self._is_students(file):
                return None if self._relative(file) in self._others else frame
            module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
            first = frame.f_code.co_varnames[:1]
            own = bool(args and first) and frame.f_locals.get(first[0]) is args[0]
            # What is compiled from a text stands for the code that had it run.
            if not (own or file.startswith("<") or file == _HERE or module in _MEDIATORS):
                return None
            frame = frame.f_back
        return None

    def _is_students(self, file: str) -> bool:
        """Return whether a file is the student's own."""
        if not belongs_to(file, self._folder) or self._relative(file) in self._exempt:
            return False
        return not any(belongs_to(file, self._folder + _SEP + ours) for ours in self._ours)

    def _relative(self, file: str) -> str:
        return file[len(self._folder) + 1 :]

    def _charge(self, name: str, frame: FrameType | None) -> NoReturn:
        file = "" if frame is None else Path(frame.f_code.co_filename).name
        line = 0 if frame is None else frame.f_lineno
        if all(use.file != file for use in self._uses):
            self._uses.append(ForbiddenUse(name, file, line))
        raise ForbiddenOperation(name)

    def _check_import(self, name: str, frame: FrameType | None) -> None:
        root = name.partition(".")[0]
        if root in self._rules.modules and (using := self._direct(frame)):
            self._charge(root, using)

    def _importing_by_name(self, original: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
        def import_module(name: str, package: str | None = None) -> ModuleType:
            self._check_import(name, _frame_at(1))
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
                self._check_import(name, _frame_at(1))
            return original(name, globals, locals, fromlist, level)

        return import_
