"""Forbidden operations: torch's own kernels for the exercise are replaced by ones that raise.

Nothing is searched for in the source: an operation counts when it runs, by whatever route it was
reached, and is charged to the innermost line of the submission that led to it.
"""

from __future__ import annotations

import marshal
import os
import sys
import warnings
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NoReturn

import torch

from autograder.exchange.copies import NoImport, codes, refuse_copies, text_of
from autograder.exchange.kernels import COMPOSED, FURTHER_KEYS, KERNELS, KEYS
from autograder.exchange.messages import ForbiddenUse
from autograder.exchange.names import NameGuard
from autograder.exchange.out_of_sight import Noted, hide, note, untrack

# The folder of provided code, as a package.
PROVIDED = "provided"
# Where torch keeps its operations once more, written in Python.
_PYTHON_COPIES = ("torch._refs", "torch._refs.nn.functional", "torch._decomp.decompositions")


Perform = Callable[[str, bool], Callable[..., Any]]


def belongs_to(file: str, folder: str) -> bool:
    """Tell whether a source file lies in a folder."""
    return file.startswith(folder + os.sep)


def _innermost(function: Any) -> Any:
    """Return what is wrapped by decorators, or in a torch.library.custom_op."""
    function = getattr(function, "_init_fn", function)
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def _has_kernel(kernel: str, key: str) -> bool:
    name = f"aten::{kernel}"
    known = torch._C._dispatch_has_kernel(name)
    return known and torch._C._dispatch_has_kernel_for_dispatch_key(name, key)


def _refuse_instead(*args: Any, _refuse: Callable[..., Any], **kwargs: Any) -> Any:
    return _refuse(*args, **kwargs)


def _nobody(name: str, differentiable: bool) -> NoReturn:
    raise LookupError(f"nobody performs {name}")


def _copy(function: FunctionType) -> FunctionType:
    parts = (function.__code__, function.__globals__, function.__name__, function.__defaults__)
    copy = FunctionType(*parts)
    copy.__kwdefaults__ = dict(function.__kwdefaults__ or {})
    return copy


def _set_code(function: FunctionType, code: bytes) -> None:
    function.__code__ = marshal.loads(code)  # noqa: S302 - it was written by this very process


def _innermost_of(folder: str, frame: FrameType | None) -> CodeType | None:
    """Return the code of the innermost frame that lies in a folder."""
    while frame is not None and not belongs_to(frame.f_code.co_filename, folder):
        frame = frame.f_back
    return None if frame is None else frame.f_code


class ForbiddenOperation(Exception):
    """A forbidden operation was called."""


