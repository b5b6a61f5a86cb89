"""What some of Python's functions are to a submission's modules: names that are computed.

A text is read for the names that it asks for (`reader`). A name that is put together when the code
runs is in no text: `getattr`, `operator.attrgetter` and `operator.methodcaller` refuse private ones
then, and `vars` lists no module. Libraries keep the plain functions.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

from autograder.rules import ordinary as known
from autograder.rules.reader import is_private

# By this name the builtins of a submission's modules are known.
_MARK = "__own__"
# Whose private names are for nobody, whatever lists them.
_CODE = (ModuleType, FunctionType, BuiltinFunctionType, MethodType, CodeType)


def own_builtins(free: bool = False) -> dict[str, Any]:
    """Return the builtins of a submission's modules; those of `free` ones are Python's own."""
    table = {**vars(builtins), _MARK: True}
    if free:
        return table
    plain = (name for name in known.BUILTINS if not name.startswith("__"))
    table.update({name: _refusing(name) for name in plain})
    return {
        **table,
        "getattr": look_up,
        "vars": _vars,
        "__import__": _importing(builtins.__import__),
    }


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NameError(f"{name} is not for submissions: a person would have to look at it first")

    return refuse


def look_up(owner: Any, name: str, *default: Any) -> Any:
    """Look an attribute up; raise if it is private, and not the submission's own."""
    if type(name) is not str:
        raise TypeError("attribute name must be string")
    if name in known.SETTERS or name == "__getattribute__":
        return _plain_or_own(owner, name)
    if _is_closed(name) and not (is_own(owner) and name in dir(owner)):
        # To look up a name that does not exist is harmless.
        if default and not hasattr(owner, name):
            return default[0]
        raise AttributeError(f"{name} is not looked up for submissions: it is no public name")
    found = getattr(owner, name, *default)
    if isinstance(owner, ModuleType) and not _is_lent(owner.__name__, name, found):
        raise AttributeError(f"{name} is not looked up for submissions: import it")
    return found


def _vars(owner: Any) -> Any:
    if isinstance(owner, ModuleType):
        raise AttributeError("what is in a module is not listed for submissions")
    return vars(owner)


def _is_lent(module: str, name: str, found: object) -> bool:
    """Return whether what a module has under a name is for everybody, and no other module."""
    lent = not isinstance(found, ModuleType) and known.is_lent(module, name, found)
    return lent or is_own_module(module)


def _is_closed(name: str) -> bool:
    return is_private(name) or name in known.INTERPRETER | known.LEADS_ON


def _plain_or_own(owner: Any, name: str) -> Any:
    """Return how attributes are looked up, set or deleted on what is the submission's own."""
    if not is_own(owner):
        raise AttributeError(f"{name} is not looked up for submissions: it is no public name")
    method: Callable[..., Any] = look_up if name == "__getattribute__" else partial(_change, name)
    return method if isinstance(owner, type) else partial(method, owner)


def _change(method: str, owner: Any, name: str, *value: Any) -> None:
    """Set or delete a name that is the submission's own."""
    if not is_own(owner) or type(name) is not str or _is_closed(name) > (name in dir(owner)):
        raise AttributeError(f"{name} is not changed by submissions")
    getattr(type(owner), method)(owner, name, *value)


def is_own(thing: Any) -> bool:
    """Return whether a class is the submission's own, or the class of an object."""
    kind = thing if isinstance(thing, type) else type(thing)
    return not isinstance(thing, _CODE) and is_own_module(str(kind.__module__))


def is_own_module(name: str) -> bool:
    """Return whether a module is the submission's own; a program is no module that is imported."""
    module = sys.modules.get(name)
    table = vars(module).get("__builtins__") if module is not None else None
    return name == "__main__" or (isinstance(table, dict) and _MARK in table)


def _own_operator() -> ModuleType:
    """Return the module `operator`, in which attributes are looked up as `look_up` does it."""
    made = ModuleType("operator", operator.__doc__)
    vars(made).update(vars(operator), attrgetter=_attrgetter, methodcaller=_methodcaller)
    return made


def _attrgetter(*names: str) -> Callable[[Any], Any]:
    def get(thing: Any) -> Any:
        found = [_walk(thing, name) for name in names]
        return tuple(found) if len(names) > 1 else found[0]

    return get


def _walk(thing: Any, dotted: str) -> Any:
    for name in dotted.split("."):
        thing = look_up(thing, name)
    return thing


def _methodcaller(name: str, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    return lambda thing: look_up(thing, name)(*args, **kwargs)


def _importing(original: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
    """Return what `import` calls, which gives the submission's own `operator`."""
    own_operator = _own_operator()

    def import_(name: str, *args: Any, **kwargs: Any) -> ModuleType:
        found = original(name, *args, **kwargs)
        return own_operator if found is operator else found

    return import_
