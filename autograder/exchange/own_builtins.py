"""What Python's own functions are to a submission's modules, where the text cannot tell.

A name that is computed, or a path, is known only when the code runs: these refuse then what
`reading` would have found if it stood in the text.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, NoReturn

from autograder.exchange import ordinary as known

# Where `open` takes an opener, behind file and mode.
_OPENER = 4
_LIBRARIES = ("torch", "numpy")
_CODE = (ModuleType, FunctionType, BuiltinFunctionType, type)


def own_builtins() -> dict[str, Any]:
    """Return the builtins of a submission's modules."""
    table = dict(vars(builtins))
    # Python itself takes from here what it calls for `import` and `class`: those stay.
    plain = (name for name in known.BUILTINS if not name.startswith("__"))
    table.update({name: _refusing(name) for name in plain})
    table.update(getattr=_getattr, setattr=_setattr, delattr=_delattr, open=_open)
    return table


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NameError(f"{name} is not for submissions: a person would have to look at it first")

    return refuse


def _getattr(owner: Any, name: str, *default: Any) -> Any:
    """Look an attribute up, unless a submission may not write its name."""
    if type(name) is not str or not _is_ordinary(owner, name):
        raise AttributeError(f"{name} is not looked up for submissions: it is no public name")
    found = getattr(owner, name, *default)
    if isinstance(found, ModuleType):
        raise AttributeError(f"{name} is a module: import it")
    return found


def _setattr(owner: Any, name: str, value: Any) -> None:
    """Set an attribute, but none of a library's and none that the interpreter knows."""
    setattr(_changeable(owner, name), name, value)


def _delattr(owner: Any, name: str) -> None:
    delattr(_changeable(owner, name), name)


def _changeable(owner: Any, name: str) -> Any:
    library = isinstance(owner, type) and owner.__module__.partition(".")[0] in _LIBRARIES
    if type(name) is not str or not _is_ordinary(owner, name) or library:
        raise AttributeError(f"{name} is not changed by submissions")
    if isinstance(owner, ModuleType):
        raise AttributeError(f"{name} is a module's: submissions change no module")
    return owner


def _is_ordinary(owner: Any, name: str) -> bool:
    if name in known.INTERPRETER:
        return False
    if name.startswith("__") and name.endswith("__"):
        return name in known.PROTOCOL
    if not name.startswith("_") or name in known.PUBLIC:
        return True
    # A private name of its own objects; whose class a library made is somebody else's.
    library = type(owner).__module__.partition(".")[0] in _LIBRARIES
    return not library and not isinstance(owner, _CODE)


def _open(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
    """Open a file by its path, but none to write code into; where it lies, the sandbox bounds."""
    if isinstance(file, int) or "opener" in kwargs or len(args) > _OPENER:
        raise PermissionError("a submission opens files by their path")
    if mode.strip("bt") != "r" and os.fspath(file).endswith(known.CODE):
        raise PermissionError("a submission writes no files of code")
    return builtins.open(file, mode, *args, **kwargs)  # noqa: PTH123 - it stands in for it
