"""Keep things where Python code does not come across them."""

from __future__ import annotations

import ctypes
import sys
import weakref

import torch


def untrack(*found: object) -> None:
    """Keep these from being found by going through the garbage collector's objects, for good."""
    for held in found:
        # To free what is not tracked is an error.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
        ctypes.pythonapi.PyObject_GC_UnTrack(ctypes.py_object(held))


def hide(library: torch.library.Library) -> None:
    """Keep a library alive where Python code does not come across it.

    Destroying it would bring torch's kernels back.
    """
    for finalizer in list(weakref.finalize._registry):  # type: ignore[attr-defined]
        found = finalizer.peek()
        if found is not None and found[0] is library:
            finalizer.detach()
    untrack(library, library.__dict__)


class Noted(Exception):
    """Answers the question for a use."""


def note(event: str, number: int, use: tuple[str, str, int]) -> None:
    """Note a use where no Python code can take it back: an audit hook stays for good."""

    def hook(
        event: str,
        args: tuple[object, ...],
        own: tuple[str, tuple[int], tuple[str, str, int]] = (event, (number,), use),
    ) -> None:
        if event == own[0] and args == own[1]:
            raise Noted(*own[2])

    untrack(hook, hook.__defaults__)
    sys.addaudithook(hook)
