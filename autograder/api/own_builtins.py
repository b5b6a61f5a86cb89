"""What Python's own functions are to a submission's modules, where the text cannot tell.

A name that is computed, or a path, is known only when the code runs: these refuse then what
`reading` would have found if it stood in the text.
"""

from __future__ import annotations

import ast
import builtins
import functools
import os
import sys
import types
import typing
import weakref
from collections.abc import Callable, Collection
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GenericAlias,
    MappingProxyType,
    ModuleType,
)
from typing import Any, NoReturn

from autograder.api import ordinary as known
from autograder.api.scopes import dotted_name

# Where `open` takes an opener, behind file and mode.
_OPENER = 4
# What `x.__dict__`, `x._name` and `x._name += 1` call; no submission may write these names.
_DICT, _PRIVATE, _CHANGED = "__vars__", "__private__", "__changed__"
_CODE = (ModuleType, FunctionType, BuiltinFunctionType, type)
# What `dataclasses` writes of itself, and by which names objects and fields go in it.
_WRITTEN = {"hash", "super", "type", "NotImplemented"}
_THEMSELVES = ("self", "other", "__dataclass_self__")
# The classes of submissions, by id; and what stands for a base.
_made: weakref.WeakValueDictionary[int, type] = weakref.WeakValueDictionary()
# Whose private names a class that inherits from them may ask for.
_INHERITED = ("torch.nn.", "torch.optim.")
_ALIASES = (GenericAlias, type(typing.List[int]))  # noqa: UP006 - that is another class


def own_builtins() -> dict[str, Any]:
    """Return the builtins of a submission's modules."""
    table = dict(vars(builtins))
    plain = (name for name in known.BUILTINS if not name.startswith("__"))
    table.update({name: _refusing(name) for name in plain})
    table.update(getattr=_getattr, setattr=_setattr, delattr=_delattr, open=_open, vars=_vars)
    # Python itself takes from here what it calls for `import`, which stays, and for `class`.
    table.update(__build_class__=_build_class)
    table.update({_DICT: _vars, _PRIVATE: _getattr, _CHANGED: _asked})
    return table


def own_code(source: bytes, file: str, folder: str) -> CodeType:
    """Return the code of a submission's file, in which a text's `x.__dict__` and `x._name` call.

    Args:
        source: its text.
        file: where it lies.
        folder: the submission.
    """
    tree = ast.parse(source, file)
    libraries = _libraries(tree, folder)
    # From the leaves up, and without recursion: an expression may be longer than the stack is deep.
    changed = [_ask_in(node, libraries) for node in reversed(list(ast.walk(tree)))]
    return compile(tree if any(changed) else source, file, "exec", dont_inherit=True)


def _ask_in(parent: ast.AST, libraries: Collection[str]) -> bool:
    """Replace the attributes right below a node as `_asking` says; return whether any was."""
    changed = False
    target = parent.target if isinstance(parent, ast.AugAssign) else None
    if isinstance(target, ast.Attribute) and _is_looked_at(target.attr):
        target.value = _calling(_CHANGED, target.value, target.attr)
        changed = True
    for field, held in ast.iter_fields(parent):
        nodes = held if isinstance(held, list) else [held]
        asked = [_asking(n, libraries) if isinstance(n, ast.Attribute) else n for n in nodes]
        if any(new is not old for new, old in zip(asked, nodes, strict=True)):
            setattr(parent, field, asked if isinstance(held, list) else asked[0])
            changed = True
    return changed


def _asking(node: ast.Attribute, libraries: Collection[str]) -> ast.expr:
    """Return an attribute as it is looked up, by a call where the object decides about its name.

    Args:
        node: the attribute.
        libraries: names that mean a library, or something in it: the reader has followed these.
    """
    followed = dotted_name(node.value).partition(".")[0] in libraries
    if not isinstance(node.ctx, ast.Load) or followed:
        return node
    if node.attr == "__dict__":
        return _calling(_DICT, node.value)
    return _calling(_PRIVATE, node.value, node.attr) if _is_looked_at(node.attr) else node


