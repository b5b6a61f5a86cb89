"""What names stand for in a text: imports, assignments, and the submission's own modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Whether a type checker reads the text, which never runs it.
_CHECKING = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class Scope:
    """What names stand for in a module, class, function or comprehension.

    Attributes:
        kind: "module", "class" or "function".
        bound: by name the dotted names it may stand for; "" for a value of the submission's own.
        stars: modules all of whose names are here.
        outer: what is bound here, but belongs to a scope around it (global, nonlocal).
    """

    kind: str
    bound: dict[str, set[str]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    outer: dict[str, set[str]] = field(default_factory=dict)

    def bind(self, name: str, dotted: str = "") -> None:
        """Note what a name may stand for."""
        self.bound.setdefault(name, set()).add(dotted)


class Own:
    """The submission's own modules.

    Attributes:
        modules: their names.
        scopes: what the names in each stand for.
        given: what names that are declared global or nonlocal stand for.
    """

    def __init__(self, modules: Iterable[str]) -> None:
        self.modules = set(modules)
        self.scopes: dict[str, Scope] = {}
        self.given: dict[str, set[str]] = {}

    def name(self, file: str) -> str:
        """Return the name of the module in a file, and note that there is such."""
        name = file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        parts = name.split(".")
        self.modules.update(".".join(parts[: count + 1]) for count in range(len(parts)))
        return name

    def add(self, file: str, tree: ast.Module, main: bool) -> None:
        """Take note of a module."""
        name = self.name(file)
        if not main:
            without_main(tree)
        _mangle(tree)
        self.scopes[name] = scope_of(tree, "module")
        for node in ast.walk(tree):
            match node:
                case ast.ClassDef():
                    self._give(scope_of(node, "class"))
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._give(scope_of(node, "function"))

    def _give(self, scope: Scope) -> None:
        """Note what a scope binds global and nonlocal names to: any use of them may mean that."""
        for outer, meanings in scope.outer.items():
            self.given.setdefault(outer, set()).update(meanings)

    def holds(self, dotted: str) -> bool:
        """Return whether a module is the submission's own."""
        return dotted in self.modules

    def imported(self, tree: ast.Module) -> tuple[list[str], list[str]]:
        """Return the modules of the submission's own that a text imports, and that it names.

        Any word of its texts may be the name that a module is imported by.
        """
        found: dict[str, None] = {}
        words: set[str] = set()
        for node in ast.walk(tree):
            names: list[str] = []
            match node:
                case ast.Import():
                    names = [alias.name for alias in node.names]
                case ast.ImportFrom(level=0):
                    names = [node.module or ""]
                case ast.ImportFrom():
                    # Of a package of its own: whatever lies in it may be meant.
                    names = [name for name in self.modules if "." in name]
                case ast.Constant(value=str(text)):
                    words.update(re.findall(r"\w+", text))
            found.update((name.partition(".")[0], None) for name in names)
            if isinstance(node, ast.Import | ast.ImportFrom):
                dotted = [*(alias.name for alias in node.names), getattr(node, "module", "") or ""]
                words.update(part for name in dotted for part in name.split("."))
        named = sorted(words & self.modules)
        return [name for name in found if self.holds(name)], named


def without_main(tree: ast.Module) -> None:
    """Leave out what does not run when a module is imported: its main part, and type checkers'."""
    tree.body = list(_imported_part(tree.body))


def _imported_part(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        match statement:
            case ast.If(
                test=ast.Compare(
                    left=ast.Name(id="__name__"),
                    ops=[ast.Eq()],
                    comparators=[ast.Constant(value="__main__")],
                ),
                orelse=orelse,
            ):
                yield from orelse
            case ast.If(test=test, orelse=orelse) if dotted_name(test) in _CHECKING:
                yield from orelse
            case _:
                yield statement


def with_classes(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield every node, outer ones first, with the class whose own names (as __x) are meant in it.

    Where a class itself stands, its decorators and bases, that is the class around it.
    """
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, owner = waiting.pop()
        inner = node.name.lstrip("_") if isinstance(node, ast.ClassDef) else owner
        outside: list[ast.AST] = []
        if isinstance(node, ast.ClassDef):
            outside = [*node.decorator_list, *node.bases, *node.keywords]
        for child in ast.iter_child_nodes(node):
            waiting.append((child, owner if child in outside else inner))
        yield node, owner


def _mangle(tree: ast.Module) -> None:
    """Write the names of classes' own, as __x in a class C, as Python takes them: _C__x."""
    for node, owner in with_classes(tree):
        for name in ("id", "attr", "arg", "name", "asname", "rest"):
            text = getattr(node, name, None)
            if isinstance(text, str):
                setattr(node, name, mangled(text, owner))
        if isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [mangled(text, owner) for text in node.names]
        if isinstance(node, ast.MatchClass):
            node.kwd_attrs = [mangled(text, owner) for text in node.kwd_attrs]


def mangled(name: str, owner: str) -> str:
    """Return a name as Python takes it in a class."""
    own = owner and name.startswith("__") and not name.endswith("__") and "." not in name
    return f"_{owner}{name}" if own else name


def scope_of(node: ast.AST, kind: str) -> Scope:
    """Return what names stand for in the scope that a node opens."""
    scope = Scope(kind)
    outer: set[str] = set()
    for inner in _inside(node):
        match inner:
            case ast.Import(names=names):
                for alias in names:
                    whole = alias.name if alias.asname else alias.name.partition(".")[0]
                    scope.bind(alias.asname or whole, whole)
            case ast.ImportFrom(module=module, names=names, level=level):
                for alias in names:
                    place = "" if level and not module else f"{module}."
                    if alias.name == "*":
                        scope.stars.append(place[:-1])
                    else:
                        scope.bind(alias.asname or alias.name, place + alias.name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if dotted := dotted_name(
                value
            ):
                # Whatever that is: another name of the same thing.
                scope.bind(name, f"={dotted}")
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                scope.bind(name)
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                scope.bind(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                scope.bind(name)
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                scope.bind(name)
            case ast.arg(arg=name):
                scope.bind(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                outer.update(names)
    for name in outer & scope.bound.keys():
        scope.outer[name] = scope.bound.pop(name)
    return scope


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of the scope that a node opens, without those of scopes within."""
    if isinstance(node, FUNCTIONS):
        arguments = node.args
        yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        yield from (extra for extra in (arguments.vararg, arguments.kwarg) if extra)
        body = node.body if isinstance(node.body, list) else [node.body]
        waiting: list[ast.AST] = list(body)
    elif isinstance(node, COMPREHENSIONS):
        waiting = [generator.target for generator in node.generators]
    else:
        waiting = list(getattr(node, "body", ()))
    while waiting:
        inner = waiting.pop()
        yield inner
        if isinstance(inner, COMPREHENSIONS):
            # What is named by := in it belongs to the function around it.
            waiting += [n.target for n in ast.walk(inner) if isinstance(n, ast.NamedExpr)]
        elif not isinstance(inner, (*FUNCTIONS, ast.ClassDef)):
            waiting += ast.iter_child_nodes(inner)


def dotted_name(node: ast.AST) -> str:
    """Return a chain of attributes as it is written; nothing for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""
