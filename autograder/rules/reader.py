"""The places of a text that wait for a person, found one by one; no value is followed.

A text may import what is listed. A chain of names that begins with an import may lead to what is
public and listed. A private name may be asked for if the submission defines it. Names of the
interpreter, texts that are run, and objects that are unpickled are never ordinary.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from autograder.rules import ordinary as known

# Beside Python's own, these are there before a submission is.
_LOADED = ("torch", "numpy", "torchgen", "typing_extensions", "autograder", "__main__")
# Whether a type checker reads the text, which never runs it.
_CHECKING = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
# Methods that define an attribute whose name they are given as a text.
_GIVE_NAMES = ("register_buffer", "register_parameter", "register_module", "add_module", "setattr")
# The fields of a text, as in "{0._x}", and the names of attributes in one.
_FIELD, _NAME = re.compile(r"\{([^{}]*)"), re.compile(r"\.(\w+)")
# They look an attribute up by its name; where that is written, it is read.
_BY_TEXT = ("getattr", "hasattr")


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
        closed: modules and functions that the rules forbid: to import or to call them is refused
            when it happens, and nobody gets at them in another way.
    """

    packages: Sequence[str] = ()
    own: Sequence[str] = ()
    programs: Sequence[str] = ()
    ordinary: Sequence[str] = ()
    unusual: Sequence[str] = ()
    closed: Sequence[str] = ()


# Where something out of the ordinary stands, and what, in words that go on "it ...".
Place = tuple[int, str]


def find_places(
    trees: Mapping[str, ast.Module], own: Iterable[str], terms: Ordinary
) -> dict[str, list[Place]]:
    """Return by file what is out of the ordinary in it.

    Args:
        trees: the texts of a submission, without what is not run.
        own: its modules, and those that are there beside them.
        terms: what the assignment adds to the lists.
    """
    modules = frozenset(own)
    private = frozenset(name for tree in trees.values() for name in own_names(tree))
    return {file: _File(tree, modules, private, terms).read() for file, tree in trees.items()}


