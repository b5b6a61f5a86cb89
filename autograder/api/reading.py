"""Read the text of a submission for what reaches around the public interface, and run nothing.

The same on every machine: what is ordinary is on a list (`ordinary`), and everything else is for a
person to look at. Names are followed through imports, plain assignments and the submission's own
modules; where a text leaves open what a name stands for, the less ordinary reading counts.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from autograder.api import ordinary as known
from autograder.api.rules import used_by
from autograder.api.scopes import (
    COMPREHENSIONS,
    FUNCTIONS,
    Own,
    Scope,
    dotted_name,
    scope_of,
)

# Beside Python's own, these are there before a submission is.
_LOADED = ("torch", "numpy", "torchgen", "typing_extensions", "autograder", "__main__")
# More is not listed of one file; a person who has seen these need not see others.
_MOST = 20
_Kind = tuple[tuple[str, ...], tuple[str, ...]]
_WIDEST = 120


# What to write instead, by how the words of a finding begin; the first counts.
_INSTEAD = {
    "imports pdb": "delete the lines for the debugger",
    "uses breakpoint": "delete the lines for the debugger",
    "uses locals": "hand over the values that you need, in a dictionary of your own",
    "uses globals": "keep the values in a dictionary of your own",
    "uses torch.jit": "leave torch.jit away: the function works without it",
    "imports": "import plain modules of Python's library, torch, numpy or your own files",
    "uses": "use the public functions that the libraries' pages describe, or write it out",
    "asks for": "use public names; hand over what you need as an argument",
    "hands": "name the function that you need, as F.relu, instead of the module",
    "keeps": "import at the top of the file",
    "calls": "write names and arguments where you use them",
    "matches": "name the attributes, as Point(x=x)",
    "opens": "open files of your own folder by their names",
    "defines": "give it a name without underscores around it",
    "is written": "save the file as UTF-8",
    "changes": "leave libraries as they are: keep your own values in your own names",
    "cannot be read": "write it in shorter and flatter lines",
}


@dataclass(frozen=True)
class Finding:
    """Something out of the ordinary: where it is, and what, in words that go on "it ..."."""

    file: str
    line: int
    what: str

    @property
    def words(self) -> str:
        """Where it is, and what."""
        return f"{self.file}, line {self.line}: it {self.what}"


def instead(what: str) -> str:
    """Return what to write instead of something out of the ordinary."""
    return next(words for start, words in _INSTEAD.items() if what.startswith(start))


@dataclass(frozen=True)
class Ordinary:
    """What an assignment adds to the lists.

    Attributes:
        packages: top-level modules that submissions may import, besides torch and numpy.
        own: modules that are there beside a submission's own: components, and what is provided.
        programs: files that are run as programs, their main part, too.
        ordinary: names that are ordinary in this assignment: of modules, with all below them, of
            functions or attributes.
        unusual: names that are out of the ordinary in it, likewise.
    """

    packages: Sequence[str] = ()
    own: Sequence[str] = ()
    programs: Sequence[str] = ()
    ordinary: Sequence[str] = ()
    unusual: Sequence[str] = ()


@dataclass(frozen=True)
class Reading:
    """What the text of a submission says.

    Attributes:
        findings: what is out of the ordinary, by file and line.
        imports: for each file the modules of the submission's own that it imports.
        named: for each file those that it names at all, also in a text; all if it cannot be read.
    """

    findings: list[Finding]
    imports: dict[str, list[str]]
    named: dict[str, list[str]]

    def about(self, file: str, without: Collection[str] = ()) -> list[Finding]:
        """Return what is out of the ordinary in what a file runs; arguments as of `reached`."""
        reached = self.reached(file, without)
        return [finding for finding in self.findings if finding.file in reached]

    def computes(self, files: Collection[str]) -> bool:
        """Return whether some of these files may import, open or run what no text names."""
        found = (finding.what for finding in self.findings if finding.file in files)
        return any(map(known.is_computed, found))

    def reached(self, file: str, without: Collection[str] = ()) -> set[str]:
        """Return the files that one runs when it is imported, itself among them.

        Args:
            file: the one.
            without: files that something else is put in the place of.
        """
        found, waiting = {file}, [file]
        while waiting:
            for module in self.imports.get(waiting.pop(), ()):
                folder = module.replace(".", "/")
                for other in self.imports:
                    inside = other == f"{folder}.py" or other.startswith(f"{folder}/")
                    if inside and other not in found and other not in without:
                        found.add(other)
                        waiting.append(other)
        return found


def read_files(files: Mapping[str, bytes], terms: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a `Reading` that can be written as JSON, a file at a time.

    Args:
        files: a submission's, by relative path; only Python's are read.
        terms: an `Ordinary`, likewise.
    """
    reading = read(files, Ordinary(**terms))
    texts = dict.fromkeys([*reading.imports, *(finding.file for finding in reading.findings)])
    return [
        {
            "file": file,
            "imports": reading.imports.get(file, []),
            "named": reading.named.get(file, []),
            "findings": [[f.line, f.what] for f in reading.findings if f.file == file],
        }
        for file in texts
    ]


