"""Refuse torch's own composed functions when their text is run once more, as another copy."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FrameType
from typing import Any

from autograder.exchange.out_of_sight import untrack

# Events that have code to be run as their last argument.
_RUNS_CODE = ("exec", "function.__new__", "object.__setattr__")


# Packages of torch that only its own tests and its compiler need. They hold copies of everything.
_CLOSED = ("torch.testing._internal", "torch._inductor.fx_passes")


class NoImport:
    """Refuses to import again what was taken operations out of, and what is full of copies.

    Args:
        refuse: what refuses, by the modules that operations were taken out of.
        caller: finds the frame of the student's that something is done for, if any.
    """

    def __init__(
        self,
        refuse: dict[str, Callable[..., Any]],
        caller: Callable[[FrameType | None], FrameType | None],
    ) -> None:
        self._refuse = refuse
        self._caller = caller

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Find nothing; what has been imported once is looked for here only then.

        Raises:
            ModuleNotFoundError: it is closed to students.
        """
        if name in self._refuse:
            self._refuse[name]()
        closed = any(name == other or name.startswith(f"{other}.") for other in _CLOSED)
        # Another thread may begin with the import itself.
        own = threading.current_thread() is threading.main_thread()
        if closed and (not own or self._caller(sys._getframe(1))):
            reason = f"{name} is not there in grading: it belongs to torch's own tests or compiler"
            raise ModuleNotFoundError(reason, name=name)


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all that lie in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def text_of(code: CodeType) -> tuple[object, ...]:
    """Return what two functions share that were compiled from the same text.

    Their bytes may differ: they number constants, which a module shares among its functions.
    """
    return code.co_name, code.co_names, code.co_varnames, code.co_freevars


def refuse_copies(
    copies: Mapping[tuple[object, ...], Callable[..., Any]],
    caller: Callable[[FrameType | None], FrameType | None],
) -> None:
    """Refuse, for good, to run these again from whatever place or text.

    Args:
        copies: what refuses, by `text_of` what was refused.
        caller: finds the frame to be charged; without one, nothing is refused.
    """
    if not copies:
        return
    copies = dict(copies)
    names = {text[0] for text in copies}

    def hook(event: str, args: tuple[object, ...]) -> None:
        code = args[-1] if event in _RUNS_CODE else None
        if isinstance(code, CodeType) and caller(sys._getframe(1)):
            for part in codes(code):
                if part.co_name in names and (refuse := copies.get(text_of(part))):
                    refuse()

    untrack(hook, hook.__closure__, *(hook.__closure__ or ()), copies, names)
    sys.addaudithook(hook)