class _File:
    """Reads one file.

    Args:
        tree: its text.
        own: the submission's modules.
        private: the private names that the submission defines.
        terms: what the assignment adds to the lists.
    """

    def __init__(
        self, tree: ast.Module, own: frozenset[str], private: frozenset[str], terms: Ordinary
    ) -> None:
        self._nodes = list(ast.walk(tree))
        self._own = own
        self._private = private
        self._terms = terms
        self._found: dict[Place, None] = {}
        # What the imports bind, wherever they stand, and the modules all of whose names are here.
        self._imported: dict[str, set[str]] = {}
        # Behind these a private name is the submission's own, if it defines one.
        self._insides = {"self", "cls"}
        self._stars: list[str] = []
        self._bound = {name for node in self._nodes for name in bound_by(node)}
        self._variables = {
            name
            for node in self._nodes
            if not isinstance(node, ast.Import | ast.ImportFrom)
            for name in bound_by(node)
        }
        self._called = {id(node.func) for node in self._nodes if isinstance(node, ast.Call)}
        # What is only on the way to something else, and texts that nobody uses.
        self._passed = {id(node.value) for node in self._nodes if isinstance(node, ast.Attribute)}
        self._unused = {id(node.value) for node in self._nodes if isinstance(node, ast.Expr)}

    def read(self) -> list[Place]:
        """Return what is out of the ordinary."""
        for node in self._nodes:
            self._note_imports(node)
        for node in self._nodes:
            self._look(node)
        return list(self._found)

    def _note_imports(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    whole = alias.name if alias.asname else alias.name.partition(".")[0]
                    self._import(alias.asname or whole, whole)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for alias in names:
                    if alias.name == "*":
                        self._stars.append(module)
                    else:
                        self._import(alias.asname or alias.name, f"{module}.{alias.name}")
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                # Another name for a module counts as an import of it.
                for whole in self._meanings(value):
                    if isinstance(self._thing(whole), ModuleType):
                        self._import(name, whole)
                        self._variables.discard(name)

    def _import(self, name: str, whole: str) -> None:
        if self._is_own(whole):
            self._insides.add(name)
        else:
            self._imported.setdefault(name, set()).add(whole)

    def _add(self, node: ast.AST, what: str) -> None:
        self._found[getattr(node, "lineno", 1), what] = None

    def _look(self, node: ast.AST) -> None:
        for name in bound_by(node):
            self._defines(node, name)
        match node:
            case ast.Import(names=names):
                for alias in names:
                    self._module(node, alias.name)
            case ast.ImportFrom():
                self._import_from(node)
            case ast.Attribute():
                self._attribute(node)
                self._value(node)
            case ast.Name(id=name, ctx=ast.Load()):
                self._name(node, name)
                self._value(node)
            case ast.Call():
                self._call(node)
            case ast.MatchClass(kwd_attrs=names):
                for name in names:
                    self._asks(node, name)
            case ast.Constant(value=str(text)) if id(node) not in self._unused:
                self._text(node, text)

    # Imports, and chains of names that begin with one.

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        own = node.level > 0 or self._is_own(module)
        if not own and not self._module(node, module):
            return
        for alias in node.names:
            if own:
                self._interpreters(node, alias.name)
            elif alias.name != "*":
                self._reaches(node, module, alias.name, "imports")
            elif module in known.PARTS:
                self._add(node, f"imports all of {module}")

    def _module(self, node: ast.AST, module: str) -> bool:
        """Look at an import; return whether what is in the module is to be looked at, too."""
        if self._is_own(module):
            return False
        if self._is_ordinary(module):
            return True
        if not self._is_mistaken(module):
            self._add(node, f"imports {module}")
        return False

    def _attribute(self, node: ast.Attribute) -> None:
        """Look at an attribute: by what it is asked of where that is imported, else by its name."""
        changes = isinstance(node.ctx, ast.Store | ast.Del)
        root = dotted_name(node.value).partition(".")[0]
        # The name of an import may stand for something else as well.
        certain = root not in self._variables
        meanings = [
            whole
            for whole in self._meanings(node.value)
            if not self._is_mistaken(whole) and (certain or self._has(whole, node.attr))
        ]
        for whole in meanings:
            found = self._thing(whole)
            if isinstance(found, ModuleType):
                # By way of another module it is what it is.
                module = whole if known.covers(whole) else found.__name__
                self._reaches(node, module, node.attr, "uses")
            elif is_private(node.attr) or node.attr in known.SETTERS | {"__dict__"}:
                self._add(node, f"uses {whole}.{node.attr}, which is private")
            if changes and not known.may_be_set(f"{whole}.{node.attr}"):
                self._add(node, f"changes {whole}.{node.attr}")
        if meanings:
            self._interpreters(node, node.attr)
            return
        if node.attr == "__dict__" and hasattr(builtins, root) and root not in self._bound:
            self._add(node, "asks for __dict__")
        if changes and node.attr == "__class__":
            self._add(node, "changes __class__")
        behind_super = isinstance(node.value, ast.Call) and dotted_name(node.value.func) == "super"
        if node.attr in known.DEFINED_ONLY and not behind_super:
            self._add(node, f"asks for {node.attr}")
        self._asks(node, node.attr, inside=behind_super or dotted_name(node.value) in self._insides)

    def _reaches(self, node: ast.AST, module: str, name: str, verb: str) -> None:
        """Look at a name in a module that is ordinary itself."""
        dotted = f"{module}.{name}"
        found = self._thing(dotted)
        home = found.__name__ if isinstance(found, ModuleType) else ""
        if home not in ("", dotted) and home.partition(".")[0] in self._closed_modules:
            self._add(node, f"{verb} {dotted}, which is forbidden here")
        if known.is_listed(self._terms.ordinary, dotted):
            return
        if is_private(name):
            if dotted not in known.BUILT_ON:
                self._add(node, f"{verb} {dotted}, which is private")
        elif (
            known.listed_name(found, dotted) in known.UNUSUAL
            or known.is_listed(self._terms.unusual, dotted)
            or (module in known.PARTS and name not in known.PARTS[module])
        ):
            self._add(node, f"{verb} {dotted}")
        elif home and not (self._is_ordinary(dotted) or self._is_ordinary(home)):
            self._add(node, f"{verb} {dotted}, a module that is none of this course")

    # Names.

    def _asks(self, node: ast.AST, name: str, inside: bool = False) -> None:
        """Look at the name of an attribute; `inside` says that an object asks for its own."""
        self._interpreters(node, name)
        if name in self._terms.ordinary or not is_private(name) or is_dunder(name):
            return
        inherited = inside and name in known.INHERITED
        # A name that torch has, too, may be torch's wherever it is asked for.
        defined = name in self._private and (inside or name not in privates_of_libraries())
        if not (inherited or defined):
            self._add(node, f"asks for {name}, a private name of somebody else's")

    def _interpreters(self, node: ast.AST, name: str) -> None:
        taken = name in known.INTERPRETER | known.LEADS_ON or not is_protocol(name)
        if taken and name != "__dict__" and name not in self._terms.ordinary:
            self._add(node, f"asks for {name}")

    def _defines(self, node: ast.AST, name: str) -> None:
        strange = name in known.NEVER_BOUND or not is_protocol(name)
        if strange and name not in self._terms.ordinary:
            self._add(node, f"defines {name}")

    def _name(self, node: ast.Name, name: str) -> None:
        own = name in self._bound and not is_dunder(name)
        strange = name in known.BUILTINS or not is_protocol(name)
        if strange and not own and not known.is_listed(self._terms.ordinary, name):
            self._add(node, f"uses {name}")
        if name not in self._bound:
            for module in self._stars:
                if not self._is_own(module) and self._has(module, name):
                    self._reaches(node, module, name, "uses")

    def _text(self, node: ast.AST, text: str) -> None:
        """Look at a text that may be the name of an attribute, or have fields with some."""
        if text not in known.LEADS_ON:
            self._interpreters(node, text)
        for field in _FIELD.findall(text):
            for name in _NAME.findall(field):
                self._asks(node, name)

    # What runs texts, or what is handed around.

    def _call(self, node: ast.Call) -> None:
        name = dotted_name(node.func)
        builtin = name not in self._bound
        if builtin and name == "vars" and (not node.args or self._meanings(node.args[0])):
            self._add(node, "uses vars of a module")
        if builtin and name in _BY_TEXT and len(node.args) > 1:
            asked = node.args[1]
            if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
                chain = ast.Attribute(node.args[0], asked.value, ast.Load())
                self._attribute(ast.copy_location(chain, node))
        meanings = self._meanings(node.func)
        loaders = {known.listed_name(self._thing(whole), whole) for whole in meanings}
        trusted = any(known.is_listed(self._terms.ordinary, loader) for loader in loaders)
        for word in node.keywords:
            safe = known.RUNS_TEXT.get(word.arg or "", word)
            constant = isinstance(word.value, ast.Constant) and word.value.value is safe
            if word.arg in known.RUNS_TEXT and not constant and not trusted:
                self._add(node, f"calls something with {word.arg}, which may run texts")
        if loaders & known.LOADERS and not trusted:
            # From the third argument on, positional ones may be options, too.
            starred = any(isinstance(argument, ast.Starred) for argument in node.args)
            if starred or len(node.args) > 2 or any(word.arg is None for word in node.keywords):
                self._add(node, f"calls {name} with options that are not named")

    def _value(self, node: ast.expr) -> None:
        """Have some functions called where they are named, and handed to nobody."""
        if id(node) in self._called | self._passed:
            return
        for whole in self._meanings(node):
            found = self._thing(whole)
            loader = known.listed_name(found, whole)
            trusted = known.is_listed(self._terms.ordinary, loader)
            if id(found) in self._closed_functions or (loader in known.LOADERS and not trusted):
                self._add(node, f"hands {dotted_name(node)} around")

    # What names stand for.

    @functools.cached_property
    def _closed_modules(self) -> frozenset[str]:
        return frozenset(name for name in self._terms.closed if "." not in name)

    @functools.cached_property
    def _closed_functions(self) -> dict[int, object]:
        """The forbidden functions by their ids; of classes there may be heirs and objects."""
        found = [self._thing(name) for name in self._terms.closed if "." in name]
        return {id(one): one for one in found if one is not None and not isinstance(one, type)}

    def _thing(self, dotted: str) -> object:
        return thing(dotted, importable=dotted.partition(".")[0] not in self._own)

    def _has(self, module: str, name: str) -> bool:
        """Return whether a module or class has a name, or a module of that name in it."""
        found = self._thing(module)
        return hasattr(found, name) or self._thing(f"{module}.{name}") is not None

    def _meanings(self, node: ast.expr) -> list[str]:
        """Return the full names that a chain of names has, if it begins with an import."""
        root, _, rest = dotted_name(node).partition(".")
        return sorted(f"{whole}.{rest}".rstrip(".") for whole in self._imported.get(root, ()))

    def _is_own(self, dotted: str) -> bool:
        """Return whether a module is the submission's own, or something lies in one."""
        top = dotted.partition(".")[0]
        return top in self._own and not (top in sys.stdlib_module_names or top in _LOADED)

    def _is_ordinary(self, module: str) -> bool:
        """Return whether a module, by its full name, is on the lists."""
        if known.is_listed(self._terms.unusual, module):
            return False
        if known.is_listed(self._terms.ordinary, module) or module == "__future__":
            return True
        if any(part.startswith("_") for part in module.split(".")):
            return False
        return module.partition(".")[0] in self._terms.packages or known.covers(module)

    def _is_mistaken(self, module: str) -> bool:
        """Return whether there is no such module at all: that fails by itself."""
        top = module.partition(".")[0]
        expected = top.startswith("_") or top in self._terms.packages
        return not (expected or known.is_listed(self._terms.unusual, module) or _is_there(top))


def own_names(tree: ast.Module) -> Iterator[str]:
    """Yield the private names that a text defines: in a module or class, or of an object."""
    for node in ast.walk(tree):
        match node:
            case ast.Module(body=body) | ast.ClassDef(body=body):
                yield from _bound_in(body)
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.Call(func=function, args=args):
                if dotted_name(function).rpartition(".")[2] in _GIVE_NAMES:
                    yield from _texts(args)
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=value):
                yield from _texts(ast.walk(value))


