"""Refuse torch's own composed functions when their text is run once more, as another copy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FrameType
from typing import Any

from autograder.exchange.out_of_sight import untrack

# Events that have code to be run as their last argument.
_RUNS_CODE = ("exec", "function.__new__", "object.__setattr__")


class NoSecondImport:
    """Refuses to import again, or to reload, what was taken operations out of."""

    def __init__(self, refuse: dict[str, Callable[..., Any]]) -> None:
        self._refuse = refuse

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Find nothing; what has been imported once is looked for here only then."""
        if name in self._refuse:
            self._refuse[name]()


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
