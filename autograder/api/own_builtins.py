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
import threading
import types
import typing
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GenericAlias,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any, NoReturn

from autograder.api import ordinary as known
from autograder.api.scopes import dotted_name, mangled, with_classes, without_main

# Where `open` takes an opener, behind file and mode.
_OPENER = 4
# What `x.__dict__`, `x._name`, `x._name += 1`, `x.name` and `x.name = 1` call; no submission may
# write these names.
_DICT, _PRIVATE, _CHANGED = "__vars__", "__private__", "__changed__"
_LENDER, _HOLDER = "__lender__", "__holder__"
_CHANGED_BY_NOBODY = (ModuleType, type)
_CODE = (ModuleType, FunctionType, BuiltinFunctionType, type)
# What `dataclasses` writes of itself, and by which names objects and fields go in it.
_WRITTEN = {"hash", "super", "type", "NotImplemented"}
_THEMSELVES = ("self", "other", "__dataclass_self__")
# The classes of submissions, by id.
_made: weakref.WeakValueDictionary[int, type] = weakref.WeakValueDictionary()
# By file, the names that a submission's module has from a library and nowhere else.
_followed: dict[str, frozenset[str]] = {}
# By the id of a class, and a name: whether the name is private to a library's base class, and which
# classes may be asked for it. By id, because a class can define what it is equal to.
_inside: dict[tuple[int, str], tuple[type, bool]] = {}
_asked_for: dict[tuple[int, str], type] = {}
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
    table.update({_LENDER: _lender, _HOLDER: _holder})
    return table


def free_builtins() -> dict[str, Any]:
    """Return the builtins of files that a person has accepted: Python's own.

    What they make is the submission's own for its other files, too.
    """
    return {**vars(builtins), _DICT: vars, "__build_class__": _build_accepted}


def own_code(source: bytes, file: str, folder: str, main: bool = False) -> CodeType:
    """Return the code of a submission's file, in which attributes are looked up by `own_builtins`.

    What an imported name stands for has been read; of all other values only the run can tell.

    Args:
        source: its text.
        file: where it lies.
        folder: the submission.
        main: whether it is run as a program; else its main part is left out, which is not read.
    """
    tree = ast.parse(source, file)
    if not main:
        without_main(tree)
    libraries = _followed[file] = _libraries(tree, folder)
    left = {id(part) for node in _unevaluated(tree) for part in ast.walk(node)}
    # From the leaves up, and without recursion: an expression may be longer than the stack is deep.
    for node, owner in reversed(list(with_classes(tree))):
        if id(node) not in left:
            _ask_in(node, owner, libraries, left)
    return compile(tree, file, "exec", dont_inherit=True)


