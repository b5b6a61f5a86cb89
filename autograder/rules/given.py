"""Recognise text that students are given in a component: by its form, without running it.

The form of a definition is its syntax tree with that of all that it needs of its own file. Layout,
comments, docstrings, annotations and the names that it binds itself are no part of it; what it
imports is, by its full name. Two texts of one form do the same, step by step.
"""

from __future__ import annotations

import ast
import hashlib
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

# What students are given as modules: `guard.PROVIDED`, without what that imports.
_PROVIDED = "provided."
# In nodes of the syntax tree: shorter forms are the same in the work of many.
LEAST = 40
# The name of all of a file.
WHOLE = ""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_FENCED = re.compile(r"^[ \t]*```[^\n]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^(?:    |\t)[^\n]*\n(?:[ \t]*\n)*)+", re.MULTILINE)
_WITHOUT_A_PART = {"annotation", "returns", "ctx", "type_comment", "kind", "type_params"}


@dataclass(frozen=True)
class Given:
    """What students are given, and where it would be handed in.

    Attributes:
        names: by the file of a component without `.py`, the names that a student has to define.
        forms: where each form is given, by its digest.
    """

    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    forms: Mapping[str, str] = field(default_factory=dict)

    def found_in(self, spelled: Iterable[Sequence[str]]) -> dict[str, str]:
        """Return for each component that is given text a sentence about it.

        Args:
            spelled: what `spell` returns of the submission.
        """
        found: dict[str, str] = {}
        for module, name, what in spelled:
            component = module.partition("/")[0]
            where = self.forms.get(what)
            if where is not None:
                called = f"{name} is" if name else f"{module}.py is"
                found.setdefault(component, f"{called} {where}, handed in as your own; it scores 0")
            elif what.startswith(_PROVIDED):
                place = "/".join(what.split(".")[:-1])
                words = f"{name} is imported from {place}.py, which the handout gives; it scores 0"
                found.setdefault(component, words)
        return found


