"""Forbidden operations: torch's own kernels for the exercise are replaced by ones that raise.

Nothing is searched for in the source: an operation counts when it runs, by whatever route it was
reached, and is charged to the innermost line of the submission that led to it.
"""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
import weakref
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from autograder.exchange.messages import ForbiddenUse
from autograder.exchange.operations import KERNELS

# Where torch keeps its operations once more, written in Python.
_PYTHON_COPIES = ("torch._refs", "torch._refs.nn.functional", "torch._decomp.decompositions")


def belongs_to(file: str, folder: str) -> bool:
    """Tell whether a source file is the student's; a release has this file below their folder."""
    return file.startswith(folder + os.sep) and file != __file__


def _hide(library: torch.library.Library) -> None:
    """Keep a library alive where Python code does not come across it.

    Destroying it would bring torch's kernels back.
    """
    for finalizer in list(weakref.finalize._registry):  # type: ignore[attr-defined]
        found = finalizer.peek()
        if found is not None and found[0] is library:
            finalizer.detach()
    for held in (library, library.__dict__):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
        ctypes.pythonapi.PyObject_GC_UnTrack(ctypes.py_object(held))


class ForbiddenOperation(Exception):
    """A forbidden operation was called."""


class Guard:
    """Makes forbidden operations raise, and remembers the first use for every file.

    Args:
        folder: the submission; only frames of its files are charged.
        forbidden: the operations, out of FORBIDDEN.
    """

    def __init__(self, folder: Path, forbidden: Sequence[str]) -> None:
        self._folder = str(folder)
        self._forbidden = forbidden
        self._uses: dict[str, ForbiddenUse] = {}
        self._mode: TorchFunctionMode | None = None

    def uses(self) -> list[ForbiddenUse]:
        """Return the first use in every file that has one."""
        return list(self._uses.values())

    def install(self) -> None:
        """Replace the kernels, for this process and for good."""
        library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
        replace: Callable[..., None] = library.impl
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for operation in self._forbidden:
                for kernel in KERNELS[operation]:
                    for key in ("CPU", "CompositeImplicitAutograd"):
                        replace(kernel, self._refuse(operation), key)
        _hide(library)
        for name in _PYTHON_COPIES:
            for operation in self._forbidden:
                for kernel in KERNELS[operation]:
                    if hasattr(sys.modules.get(name), kernel):
                        setattr(sys.modules[name], kernel, self._refuse(operation))
        decompositions = getattr(sys.modules.get("torch._decomp"), "decomposition_table", {})
        for overload in list(decompositions):
            # "aten.native_layer_norm.default"; some keys have no namespace.
            name = str(overload).partition(".")[2].partition(".")[0]
            for operation in self._forbidden:
                if name in KERNELS[operation]:
                    decompositions[overload] = self._refuse(operation)
        if "multi_head_attention" in self._forbidden:
            # With need_weights=True this is composed of allowed operations only.
            F.multi_head_attention_forward = self._refuse("multi_head_attention")

    def watch(self, exempt: Collection[str]) -> None:
        """Refuse the calls of Python code alone, but for those that files of these names make.

        For a run with stand-ins, which are made of the very kernels that `install` takes away.
        """
        operations = {
            name.partition(".")[0]: operation
            for operation in self._forbidden
            for name in (operation, *KERNELS[operation])
        }
        operations["multi_head_attention_forward"] = "multi_head_attention"
        guard = self

        class Watch(TorchFunctionMode):
            def __torch_function__(
                self, func: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                operation = operations.get(getattr(func, "__name__", ""), "")
                if operation:
                    file, line = guard._caller(sys._getframe(1))
                    if file not in exempt:
                        guard._charge(operation, file, line)
                return func(*args, **(kwargs or {}))

        self._mode = Watch()
        self._mode.__enter__()  # type: ignore[no-untyped-call]

    def _refuse(self, operation: str) -> Callable[..., NoReturn]:
        def refuse(*args: Any, **kwargs: Any) -> NoReturn:
            self._charge(operation, *self._caller(sys._getframe(1)))

        return refuse

    def _charge(self, operation: str, file: str, line: int) -> NoReturn:
        self._uses.setdefault(file, ForbiddenUse(operation, file, line))
        raise ForbiddenOperation(operation)

    def _caller(self, frame: FrameType | None) -> tuple[str, int]:
        while frame is not None:
            if belongs_to(frame.f_code.co_filename, self._folder):
                return Path(frame.f_code.co_filename).name, frame.f_lineno
            frame = frame.f_back
        return "", 0