class Guard:
    """Makes forbidden operations raise, and remembers the first use for every file.

    Args:
        folder: the submission; only frames of its files are charged.
        forbidden: the operations, out of FORBIDDEN.
        ours: folders below the submission's whose files are none of it.
    """

    def __init__(
        self, folder: Path, forbidden: Sequence[str], ours: Sequence[str] = (PROVIDED,)
    ) -> None:
        self._folder = str(folder)
        self._ours = ours
        self._forbidden = forbidden
        self._event = f"gradeformer.uses.{id(self)}"
        self._exempt: tuple[CodeType, ...] = ()
        self._lent: Collection[str] = ()
        self._perform: Perform = _nobody
        self._copies: dict[tuple[object, ...], Callable[..., Any]] = {}
        self._undo: list[Callable[[], object]] = []

    def charge(self, folder: Path) -> None:
        """Charge frames of another submission from now on."""
        self._folder = str(folder)

    def uses(self) -> list[ForbiddenUse]:
        """Return the first use in every file that has one."""
        found: list[ForbiddenUse] = []
        while True:
            try:
                sys.audit(self._event, len(found))
            except Noted as noted:
                found.append(ForbiddenUse(*noted.args))
            else:
                return found

    def install(self, reversible: bool = False) -> None:
        """Replace the kernels, for this process and for good.

        A process that runs no student code may do so `reversible`, for those it forks: each of
        them must either `settle` or `uninstall` before it runs any.
        """
        library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
        replace: Callable[..., None] = library.impl
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for operation in self._forbidden:
                for kernel in KERNELS[operation]:
                    there = [key for key in (*KEYS, *FURTHER_KEYS) if _has_kernel(kernel, key)]
                    if operation not in self._lent:
                        for key in {*KEYS, *there}:
                            replace(kernel, self._refuse(operation), key)
                        continue
                    for key in there:
                        # Under other keys gradients are the affair of what calls the kernel.
                        lent = self._perform(kernel, key == "CompositeImplicitAutograd")
                        replace(kernel, self._refuse(operation, lent), key)
        hide(library)
        self._undo.append(library._destroy)
        self._take_composed()
        for name in _PYTHON_COPIES:
            for operation in self._forbidden:
                for kernel in KERNELS[operation]:
                    if hasattr(sys.modules.get(name), kernel):
                        self._set(sys.modules[name], kernel, self._refuse(operation))
        decompositions = getattr(sys.modules.get("torch._decomp"), "decomposition_table", {})
        for overload in list(decompositions):
            # "aten.native_layer_norm.default"; some keys have no namespace.
            name = str(overload).partition(".")[2].partition(".")[0]
            for operation in self._forbidden:
                if name in KERNELS[operation]:
                    original = decompositions[overload]
                    self._undo.append(partial(decompositions.__setitem__, overload, original))
                    decompositions[overload] = self._refuse(operation)
        if not reversible:
            self.settle()

    def settle(self) -> None:
        """Give up all that could bring the kernels back."""
        self._undo.clear()
        refuse_copies(self._copies, self._caller)
        self._copies = {}

    def uninstall(self) -> None:
        """Bring the kernels back, after a reversible `install`."""
        self._copies = {}
        while self._undo:
            self._undo.pop()()

    def _set(self, owner: object, name: str, value: object) -> None:
        self._undo.append(partial(setattr, owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def _take_composed(self) -> None:
        # Into the function itself, which other modules and tables hold, too.
        taken: dict[str, Callable[..., Any]] = {}
        for operation in self._forbidden:
            for module, path in COMPOSED.get(operation, ()):
                owner: Any = sys.modules.get(module)
                *outer, name = path.split(".")
                for part in outer:
                    owner = getattr(owner, part, None)
                if not hasattr(owner, name):
                    continue
                taken[module] = refuse = self._refuse(operation)
                function = _innermost(getattr(owner, name))
                if isinstance(function, FunctionType) and not function.__closure__:
                    if operation not in self._lent:
                        self._copies[text_of(function.__code__)] = refuse
                    else:
                        # A method has an object that stays here; it is composed of what is lent.
                        lent = _copy(function) if outer else self._perform(f"{module}.{path}", True)
                        taken[module] = refuse = self._refuse(operation, lent)
                    # As bytes: to free many a code object would cost every child that settles.
                    code = marshal.dumps(function.__code__)
                    self._undo.append(partial(_set_code, function, code))
                    function.__code__ = _refuse_instead.__code__
                    self._set(function, "__kwdefaults__", {"_refuse": refuse})
                else:
                    self._set(owner, name, refuse)
        finder = NoImport(taken, self._caller)
        sys.meta_path.insert(0, finder)
        self._undo.append(partial(sys.meta_path.remove, finder))

    def forbid(self, operations: Sequence[str]) -> None:
        """Change what is forbidden, between `uninstall` and the next `install` or `watch`."""
        self._forbidden = operations

    def watch(self, exempt: Collection[str], lent: Collection[str], perform: Perform) -> None:
        """Replace the kernels; for code that stands in one of these files, others perform them.

        For a run with stand-ins, which are made of those very kernels.

        Args:
            exempt: the files.
            lent: the operations that they may call.
            perform: returns what performs one of their functions, by its name and whether gradients
                are its own affair.
        """
        self._lent, self._perform = lent, perform
        for name in exempt:
            file = Path(self._folder, name)
            # As it is imported: with no __future__ of this file's.
            code = compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
            self._exempt += tuple(codes(code))
        self.install()
        self._lent, self._perform = (), _nobody
        # What refuses has it, out of sight.
        self._exempt = ()

    def _refuse(
        self, operation: str, original: Callable[..., Any] | None = None
    ) -> Callable[..., Any]:
        exempt = self._exempt

        def refuse(*args: Any, **kwargs: Any) -> Any:
            frame = self._caller(sys._getframe(1))
            # By its code: another file could give itself the name.
            if original is not None and _innermost_of(self._folder, sys._getframe(1)) in exempt:
                return original(*args, **kwargs)
            self._charge(operation, frame)

        untrack(refuse, refuse.__closure__, *(refuse.__closure__ or ()))
        return refuse

    def _charge(self, operation: str, frame: FrameType | None) -> NoReturn:
        file = "" if frame is None else Path(frame.f_code.co_filename).name
        line = 0 if frame is None else frame.f_lineno
        known = self.uses()
        if all(use.file != file for use in known):
            note(self._event, len(known), (operation, file, line))
        raise ForbiddenOperation(operation)

    def refuse_names(
        self,
        modules: Sequence[str],
        functions: Sequence[str],
        last: bool,
        is_others: Callable[[str], bool] = lambda name: False,
    ) -> NameGuard:
        """Refuse modules and functions, too; see `NameGuard`.

        `is_others` tells of a file, by its path in the submission, whether it is another
        component's, which has rules of its own.
        """

        def is_students(file: str) -> bool:
            return self._is_students(file) and not is_others(file[len(self._folder) + 1 :])

        names = NameGuard(modules, functions, is_students, self._charge)
        names.install(last)
        return names

    def _is_students(self, file: str) -> bool:
        """Tell whether a file is the student's own."""
        inside = belongs_to(file, self._folder)
        return inside and not any(
            belongs_to(file, self._folder + os.sep + ours) for ours in self._ours
        )

    def _caller(self, frame: FrameType | None) -> FrameType | None:
        while frame is not None:
            if self._is_students(frame.f_code.co_filename):
                return frame
            frame = frame.f_back
        return None