def _is_looked_at(name: str) -> bool:
    """Return whether what an object is decides about a name."""
    # An exception's `obj` may be anything.
    private = name.startswith("_") and name not in known.PROTOCOL
    return name == "obj" or private or name in known.SETTERS


def _calling(function: str, value: ast.expr, *names: str) -> ast.expr:
    arguments = [value, *map(ast.Constant, names)]
    call = ast.Call(ast.Name(function, ast.Load()), arguments, [])
    return ast.fix_missing_locations(ast.copy_location(call, value))


def _libraries(tree: ast.Module, folder: str) -> set[str]:
    """Return the names that a text imports from elsewhere, and gives no other meaning."""
    imported: set[str] = set()
    other: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for alias in names:
                    top = (getattr(node, "module", "") or alias.name).partition(".")[0]
                    place = os.path.join(folder, top)  # noqa: PTH118 - this runs at every start
                    own = getattr(node, "level", 0) or os.path.exists(place)  # noqa: PTH110
                    own = own or os.path.exists(f"{place}.py") or top == "provided"  # noqa: PTH110
                    name = alias.asname or alias.name.partition(".")[0]
                    (other if own else imported).add(name)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                other.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                other.add(name)
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                other.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                other.add(name)
            case ast.MatchMapping(rest=str(name)):
                other.add(name)
    return imported - other


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NameError(f"{name} is not for submissions: a person would have to look at it first")

    return refuse


def _getattr(owner: Any, name: str, *default: Any) -> Any:
    """Look an attribute up, unless a submission may not write its name."""
    found = getattr(_asked(owner, name), name, *default)
    if name in known.SETTERS:
        return _setting(owner, found)
    if isinstance(found, ModuleType):
        raise AttributeError(f"{name} is a module: import it")
    return found


def _asked(owner: Any, name: str) -> Any:
    """Return an object that is asked for a name, unless a submission may not write that."""
    if type(name) is not str or owner is builtins or not _is_ordinary(owner, name):
        raise AttributeError(f"{name} is not looked up for submissions: it is no public name")
    return owner


def _vars(owner: Any) -> Any:
    """Return what an object holds; where some of it is not for submissions, only the rest."""
    if isinstance(owner, ModuleType):
        raise AttributeError("what is in a module is not listed for submissions")
    held = vars(owner)
    shown = {
        name: value
        for name, value in held.items()
        if type(name) is str and _is_ordinary(owner, name) and not isinstance(value, ModuleType)
    }
    return held if len(shown) == len(held) else MappingProxyType(shown)


def _setattr(owner: Any, name: str, value: Any) -> None:
    """Set an attribute, but none of a library's and none that the interpreter knows."""
    setattr(_changeable(owner, name), name, value)


def _delattr(owner: Any, name: str) -> None:
    delattr(_changeable(owner, name), name)


def _setting(owner: Any, method: Any) -> Callable[..., None]:
    """Return a method that sets or deletes an attribute, for what a submission may change."""
    if isinstance(owner, type):
        return lambda thing, name, *value: method(_changeable(thing, name), name, *value)
    thing = method.__self__ if isinstance(owner, super) else owner
    return lambda name, *value: method(name, *value) if _changeable(thing, name) is thing else None


def _changeable(owner: Any, name: str) -> Any:
    library = isinstance(owner, type) and not _is_own(owner)
    if type(name) is not str or not _is_ordinary(owner, name) or library:
        raise AttributeError(f"{name} is not changed by submissions")
    if isinstance(owner, ModuleType):
        raise AttributeError(f"{name} is a module's: submissions change no module")
    return owner


def _is_ordinary(owner: Any, name: str) -> bool:
    if name in known.INTERPRETER:
        return False
    if not name.startswith("_") or name in known.PUBLIC or name in known.PROTOCOL:
        return True
    if name.startswith("__") and name.endswith("__") and known.is_taken(name):
        return False
    if not isinstance(owner, _CODE) and name in _held_by(owner):
        return True
    giver = _giver(owner, name)
    # What a method of torch's that a submission's own one stands in for does beside.
    return _is_own(giver) or (isinstance(owner, super) and _is_librarys(giver, _INHERITED))