def reading_of(found: Sequence[Mapping[str, Any]]) -> Reading:
    """Return the reading that was written as JSON."""
    findings = [Finding(text["file"], *pair) for text in found for pair in text["findings"]]
    imports, named = ({text["file"]: text[what] for text in found} for what in ("imports", "named"))
    return Reading(findings, imports, named)


def read(files: Mapping[str, bytes], terms: Ordinary) -> Reading:
    """Read the files of a submission; arguments as of `read_files`."""
    found: list[Finding] = []
    own = Own(terms.own)
    texts: dict[str, ast.Module] = {}
    for file, source in sorted(files.items()):
        if not file.endswith(".py"):
            continue
        own.name(file)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                texts[file] = ast.parse(source)
        except SyntaxError as error:
            # Python cannot run it either, but another codec could be there by then.
            if "encoding" in str(error):
                found.append(Finding(file, 1, "is written in an encoding that is not known"))
        except (ValueError, RecursionError, MemoryError):
            found.append(Finding(file, 1, "cannot be read: it is nested too deeply, or no text"))
    for file, tree in texts.items():
        own.add(file, tree, main=file in terms.programs)
    for file, tree in texts.items():
        try:
            found += _Reader(file, own, terms).read(tree)
        except RecursionError:
            found.append(Finding(file, 1, "cannot be read: it leads on from name to name"))
    imports: dict[str, list[str]] = {file: [] for file in files if file.endswith(".py")}
    named = dict.fromkeys(imports, sorted(own.modules))
    for file, tree in texts.items():
        imports[file], named[file] = own.imported(tree)
    return Reading(sorted(found, key=lambda finding: (finding.file, finding.line)), imports, named)


def each_reading(
    kinds: Mapping[str, _Kind],
    uses: Mapping[str, Sequence[str]],
    read: Callable[[_Kind], Reading],
) -> Iterator[tuple[str, Reading, set[str]]]:
    """Yield every component with what is read by its lists, and the files that are not its own.

    Args:
        kinds: of each component, the names that are ordinary and those that are unusual in it.
        uses: of each component, those that it may import: each answers for itself.
        read: reads the submission; it is asked once for all components of one kind.
    """
    readings: dict[_Kind, Reading] = {}
    for name, kind in kinds.items():
        if kind not in readings:
            readings[kind] = read(kind)
        yield name, readings[kind], {f"{other}.py" for other in used_by(name, uses)}


# By a chain of names and the scopes that it stands in, the full names that it may stand for.
_Meanings = dict[tuple[str, tuple[int, ...]], set[str]]