def _texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _bound_in(body: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the names that are bound in a module's or class's body, and in no function in it."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield from bound_by(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def bound_by(node: ast.AST) -> list[str]:
    """Return the names that a node alone binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return [name]
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name.partition(".")[0] for alias in names]
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
    return []


def parsed(source: bytes, file: str, main: bool) -> ast.Module:
    """Parse a text.

    Args:
        source: the text.
        file: where it lies, for what is said of an error in it.
        main: whether it is run as a program; else its main part is left out, and what only a type
            checker reads.
    """
    tree = ast.parse(source, file)
    if not main:
        tree.body = [part for statement in tree.body for part in _imported_part(statement)]
    return tree


def _imported_part(statement: ast.stmt) -> list[ast.stmt]:
    match statement:
        case ast.If(
            test=ast.Compare(
                left=ast.Name(id="__name__"),
                ops=[ast.Eq()],
                comparators=[ast.Constant(value="__main__")],
            ),
            orelse=orelse,
        ):
            return orelse
        case ast.If(test=test, orelse=orelse) if dotted_name(test) in _CHECKING:
            return orelse
    return [statement]


def dotted_name(node: ast.AST) -> str:
    """Return a chain of attributes as it is written; nothing for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""


def is_dunder(name: str) -> bool:
    """Return whether a name has two underscores at both ends."""
    return name.startswith("__") and name.endswith("__") and len(name) > 4


def is_protocol(name: str) -> bool:
    """Return False only for a name like __x__ that means something and is not on the list."""
    return not is_dunder(name) or name in known.PROTOCOL or not known.is_taken(name)


def is_private(name: str) -> bool:
    """Return whether a name begins with an underscore and is not for everybody."""
    return name.startswith("_") and name not in known.PROTOCOL and name not in known.PUBLIC


def privates_of_libraries() -> frozenset[str]:
    """Return the private names that public modules of torch and numpy have."""
    loaded = {name for name in (*known.MODULES, *known.PARTS) if name in sys.modules}
    return _privates_of(frozenset(n for n in loaded if n.partition(".")[0] in ("torch", "numpy")))


@functools.cache
def _privates_of(modules: frozenset[str]) -> frozenset[str]:
    names = {name for module in modules for name in vars(sys.modules[module])}
    return frozenset(name for name in names if is_private(name) and not is_dunder(name))


@functools.cache
def _is_there(top: str) -> bool:
    """Return whether there is such a module."""
    try:
        return top in sys.modules or importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):
        return True


def thing(dotted: str, importable: bool = True) -> object:
    """Return what a full name stands for in a library that is listed; None for all else.

    Args:
        dotted: the name.
        importable: whether what is listed may be imported to find out.
    """
    top, *parts = dotted.split(".")
    load: Callable[[str], object] = importlib.import_module
    try:
        found: object = sys.modules.get(top)
        if found is None and importable and known.covers(top):
            found = load(top)
        whole = top
        for name in parts:
            whole = f"{whole}.{name}"
            if isinstance(found, type):
                return getattr(found, name, None)
            if not isinstance(found, ModuleType):
                return None
            if importable and known.covers(whole) and not hasattr(found, name):
                load(whole)
            found = getattr(found, name, None)
    except Exception:
        # What cannot be imported here fails by itself.
        return None
    return found