def _unevaluated(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what must stay as it is: patterns are no expressions, and annotations may be texts."""
    texts = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in tree.body
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.pattern):
            yield node
        elif texts:
            found = (getattr(node, name, None) for name in ("annotation", "returns"))
            yield from (part for part in found if isinstance(part, ast.AST))


def _ask_in(parent: ast.AST, owner: str, libraries: Collection[str], left: Collection[int]) -> None:
    """Replace the attributes right below a node as `_asking` says, but those in `left`."""

    def asked(node: Any) -> Any:
        skipped = not isinstance(node, ast.Attribute) or id(node) in left
        return node if skipped else _asking(node, owner, libraries)

    target = parent.target if isinstance(parent, ast.AugAssign) else None
    if isinstance(target, ast.Attribute) and _is_looked_at(mangled(target.attr, owner)):
        target.value = _calling(_CHANGED, target.value, mangled(target.attr, owner))
    for field, held in ast.iter_fields(parent):
        if isinstance(held, list):
            held[:] = map(asked, held)
        elif isinstance(held, ast.Attribute):
            setattr(parent, field, asked(held))


def _asking(node: ast.Attribute, owner: str, libraries: Collection[str]) -> ast.expr:
    """Return an attribute as it is looked up, where the value decides about its name.

    Args:
        node: the attribute.
        owner: the class that it stands in.
        libraries: names that mean a library, or something in it: the reader has followed these.
    """
    if dotted_name(node.value).partition(".")[0] in libraries:
        return node
    name = mangled(node.attr, owner)
    if not isinstance(node.ctx, ast.Load):
        node.value = _calling(_HOLDER, node.value, name)
    elif name == "__dict__":
        return _calling(_DICT, node.value)
    elif _is_looked_at(name):
        return _calling(_PRIVATE, node.value, name)
    else:
        node.value = _calling(_LENDER, node.value, name)
    return node


def _is_looked_at(name: str) -> bool:
    """Return whether a name is allowed on some objects and refused on others."""
    # An exception's `obj` may be anything.
    private = name.startswith("_") and name not in known.PROTOCOL
    return name == "obj" or private or name in known.SETTERS


def _calling(function: str, value: ast.expr, *names: str) -> ast.expr:
    arguments = [value, *map(ast.Constant, names)]
    call = ast.Call(ast.Name(function, ast.Load()), arguments, [])
    return ast.fix_missing_locations(ast.copy_location(call, value))


def _libraries(tree: ast.Module, folder: str) -> frozenset[str]:
    """Return the names that a module imports from elsewhere, and gives no other meaning."""
    imported: set[str] = set()
    other: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                for name, top in _imports(node):
                    own = _is_in(folder, node, top)
                    if own and name == "*":
                        # Any name may be another's.
                        return frozenset()
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
    return frozenset(imported - other)


def _imports(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield each name that a statement imports, with the top of the module that it is from."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            module = (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
            yield alias.asname or alias.name.partition(".")[0], module.partition(".")[0]


def _is_in(folder: str, node: ast.AST, top: str) -> bool:
    """Return whether a statement imports a module of the submission's, or one that is provided."""
    place = os.path.join(folder, top)  # noqa: PTH118 - this runs at every start
    there = os.path.exists(place) or os.path.exists(f"{place}.py")  # noqa: PTH110
    return bool(getattr(node, "level", 0)) or there or top == "provided"


# What leads nowhere.
_PLAIN = (int, float, complex, bool, str, bytes, type(None))


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NameError(f"{name} is not for submissions: a person would have to look at it first")

    return refuse


def _getattr(owner: Any, name: str, *default: Any) -> Any:
    """Look an attribute up, unless a submission may not write its name."""
    found = getattr(_asked(_lender(owner, name), name), name, *default)
    if name in known.SETTERS:
        return _setting(owner, found)
    if isinstance(found, ModuleType):
        raise AttributeError(f"{name} is a module: import it")
    return found


def _lender(owner: Any, name: str) -> Any:
    """Return `owner`; raise if it is a library's module, and the name is not an ordinary one.

    Imports were read in the text, with the names that are used of them. This is for a module that
    comes as a value, out of an object of some library.
    """
    thing = owner.__origin__ if _is_one_of(type(owner), _ALIASES) else owner
    # What stands for another says that it is of its class.
    if isinstance(thing, ModuleType) and not _is_own(thing):
        place = str(getattr(thing, "__name__", ""))
        if not known.is_lent(place, str(name), getattr(thing, str(name), None)):
            raise AttributeError(f"{name} is not looked up for submissions: import {place}")
    return owner


def _holder(owner: Any, name: str) -> Any:
    """Return `owner`; raise if the attribute to be set is a library's."""
    # Most that is set is set on objects, and public.
    if name[:1] != "_" and not isinstance(owner, _CHANGED_BY_NOBODY):
        return owner
    if isinstance(owner, ModuleType):
        # What the text there has from a library stays what was read.
        file = str(getattr(vars(owner).get("__spec__"), "origin", ""))
        taken = name in known.NEVER_BOUND or name in _followed.get(file, ())
        place = str(vars(owner).get("__name__"))
        if taken if _is_own(owner) else not known.may_be_set(f"{place}.{name}"):
            raise AttributeError(f"{name} is a module's: submissions change no library")
    elif isinstance(owner, type):
        if _is_librarys(owner) or _is_inside(owner, name):
            raise AttributeError(f"{name} is a library's: submissions change no library")
    elif name[:1] == "_" and _is_inside(type(owner), name):
        raise AttributeError(f"{name} is a library's: submissions change no library")
    return owner


def _is_inside(kind: type, name: str) -> bool:
    """Return whether a name is private to a library class above one; torch's are for heirs."""
    key = id(kind), name
    if key not in _inside:
        private = name.startswith("_") and not name.endswith("__") and name not in known.PUBLIC
        # The class lives as long as what is known of it.
        _inside[key] = (
            kind,
            private
            and any(
                name in vars(base)
                and _is_librarys(base)
                and not base.__module__.startswith("torch.")
                for base in kind.__mro__
            ),
        )
    return _inside[key][1]


def _asked(owner: Any, name: str) -> Any:
    """Return `owner`; raise if a submission may not look up this name on it."""
    kind = type(owner)
    if _asked_for.get((id(kind), name)) is kind:
        return owner
    # What lacked a name may be anything.
    strange = name == "obj" and isinstance(owner, AttributeError)
    strange |= name in known.LEADS_ON and name not in _held_by(owner)
    if type(name) is not str or owner is builtins or strange or not _is_ordinary(owner, name):
        # To look up a name that does not exist is harmless.
        if type(name) is str and not strange and not hasattr(owner, name):
            return owner
        raise AttributeError(f"{name} is not looked up for submissions: it is no public name")
    if _made.get(id(kind)) is kind and _is_own(_giver(owner, name)):
        _asked_for[id(kind), name] = kind
    return owner


def _vars(owner: Any) -> Any:
    """Return an object's dictionary, or a read-only copy of the part that is for submissions."""
    if isinstance(owner, ModuleType):
        raise AttributeError("what is in a module is not listed for submissions")
    held = vars(owner)
    # What a library's class keeps for itself is set by no dictionary.
    inner = _has_inside(type(owner))
    shown = {
        name: value
        for name, value in held.items()
        if type(name) is str and _is_ordinary(owner, name) and not isinstance(value, ModuleType)
    }
    return MappingProxyType(shown) if inner or len(shown) < len(held) else held


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
    """Return `owner`; raise if a submission may not set or delete this attribute."""
    library = isinstance(owner, type) and not _is_own(owner)
    dunder = isinstance(name, str) and name.startswith("__") and name.endswith("__")
    taken = name in known.INTERPRETER or (dunder and not _is_ordinary(owner, name))
    if type(name) is not str or taken or library:
        raise AttributeError(f"{name} is not changed by submissions")
    if isinstance(owner, ModuleType) and not _is_own(owner):
        raise AttributeError(f"{name} is a module's: submissions change no module")
    return _holder(owner, name)


def _is_ordinary(owner: Any, name: str) -> bool:
    if name in known.INTERPRETER:
        return False
    if not name.startswith("_") or name in known.PUBLIC or name in known.PROTOCOL:
        return True
    if name.startswith("__") and name.endswith("__") and known.is_taken(name):
        return False
    if isinstance(owner, ModuleType) and f"{owner.__name__}.{name}" in known.BUILT_ON:
        return True
    # A method has what its function has.
    owner = owner.__func__ if isinstance(owner, MethodType) else owner
    if not isinstance(owner, _CODE) and name in _held_by(owner):
        return True
    giver = _giver(owner, name)
    # What a method of torch's that a submission's own one stands in for does beside.
    heir = isinstance(owner, super) or _is_own(type(owner))
    if _is_own(giver) or (heir and _is_librarys(giver, _INHERITED)):
        return True
    # A class that `type` made is known by what it holds.
    if not isinstance(giver, type) or _is_librarys(giver):
        return False
    held = vars(giver).get(name, giver)
    return held is not giver and (type(held) in _PLAIN or _is_own(held))


def _has_inside(kind: type) -> bool:
    """Return whether a library's class above one keeps some name for itself."""
    key = id(kind), ""
    if key not in _inside:
        names = {name for base in kind.__mro__ for name in vars(base)}
        _inside[key] = kind, any(_is_inside(kind, name) for name in names)
    return _inside[key][1]


def _held_by(owner: Any) -> Collection[str]:
    if type(owner) is threading.local:
        return vars(owner)
    try:
        # Not what it says itself: it may stand for a class, as list[int] does.
        found: dict[str, Any] = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return ()
    # Where torch's modules have what is set on them.
    parts = [found.get(part) for part in ("_parameters", "_buffers", "_modules")]
    inner = [part for part in parts if type(part) is dict]
    return set(found).union(*inner) if inner else found


def _giver(owner: Any, name: str) -> Any:
    """Return the class that gives an object a name, or what stands for it."""
    if isinstance(owner, (ModuleType, FunctionType)):
        return owner
    kind = owner if isinstance(owner, type) else type(owner)
    # These stand for another.
    if _is_one_of(kind, _ALIASES):
        kind = owner.__origin__
    elif _is_one_of(kind, weakref.ProxyTypes):
        kind = owner.__class__
    places: tuple[Any, ...] = kind.__mro__ if isinstance(kind, type) else ()
    if isinstance(owner, super):
        parent: Any = owner
        own = parent.__self__
        mro = (own if isinstance(own, type) else type(own)).__mro__
        places = mro[mro.index(parent.__thisclass__) + 1 :]
    if isinstance(owner, type):
        # A class is asked for names of its metaclass, too.
        above: Any = type(owner)
        places = (*places, *above.__mro__)
    return next((one for one in places if name in vars(one)), kind)


def _is_one_of(kind: type, kinds: Iterable[type]) -> bool:
    return any(kind is one for one in kinds)


def _is_own(thing: Any) -> bool:
    """Return whether a module, function or class is a submission's: it has builtins of its own."""
    if isinstance(thing, type):
        return _made.get(id(thing)) is thing
    if isinstance(thing, FunctionType):
        # A decorator of a library's returns a function of its own, which stands for the inner one.
        inner = vars(thing).get("__wrapped__")
        return any(_DICT in _builtins_of(one) for one in (thing, inner))
    table = vars(thing).get("__builtins__") if isinstance(thing, ModuleType) else None
    return isinstance(table, dict) and _DICT in table


def _builtins_of(function: Any) -> Collection[str]:
    found: Collection[str] = getattr(function, "__builtins__", ())
    return found if isinstance(function, FunctionType) else ()


def _is_librarys(kind: Any, modules: tuple[str, ...] = ("",)) -> bool:
    """Return whether a class lies in a library, in a module whose name begins so."""
    name = str(kind.__module__)
    module = sys.modules.get(name)
    if module is None or _is_own(module) or not name.startswith(modules):
        return False
    return getattr(module, kind.__name__, None) is kind


def _build_class(body: Any, name: str, /, *bases: Any, **keywords: Any) -> Any:
    """Make a class, and note whose it is: what it says itself can be changed."""
    made = builtins.__build_class__(body, name, *bases, **keywords)
    if all(
        isinstance(b, type) or _is_one_of(type(b), _ALIASES) or b is typing.NamedTuple
        for b in bases
    ):
        # A metaclass of one's own could return any class there is.
        makers = {*map(type, types.resolve_bases(bases)), keywords.get("metaclass", type)}
        new = isinstance(made, type) and made.__module__ == body.__globals__.get("__name__")
        if new or all(isinstance(maker, type) and _is_librarys(maker) for maker in makers):
            _made[id(made)] = made
    if isinstance(made, type) and not _is_librarys(made):
        home = sys.modules.get(made.__module__)
        if home is not None and home.__name__ != "__main__" and not _is_own(home):
            raise TypeError(f"{name} says that it is of {made.__module__}, and is not")
        for inside in body.__code__.co_names:
            # A method may be another's: that is what bases are for.
            text = not callable(vars(made).get(inside, _build_class))
            if text and any(_is_inside(base, inside) for base in made.__bases__):
                raise TypeError(f"{name} changes {inside}, which is private to its base")
    return made


def _build_accepted(body: Any, name: str, /, *bases: Any, **keywords: Any) -> Any:
    """Make a class in a file that a person has accepted."""
    made = builtins.__build_class__(body, name, *bases, **keywords)
    if isinstance(made, type):
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


def copy_names(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return `functools.update_wrapper`, which takes nothing from a module, nor changes a class."""

    @functools.wraps(original)
    def update_wrapper(wrapper: Any, wrapped: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(wrapped, ModuleType) or isinstance(wrapper, type | ModuleType):
            raise TypeError("only functions are wrapped")
        return original(wrapper, wrapped, *args, **kwargs)

    return update_wrapper


def redirect(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return how `contextlib` begins to redirect a stream, which is standard output or errors."""

    @functools.wraps(original)
    def enter(self: Any) -> Any:
        if self._stream not in ("stdout", "stderr"):
            raise TypeError("only standard output and errors are redirected")
        return original(self)

    return enter


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
            case ast.Import() | ast.ImportFrom() | ast.ClassDef() | ast.Global():
                raise TypeError("the name of a field of a dataclass is no plain name")
    exec(text, scope, made)  # noqa: S102 - it was read