def spell(files: Mapping[str, bytes], names: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return what the public names of components stand for: [file without `.py`, name, what].

    That is the digest of a form, or the full name of what is imported from provided code.

    Args:
        files: a submission's, by relative path.
        names: as of `Given`.
    """
    modules = {
        path.removesuffix(".py"): module
        for path, data in files.items()
        if path.endswith(".py")
        and ("/" not in path or path.removesuffix(".py") in names)
        and (module := module_of(data)) is not None
    }
    found = []
    for component in (name for name in names if name in modules):
        for name in (*names[component], WHOLE):
            what = _meaning(modules, component, name, set())
            if what:
                found.append([component, name, what])
    return found


def module_of(text: str | bytes) -> Module | None:
    """Read a text; None where it is no Python."""
    try:
        return Module(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class Module:
    """The text of one file.

    Attributes:
        tree: its syntax tree.
        bound: by name, the last statement that defines it, or the full name that is imported.
        stars: the modules of which all names are imported.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.bound: dict[str, ast.stmt | str] = {}
        self.stars: list[str] = []
        for node in _statements(tree.body):
            self._bind(node)

    @property
    def definitions(self) -> dict[str, ast.stmt]:
        """The statements that define names, by name."""
        return {name: node for name, node in self.bound.items() if isinstance(node, ast.stmt)}

    def form(self, name: str) -> str:
        """Return the digest of a definition's form, or of all; empty if it is too short."""
        spelling = _Spelling(self)
        return spelling.digest(self.tree if name == WHOLE else self.definitions[name])

    def needed(self, names: Iterable[str]) -> str:
        """Return the text of some definitions, with all of this file that they need."""
        waiting, kept = list(names), set[str]()
        while waiting:
            name = waiting.pop()
            if name in self.bound and name not in kept:
                kept.add(name)
                node = self.bound[name]
                below = ast.walk(node) if isinstance(node, ast.stmt) else ()
                waiting += [part.id for part in below if isinstance(part, ast.Name)]
        imports = [_import(name, str(self.bound[name])) for name in sorted(kept - {*self._own()})]
        texts = [ast.unparse(node) for name, node in self.definitions.items() if name in kept]
        return "\n".join([*imports, *texts, ""])

    def imported(self, node: ast.expr) -> str:
        """Return the full name of what is imported and named here; or nothing."""
        if isinstance(node, ast.Attribute):
            before = self.imported(node.value)
            return f"{before}.{node.attr}" if before else ""
        found = self.bound.get(node.id, "") if isinstance(node, ast.Name) else ""
        return found if isinstance(found, str) else ""

    def _own(self) -> Iterable[str]:
        return self.definitions

    def _bind(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.bound[node.name] = node
            case ast.Assign(targets=[ast.Name(id=name)]):
                self.bound[name] = node
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                self.bound[name] = node
            case ast.Import(names=names):
                for one in names:
                    whole = one.name if one.asname else one.name.partition(".")[0]
                    self.bound[one.asname or whole] = whole
            case ast.ImportFrom(module=module, names=names, level=level):
                for one in names:
                    place = "." * level + (module or "")
                    if one.name == "*":
                        self.stars.append(place)
                    else:
                        self.bound[one.asname or one.name] = f"{place}.{one.name}"


def code_in(page: str) -> list[str]:
    """Return the blocks of code of a page or a docstring: fenced, or indented by four spaces."""
    fenced = [found[1] for found in _FENCED.finditer(page)]
    indented = _INDENTED.findall(_FENCED.sub("", page))
    return [textwrap.dedent(block) for block in (*fenced, *indented)]


def is_empty(body: Sequence[ast.stmt]) -> bool:
    """Return whether a body has nothing in it but words, `pass` and `...`."""
    return all(
        isinstance(node, ast.Pass)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in body
    )


def _import(name: str, whole: str) -> str:
    module, _, last = whole.rpartition(".")
    return f"from {module} import {last} as {name}" if module else f"import {whole} as {name}"


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a file, and those that are in an `if` or `try` of its own."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            for part in ("body", "orelse", "handlers", "finalbody"):
                for one in getattr(node, part, []):
                    inner = one.body if isinstance(one, ast.ExceptHandler) else [one]
                    yield from _statements(inner)


def _meaning(
    modules: Mapping[str, Module], file: str, name: str, seen: set[tuple[str, str]]
) -> str:
    """Return what a name of a file stands for: a form's digest, or what is provided; or nothing."""
    module = modules[file]
    if name == WHOLE:
        return module.form(WHOLE)
    if (file, name) in seen:
        return ""
    seen.add((file, name))

    def elsewhere(whole: str) -> str:
        if whole.startswith(_PROVIDED):
            return whole
        place, _, last = whole.rpartition(".")
        return _meaning(modules, place, last, seen) if place in modules else ""

    found = module.bound.get(name)
    if found is None:
        wholes = (f"{place}.{name}" for place in module.stars)
        return next(filter(None, map(elsewhere, wholes)), "")
    if isinstance(found, str):
        return elsewhere(found)
    other = _other_name(found)
    if other is None:
        return module.form(name)
    if isinstance(other, ast.Name) and other.id in module.definitions:
        return _meaning(modules, file, other.id, seen)
    return elsewhere(module.imported(other))


def _other_name(node: ast.stmt) -> ast.expr | None:
    """Return what is given only another name here: by an assignment, or a class with no body."""
    match node:
        case ast.Assign(value=value) | ast.AnnAssign(value=value) if isinstance(
            value, ast.Name | ast.Attribute
        ):
            return value
        case ast.ClassDef(bases=[base], body=body) if is_empty(body):
            return base
    return None


class _Spelling:
    """Writes a definition out, with all that it needs, so that its own names do not matter."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._numbers: dict[tuple[str, str], int] = {}
        self._waiting: list[ast.stmt] = []
        self._size = 0
        # What the definition that is being written binds itself.
        self._local: set[str] = set()
        self._scope = ""
        self._members: set[str] = set()

    def digest(self, node: ast.AST) -> str:
        """Return the digest of its form; empty if it is too short."""
        words: list[str] = []
        self._members = _members(self._module.tree)
        self._waiting = [node]  # type: ignore[list-item]
        for place, one in enumerate(self._waiting):
            self._scope, self._local = str(place), _bound_in(one)
            words += self._node(one)
        if self._size < LEAST:
            return ""
        return hashlib.sha256("\0".join(words).encode("utf-8", "replace")).hexdigest()[:32]

    def _node(self, node: ast.AST) -> Iterator[str]:
        self._size += 1
        whole = self._imported(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        if whole:
            yield whole
        elif isinstance(node, ast.Name):
            yield self._name(node.id)
        elif isinstance(node, ast.Constant):
            yield f"{type(node.value).__name__} {node.value!r}"
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._size -= 1
            yield from self._node(ast.Assign(targets=[node.target], value=node.value))
        else:
            yield f"({type(node).__name__}"
            for part, value in ast.iter_fields(node):
                if part not in _WITHOUT_A_PART:
                    yield part
                    yield from self._part(node, part, value)
            yield ")"

    def _part(self, node: ast.AST, part: str, value: object) -> Iterator[str]:
        if isinstance(value, ast.AST):
            yield from self._node(value)
        elif isinstance(value, list):
            for one in value:
                if isinstance(one, ast.AST) and not _says_nothing(one):
                    yield from self._node(one)
                elif isinstance(one, str):
                    yield self._name(one)
        elif not isinstance(value, str):
            yield repr(value)
        elif isinstance(node, ast.Attribute):
            yield self._member(value)
        elif isinstance(node, ast.keyword | ast.alias):
            yield value
        elif isinstance(node, _Definition) and value in self._members:
            yield self._member(value)
        else:
            yield self._name(value)

    def _imported(self, node: ast.expr) -> str:
        whole = self._module.imported(node)
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        return "" if isinstance(root, ast.Name) and root.id in self._local else whole

    def _member(self, name: str) -> str:
        """Return an attribute, by a number where a class of this file sets it."""
        if name not in self._members or name.startswith("__"):
            return f".{name}"
        return f".{self._number('member', name)}"

    def _name(self, name: str) -> str:
        """Return a name, by a number where it is bound here."""
        if name in self._local:
            return f"local {self._number(self._scope, name)}"
        found = self._module.bound.get(name)
        if not isinstance(found, ast.stmt):
            return found or name
        if found not in self._waiting:
            self._waiting.append(found)
        return f"own {self._waiting.index(found)}"

    def _number(self, kind: str, name: str) -> int:
        return self._numbers.setdefault((kind, name), len(self._numbers))


def _says_nothing(node: ast.AST) -> bool:
    words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return (words and isinstance(node.value.value, str)) or isinstance(  # type: ignore[attr-defined]
        node, ast.Import | ast.ImportFrom
    )


def _bound_in(top: ast.AST) -> set[str]:
    """Return the names that a definition binds inside: parameters, variables, functions."""
    found: set[str] = set()
    for node in ast.walk(top):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                found.add(name)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
    own = {top.name} if isinstance(top, _Definition) else set()
    if isinstance(top, ast.Assign | ast.AnnAssign):
        targets = top.targets if isinstance(top, ast.Assign) else [top.target]
        own = {target.id for target in targets if isinstance(target, ast.Name)}
    return found - own


def _members(tree: ast.AST) -> set[str]:
    """Return the attributes that classes of a file have of their own."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.ClassDef):
            found |= {one.name for one in node.body if isinstance(one, _Function)}
    return found
