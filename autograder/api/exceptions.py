"""Describe an exception of the student's code: its kind, its text, and where it was raised."""

from __future__ import annotations

from dataclasses import replace
from opcode import opmap
from pathlib import Path
from types import TracebackType

from autograder.api.guard import ForbiddenOperation, belongs_to
from autograder.api.messages import ERROR_KINDS, MAX_TEXT, StudentError


class Stop(Exception):
    """Ends a request early, with the error that its reply reports."""

    def __init__(self, error: StudentError) -> None:
        super().__init__(error.kind)
        self.error = error


def unsent(error: object) -> StudentError:
    """Describe an answer that cannot be sent."""
    return StudentError("RuntimeError", "call", f"the result cannot be sent: {error}")


def describe(error: BaseException, phase: str, folder: str) -> StudentError:
    """Describe an exception that left code in `folder` during `phase`."""
    file, line, innermost = _locate(error.__traceback__, folder)
    if isinstance(error, SyntaxError) and error.filename:
        file, line = Path(str(error.filename)).name, error.lineno or 0
    kind, *bases = _kinds(error)
    classes = _own_classes(error)
    text = _text(error.msg if isinstance(error, SyntaxError) else error)
    if isinstance(error, NotImplementedError) and innermost and _by_raise(error):
        kind, bases, classes = "NotAttempted", [], []
    elif isinstance(error, ForbiddenOperation):
        kind, bases, classes = "Forbidden", [], []
    elif "same device" in text or "is not on the expected device" in text:
        kind, bases, classes = "DeviceMismatch", [], []
    found = StudentError(kind, phase, text, file, line, bases=tuple(bases))
    return replace(found, classes=tuple(classes))


def _locate(traceback: TracebackType | None, folder: str) -> tuple[str, int, bool]:
    """Return file and line of the last frame inside the folder, and if it is the innermost."""
    file, line, innermost = "", 0, False
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        innermost = belongs_to(name, folder)
        if innermost:
            file, line = Path(name).name, traceback.tb_lineno
        traceback = traceback.tb_next
    return file, line, innermost


def _by_raise(error: BaseException) -> bool:
    """Tell a stub's own `raise` from torch raising in the same line, as it does on `meta`."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return False
    return traceback.tb_frame.f_code.co_code[traceback.tb_lasti] == opmap["RAISE_VARARGS"]


def _kinds(error: BaseException) -> list[str]:
    """Return the built-in exceptions that it is, the nearest first."""
    found = [
        cls.__name__
        for cls in type(error).__mro__
        if cls.__name__ in ERROR_KINDS and cls.__module__ == "builtins"
    ]
    # Every exception is one, which says nothing.
    return [name for name in found if name != "Exception"] or ["Exception"]


def _own_classes(error: BaseException) -> list[str]:
    """Return the names of its classes that are not built in, the nearest first."""
    # Not `cls.__name__`, which the student's own class of the class may answer.
    named = type.__dict__["__name__"].__get__
    return [str(named(cls)) for cls in type(error).__mro__ if cls.__module__ != "builtins"]


def _text(error: object) -> str:
    try:
        return str(error)[:MAX_TEXT]
    except BaseException:
        # `__str__` is the student's own code, and what it raises says nothing more.
        return ""