def _held_by(owner: Any) -> Collection[str]:
    try:
        # Not what it says itself: it may stand for a class, as list[int] does.
        found: Collection[str] = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return ()
    return found


def _giver(owner: Any, name: str) -> Any:
    """Return the class that gives an object a name, or what stands for it."""
    if isinstance(owner, (ModuleType, FunctionType)):
        return owner
    kind = owner if isinstance(owner, type) else type(owner)
    places = kind.__mro__
    if isinstance(owner, super):
        parent: Any = owner
        own = parent.__self__
        mro = (own if isinstance(own, type) else type(own)).__mro__
        places = mro[mro.index(parent.__thisclass__) + 1 :]
    return next((one for one in places if name in vars(one)), kind)


def _is_own(thing: Any) -> bool:
    """Return whether a module, function or class is a submission's: it has builtins of its own."""
    if isinstance(thing, type):
        return _made.get(id(thing)) is thing
    function = isinstance(thing, FunctionType)
    table = thing.__builtins__ if function else vars(thing).get("__builtins__")
    return isinstance(table, dict) and _DICT in table


def _is_librarys(kind: Any, modules: tuple[str, ...] = ("",)) -> bool:
    """Return whether a class lies in a library, in a module whose name begins so."""
    name = str(kind.__module__)
    module = sys.modules.get(name)
    if module is None or _is_own(module) or not name.startswith(modules):
        return False
    return getattr(module, kind.__name__, None) is kind


def _build_class(body: Any, name: str, *bases: Any, **keywords: Any) -> Any:
    """Make a class, and note whose it is: what it says itself can be changed."""
    made = builtins.__build_class__(body, name, *bases, **keywords)
    if all(isinstance(b, type) or type(b) in _ALIASES or b is typing.NamedTuple for b in bases):
        # A metaclass of one's own could return any class there is.
        makers = {*map(type, types.resolve_bases(bases)), keywords.get("metaclass", type)}
        if all(isinstance(maker, type) and _is_librarys(maker) for maker in makers):
            _made[id(made)] = made
    return made


def add_slots(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return what `dataclasses` makes a class with slots by, which notes whose it is."""

    @functools.wraps(make)
    def make_noted(cls: Any, *args: Any, **kwargs: Any) -> Any:
        made = make(cls, *args, **kwargs)
        if _is_own(cls):
            _made[id(made)] = made
        return made

    return make_noted


def _open(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
    """Open a file by its path, but none to write code into; where it lies, the sandbox bounds."""
    if isinstance(file, int) or "opener" in kwargs or len(args) > _OPENER:
        raise PermissionError("a submission opens files by their path")
    if mode.strip("bt") != "r" and os.fspath(file).endswith(known.CODE):
        raise PermissionError("a submission writes no files of code")
    return builtins.open(file, mode, *args, **kwargs)  # noqa: PTH123 - it stands in for it


def run_plain(text: str, scope: Any, made: Any) -> None:
    """Run what `dataclasses` writes for a class, if it names nothing but arguments and fields.

    Raises:
        TypeError: the name of a field is none, but code.
    """
    nodes = list(ast.walk(ast.parse(text)))
    given = {node.arg for node in nodes if isinstance(node, ast.arg)}
    given |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)} | _WRITTEN
    for node in nodes:
        match node:
            case ast.Name(id=name) if name in given:
                pass
            case ast.Attribute(value=ast.Name(id=name)) if name in _THEMSELVES:
                pass
            case ast.Attribute(attr="__qualname__" | "__setattr__" | "__delattr__"):
                pass
            case (
                ast.Name() | ast.Attribute() | ast.Lambda() | ast.NamedExpr() | ast.comprehension()
            ):
                raise TypeError("the name of a field of a dataclass is no plain name")
    exec(text, scope, made)  # noqa: S102 - it was read