class _Reader:
    """Reads one file.

    Args:
        file: its path in the submission.
        own: what the submission brings along.
        terms: what the assignment adds to the lists.
    """

    def __init__(self, file: str, own: Own, terms: Ordinary) -> None:
        self._file = file
        self._own = own
        self._terms = terms
        self._found: dict[tuple[int, str], Finding] = {}
        # Nodes that stand where a module, or a function that looks up by name, may stand.
        self._in_place: set[int] = set()

    def read(self, tree: ast.Module) -> list[Finding]:
        """Return what is out of the ordinary."""
        waiting: list[tuple[ast.AST, tuple[Scope, ...]]] = [(tree, ())]
        typing = _from_typing(tree)
        while waiting:
            node, scopes = waiting.pop()
            if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS, *COMPREHENSIONS)):
                outside, inside = self._enter(node, scopes)
                waiting += [(child, scopes) for child in outside]
                without = set(map(id, outside))
                waiting += [(child, (*scopes, inside)) for child in _parts(node, without)]
            else:
                waiting += [(child, scopes) for child in ast.iter_child_nodes(node)]
            self._look(node, scopes)
            waiting += [(expression, scopes) for expression in _annotations(node, typing)]
        return list(self._found.values())[:_MOST]

    def _enter(self, node: ast.AST, scopes: tuple[Scope, ...]) -> tuple[list[ast.AST], Scope]:
        """Return the children that are evaluated outside of a node's scope, and the scope."""
        outside: list[ast.AST] = []
        kind = "function"
        match node:
            case ast.Module():
                kind = "module"
            case ast.ClassDef():
                kind = "class"
                outside = [*node.decorator_list, *node.bases, *node.keywords]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                outside = [*node.decorator_list, *([node.returns] if node.returns else [])]
                outside += _before(node.args)
            case ast.Lambda():
                outside = _before(node.args)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                outside = [node.generators[0].iter]
        scope = scope_of(node, kind)
        if kind == "class":
            for name, meanings in scope.bound.items():
                if any(d and self._modules(d.lstrip("="), (*scopes, scope)) for d in meanings):
                    self._add(node, f"keeps the module {name} in a class")
        return outside, scope

    def _add(self, node: ast.AST, what: str) -> None:
        line = getattr(node, "lineno", 1)
        what = what if len(what) <= _WIDEST else what[: _WIDEST - 1] + "…"
        self._found.setdefault((line, what), Finding(self._file, line, what))

    def _look(self, node: ast.AST, scopes: tuple[Scope, ...]) -> None:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    self._imports(node, alias.name)
                    self._defines(node, alias.asname or "")
            case ast.ImportFrom():
                self._imports_from(node)
            case ast.Attribute(value=value, attr=attr):
                self._in_place.add(id(value))
                self._attribute(node, value, attr, scopes)
                self._value(node, scopes)
            case ast.Name(id=name, ctx=ast.Load()):
                self._builtin(node, name, scopes)
                if not any(name in scope.bound for scope in scopes):
                    # By a star, if at all.
                    self._brought(node, self._meanings(name, scopes))
                self._value(node, scopes)
            case ast.Name(id=name):
                self._defines(node, name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self._defines(node, name)
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                self._defines(node, name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                for name in names:
                    self._defines(node, name)
            case ast.Assign(targets=[ast.Name()], value=value):
                # Another name of the same thing, and followed as such.
                self._in_place.add(id(value))
            case ast.If(test=test) | ast.IfExp(test=test) | ast.UnaryOp(op=ast.Not(), operand=test):
                # It is only tested, and goes nowhere.
                self._in_place.add(id(test))
            case ast.Compare(left=left, ops=ops, comparators=others) if all(
                isinstance(op, ast.Is | ast.IsNot) for op in ops
            ):
                self._in_place.update(map(id, (left, *others)))
            case ast.BoolOp(op=ast.And(), values=[*tested, _]):
                self._in_place.update(map(id, tested))
            case ast.MatchClass(cls=kind, patterns=patterns, kwd_attrs=names):
                if patterns and dotted_name(kind) not in known.BY_POSITION:
                    self._add(node, f"matches {dotted_name(kind)} by position")
                for name in names:
                    self._name_of_attribute(node, name, by_text=True)
            case ast.Call():
                self._call(node, scopes)

    # Imports.

    def _imports(self, node: ast.AST, dotted: str) -> None:
        top = dotted.partition(".")[0]
        if self._own.holds(top) and not _elsewhere(top):
            return
        if not self._is_ordinary(dotted) and not self._is_mistaken(dotted):
            self._add(node, f"imports {dotted}")

    def _imports_from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for alias in node.names:
            self._defines(node, alias.asname or "")
        if node.level or (self._own.holds(module.partition(".")[0]) and not _elsewhere(module)):
            for alias in node.names:
                self._brought(node, self._canonical(f"{module}.{alias.name}".lstrip("."), {}))
                if alias.name in known.INTERPRETER or not self._is_protocol(alias.name):
                    self._add(node, f"asks for {alias.name}")
            return
        if not self._is_ordinary(module):
            if not self._is_mistaken(module):
                self._add(node, f"imports {module}")
            return
        for alias in node.names:
            if alias.name != "*":
                self._name_in(node, module, alias.name, "imports")

    def _is_mistaken(self, module: str) -> bool:
        """Return whether there is no such module at all: that fails by itself."""
        top = module.partition(".")[0]
        return not (
            top.startswith("_")
            or top in self._terms.packages
            or known.is_listed(self._terms.unusual, module)
            or _is_there(top)
        )

    def _is_ordinary(self, module: str) -> bool:
        """Return whether a module, by its full name, is on the lists."""
        if known.is_listed(self._terms.unusual, module):
            return False
        if known.is_listed(self._terms.ordinary, module):
            return True
        if any(part.startswith("_") for part in module.split(".")) and module != "__future__":
            return False
        if module.partition(".")[0] in self._terms.packages:
            return True
        return known.covers(module)

    # Names and attributes.

    def _builtin(self, node: ast.AST, name: str, scopes: tuple[Scope, ...]) -> None:
        dunder = name.startswith("__") and name.endswith("__")
        if (dunder and not self._is_protocol(name)) or name in known.BUILTINS:
            own = not dunder and any(
                name in scope.bound and (scope.kind != "class" or scope is scopes[-1])
                for scope in scopes
            )
            if not own and not known.is_listed(self._terms.ordinary, name):
                self._add(node, f"uses {name}")

    def _defines(self, node: ast.AST, name: str) -> None:
        strange = name in known.NEVER_BOUND or not self._is_protocol(name)
        if strange and name not in self._terms.ordinary:
            self._add(node, f"defines {name}")

    def _is_protocol(self, name: str) -> bool:
        """Return False only for a name like __x__ that means something and is not on the list."""
        if not (name.startswith("__") and name.endswith("__") and len(name) > 4):
            return True
        return name in known.PROTOCOL or not known.is_taken(name)

    def _attribute(
        self, node: ast.AST, value: ast.expr, attr: str, scopes: tuple[Scope, ...]
    ) -> None:
        dotted = dotted_name(value)
        settled = False
        for meaning in sorted(self._meanings(dotted, scopes)) if dotted else ():
            if self._is_own(meaning):
                self._brought(node, self._canonical(f"{meaning}.{attr}", {}))
                continue
            if self._is_mistaken(meaning):
                continue
            if isinstance(found := self._object(meaning), ModuleType):
                module = meaning if self._is_listed(meaning) else found.__name__
                self._name_in(node, module, attr, "uses")
                if self._changes(node) and not known.may_be_set(f"{module}.{attr}"):
                    self._add(node, f"changes {module}.{attr}")
            elif _is_private(attr):
                self._add(node, f"uses {meaning}.{attr}, which is private")
            elif self._changes(node) and not known.may_be_set(f"{meaning}.{attr}"):
                self._add(node, f"changes {meaning}.{attr}")
            else:
                continue
            settled = True
        if settled:
            return
        if attr == "__dict__":
            # When it runs, it is `vars`, which shows what may be asked for (`own_builtins`).
            return
        inherited = isinstance(value, ast.Call) and dotted_name(value.func) == "super"
        meanings = self._meanings(dotted, scopes) if dotted else set()
        library = not all(self._is_own(meaning) for meaning in meanings)
        if (attr in known.DEFINED_ONLY and not inherited) or (attr in known.SETTERS and library):
            self._add(node, f"asks for {attr}")
        self._name_of_attribute(node, attr)

    @staticmethod
    def _changes(node: ast.AST) -> bool:
        return isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)

    def _name_of_attribute(self, node: ast.AST, attr: str, by_text: bool = False) -> None:
        """Look at an attribute of whatever it may be.

        Args:
            node: where it is asked for.
            attr: its name.
            by_text: whether only the text says it: nobody asks the object when it runs.
        """
        if attr in self._terms.ordinary:
            return
        if (
            attr in known.INTERPRETER | known.LEADS_ON
            or not self._is_protocol(attr)
            or (by_text and (attr in known.DEFINED_ONLY | known.SETTERS))
        ):
            self._add(node, f"asks for {attr}")
        elif by_text and (_is_private(attr) or attr == "obj"):
            self._add(node, f"asks for {attr}, a private name of somebody else's")

    def _name_in(self, node: ast.AST, module: str, name: str, verb: str) -> None:
        """Look at a name in a module that is ordinary itself."""
        dotted = f"{module}.{name}"
        if known.is_listed(self._terms.ordinary, dotted):
            return
        if _is_private(name):
            if dotted not in known.BUILT_ON:
                self._add(node, f"{verb} {dotted}, which is private")
        elif (
            self._listed(dotted) in known.UNUSUAL
            or known.is_listed(self._terms.unusual, dotted)
            or (module in known.PARTS and name not in known.PARTS[module])
        ):
            self._add(node, f"{verb} {dotted}")
        elif not self._is_ordinary(dotted):
            found = self._object(dotted)
            strange = isinstance(found, ModuleType) and not self._is_ordinary(found.__name__)
            if strange or (found is None and _is_module(module, name)):
                self._add(node, f"{verb} {dotted}, a module that is none of this course")
            elif home := self._is_lent_by(found, module):
                self._add(node, f"{verb} {dotted}, which is of {home}")

    def _is_lent_by(self, found: object, module: str) -> str:
        """Return the library that a function or class is of, if it is none of this course."""
        home = getattr(found, "__module__", None)
        if isinstance(found, ModuleType) or not isinstance(home, str) or home.startswith("_"):
            return ""
        tops = home.partition(".")[0], module.partition(".")[0]
        # Where this package stands in for something, that is ordinary or not by its own name.
        known_ = tops[0] in (tops[1], "autograder") or tops[0] in known.BEHIND_OS
        other = not known_ and _elsewhere(home)
        return home if other and not self._is_ordinary(home) else ""

    def _listed(self, dotted: str) -> str:
        """Return the name by which a list has what a full name stands for."""
        return known.listed_name(self._object(dotted), dotted)

    def _listed_meanings(self, dotted: str, scopes: tuple[Scope, ...]) -> set[str]:
        return set(map(self._listed, self._meanings(dotted, scopes)))

    def _brought(self, node: ast.AST, meanings: Collection[str]) -> None:
        """Look at what came by a star, or out of a module of the submission's own."""
        for meaning in sorted(meanings):
            module, _, name = meaning.rpartition(".")
            if not self._is_own(meaning) and hasattr(self._object(module), name):
                self._name_in(node, module, name, "uses")

    def _value(self, node: ast.AST, scopes: tuple[Scope, ...]) -> None:
        """Refuse to have modules, and functions that look up by name, handed around."""
        if id(node) in self._in_place or not (dotted := dotted_name(node)):
            return
        if self._modules(dotted, scopes):
            self._add(node, f"hands the module {dotted} around")
        elif self._listed_meanings(dotted, scopes) & (known.BY_NAME | known.LOADERS.keys()):
            self._add(node, f"hands {dotted} around")

    def _modules(self, dotted: str, scopes: tuple[Scope, ...]) -> bool:
        """Return whether a chain of names may stand for a module."""
        return any(
            self._own.holds(meaning)
            if self._is_own(meaning)
            else isinstance(self._object(meaning), ModuleType)
            for meaning in self._meanings(dotted, scopes)
        )

    def _is_own(self, meaning: str) -> bool:
        """Return whether a full name is one of the submission's own modules or lies in one."""
        top = meaning.partition(".")[0]
        return self._own.holds(top) and not _elsewhere(top)

    def _object(self, dotted: str) -> object:
        top = dotted.partition(".")[0]
        return _object(dotted, self._is_listed(top) and not self._own.holds(top))

    def _is_listed(self, module: str) -> bool:
        return module in known.MODULES or module in known.PARTS or module in self._terms.packages

    def _meanings(
        self, dotted: str, scopes: tuple[Scope, ...], known_: _Meanings | None = None
    ) -> set[str]:
        """Return the full names that a chain of names may stand for, as far as they are known.

        Args:
            dotted: the chain.
            scopes: those that it stands in, from the outermost.
            known_: what was found on the way here; what is only begun leads round in a circle.
        """
        known_ = {} if known_ is None else known_
        key = (dotted, tuple(map(id, scopes)))
        if key in known_:
            return known_[key]
        known_[key] = set()
        root, _, rest = dotted.partition(".")
        places = [(place, scopes) for place in self._own.given.get(root, ())]
        for number in range(len(scopes) - 1, -1, -1):
            scope = scopes[number]
            # A class's names are seen by what stands in it directly, and a comprehension there.
            direct = number >= len(scopes) - 2
            if root in scope.bound and (scope.kind != "class" or direct):
                places += [(place, scopes[: number + 1]) for place in scope.bound[root]]
                if scope.kind == "function":
                    break
        else:
            places += [(f"{star}.{root}", scopes) for scope in scopes for star in scope.stars]
        found: set[str] = set()
        for place, there in places:
            if place[:1] == "=":
                found |= self._meanings(place[1:], there, known_)
            elif place:
                found |= self._canonical(place, known_)
        if rest:
            longer = [f"{place}.{rest}" for place in found]
            found = {whole for place in longer for whole in self._canonical(place, known_)}
        known_[key] = found
        return found

    def _canonical(self, dotted: str, known_: _Meanings) -> set[str]:
        """Follow a full name through the submission's own modules."""
        top = dotted.partition(".")[0]
        if not self._own.holds(top):
            # Imported by a dot, it may lie in any folder of the submission.
            inner = [m + dotted[len(top) :] for m in self._own.scopes if m.endswith(f".{top}")]
            return {dotted}.union(*(self._canonical(m, known_) for m in inner))
        found = {dotted} if _elsewhere(top) else set()
        parts = dotted.split(".")
        for count in range(len(parts), 0, -1):
            scope = self._own.scopes.get(".".join(parts[:count]))
            if scope is not None and count < len(parts):
                return found | self._meanings(".".join(parts[count:]), (scope,), known_)
            if scope is not None:
                break
        return found | {dotted}

    # Calls.

    def _call(self, node: ast.Call, scopes: tuple[Scope, ...]) -> None:
        name = dotted_name(node.func)
        builtin = bool(name) and not any(name in scope.bound for scope in scopes)
        meanings = self._listed_meanings(name, scopes) if name else set()
        own = name in self._own.given or any(name in scope.bound for scope in scopes)
        # A module cannot be called; what looks up by name is looked at here.
        self._in_place.add(id(node.func))
        if name == "vars" and not node.args and not own:
            self._add(node, "uses vars of nothing")
        if name in ("getattr", "hasattr") and not own:
            for argument in node.args[:1]:
                self._in_place.add(id(argument))
            if len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
                chain = ast.Attribute(node.args[0], str(node.args[1].value), ast.Load())
                self._attribute(ast.copy_location(chain, node), node.args[0], chain.attr, scopes)
        if meanings & known.BY_NAME:
            self._by_name(node, name)
        for loader in sorted(meanings & known.LOADERS.keys()):
            keyword, safe = known.LOADERS[loader]
            unsafe = any(
                k.arg in (None, "pickle_module")
                or (k.arg == keyword and not _is_constant(k.value, safe))
                for k in node.keywords
            )
            # From the third argument on, positional ones may be unsafe options.
            starred = any(isinstance(argument, ast.Starred) for argument in node.args)
            trusted = known.is_listed(self._terms.ordinary, loader)
            if (unsafe or starred or len(node.args) > 2) and not trusted:
                self._add(node, f"calls {loader} without a plain {keyword}={safe}")
        for word in node.keywords:
            if word.arg == "eval_str" and not _is_constant(word.value, False):
                self._add(node, "calls something with eval_str, which runs text")
        for wrapper, most in known.WRAPPERS.items():
            if wrapper in meanings and (node.keywords or len(node.args) > most):
                self._add(node, f"calls {name} with names of attributes")
        opens = (name == "open" and builtin) or "io.open" in meanings
        if opens or any(m.startswith("pathlib.") and m.endswith("Path") for m in meanings):
            self._opens(node, name)

    def _by_name(self, node: ast.Call, name: str) -> None:
        for argument in node.args[:1] if name.endswith("methodcaller") else node.args:
            if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                self._add(node, f"calls {name} with a name that is computed")
                continue
            for part in argument.value.split("."):
                self._name_of_attribute(node, part, by_text=True)

    def _opens(self, node: ast.Call, name: str) -> None:
        if any(keyword.arg in (None, "opener") for keyword in node.keywords):
            self._add(node, f"calls {name} with an opener")
        named = [k.value for k in node.keywords if k.arg == "file"]
        for argument in (*node.args[:1], *named):
            if not isinstance(argument, ast.Constant):
                continue
            path = argument.value
            if not isinstance(path, str) or is_elsewhere(path) or path.endswith(known.CODE):
                self._add(node, f"opens {path!r}, which is none of its own data")


def is_elsewhere(path: str) -> bool:
    """Return whether a path, as it is written, leads out of the folder."""
    parts = path.replace("\\", "/").split("/")
    return path[:1] in ("/", "\\", "~") or ".." in parts or path[1:2] == ":"


def _before(arguments: ast.arguments) -> list[ast.AST]:
    """Return what of a function's arguments is evaluated where it is defined."""
    defaults = [*arguments.defaults, *(one for one in arguments.kw_defaults if one)]
    return [*_of_arguments(arguments), *defaults]


def _of_arguments(arguments: ast.arguments) -> list[ast.AST]:
    named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    named += tuple(extra for extra in (arguments.vararg, arguments.kwarg) if extra)
    return [one.annotation for one in named if one.annotation]


def _parts(node: ast.AST, without: Collection[int]) -> Iterator[ast.AST]:
    """Yield a node's children but those in `without`; arguments and generators give theirs."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.arguments | ast.arg | ast.comprehension):
            if isinstance(child, ast.arg):
                yield ast.copy_location(ast.arg(child.arg), child)
            yield from _parts(child, without)
        elif id(child) not in without:
            yield child


def _is_constant(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _is_private(name: str) -> bool:
    return name.startswith("_") and name not in known.PROTOCOL and name not in known.PUBLIC


def _from_typing(tree: ast.Module) -> dict[str, str]:
    """Return the names by which a file has typing's `Literal` and `Annotated`, and nothing else."""
    nodes = list(ast.walk(tree))
    found = {
        alias.asname or alias.name: alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "typing" and node.level == 0
        for alias in node.names
        if alias.name in ("Literal", "Annotated")
    }
    bound: list[Any] = [
        n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    ]
    for key in ("asname", "name", "arg", "rest"):
        bound += [getattr(node, key, None) for node in nodes if not isinstance(node, ast.keyword)]
    bound += ["*"] * any(isinstance(node, ast.alias) and node.name == "*" for node in nodes)
    return {n: what for n, what in found.items() if bound.count(n) == 1 and "*" not in bound}


def _unread(node: ast.AST, typing: Mapping[str, str]) -> Iterator[ast.AST]:
    """Yield the texts of an annotation that are values or remarks, which nothing evaluates."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        what, inner = typing.get(node.value.id), node.slice
        texts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if what is not None:
            yield from texts[what == "Annotated" :]


def _annotations(node: ast.AST, typing: Mapping[str, str]) -> Iterator[ast.AST]:
    """Yield what stands in texts of annotations, which some libraries evaluate.

    `typing` has the names of `Literal` and `Annotated`: texts are values there, or remarks.
    """
    annotated: list[ast.AST] = []
    match node:
        case ast.AnnAssign(annotation=annotation):
            annotated = [annotation]
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            annotated = [*_of_arguments(node.args), *([node.returns] if node.returns else [])]
    parts = [part for annotation in annotated for part in ast.walk(annotation)]
    plain = {id(text) for part in parts for text in _unread(part, typing)}
    for inner in (part for part in parts if id(part) not in plain):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            try:
                text = ast.parse(inner.value.strip(), mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            for part in ast.walk(text):
                if hasattr(part, "lineno"):
                    ast.copy_location(part, inner)
            yield ast.copy_location(ast.Expr(text), inner)


def _elsewhere(top: str) -> bool:
    """Return whether the first part of a name is a module of Python's or one loaded before."""
    top = top.partition(".")[0]
    return top in sys.stdlib_module_names or top in _LOADED


@functools.cache
def _is_there(top: str) -> bool:
    """Return whether there is such a module."""
    try:
        return top in sys.modules or importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):
        return True


@functools.cache
def _is_module(package: str, name: str) -> bool:
    """Return whether a package has a module of that name, which may not be loaded yet."""
    if not hasattr(sys.modules.get(package), "__path__"):
        return False
    try:
        return importlib.util.find_spec(f"{package}.{name}") is not None
    except (ImportError, ValueError):
        return True


@functools.cache
def _object(dotted: str, importable: bool) -> object:
    """Return what a full name stands for in a library; None for what is not known.

    Args:
        dotted: the name.
        importable: whether what it begins with may be imported to find out.
    """
    parts = dotted.split(".")
    found: object = sys.modules.get(parts[0])
    try:
        if importable and found is None:
            found = importlib.import_module(parts[0])
        for count, name in enumerate(parts[1:], 2):
            if not isinstance(found, ModuleType):
                return None
            whole = ".".join(parts[:count])
            if importable and known.covers(whole) and not hasattr(found, name):
                importlib.import_module(whole)
            found = getattr(found, name, None)
    except Exception:
        # What cannot be imported here fails by itself.
        return None
    return found
