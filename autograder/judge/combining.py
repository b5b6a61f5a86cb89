"""Mistakes as edits of a solution, put together: one component in which any of them can be.

Where edits change a statement or an expression, the component has what is right and what is wrong,
and asks `wrong("name")`. These parts are as small as they can be, so mistakes in different parts
combine. What is put around a part is chosen apart from the part. Of two in the same part the first
counts, and one in a part that another replaces counts while that other is not in force.
"""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
import itertools
import platform
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, cast

from autograder.errors import UsageError
from autograder.judge import edits as edits_module
from autograder.judge.cache import Cache
from autograder.judge.edits import Edits, read_edits, text_of
from autograder.judge.places import cache_folder
from autograder.text import clean

_HEAD = re.compile(r"@@ (?P<name>[^\W\d]\w*)(?:: (?P<what>.*\S))? *")
_FORM = "`@@ NAME: SOURCE`, or `@@ NAME` where the source is the handout"
_SOURCE = "handout"
_TOP = """
MISCONCEPTIONS = {table!r}
{before}
def wrong(name):
    return name in {which}
"""
_MODULE = {"before": "WRONG = frozenset()", "which": "WRONG"}
# A program runs as it is read: it is told its mistakes before.
_PROGRAM = {"before": "", "which": 'globals().get("WRONG", frozenset())'}

# What stands for a part in what is put around it.
_IT = "_it"

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_BODIES = ("body", "orelse", "finalbody")
# Their parts are no expressions of their own.
_UNDIVIDED = (ast.JoinedStr, ast.pattern)
# Which decorators say how a class has a function.
_METHODS = {"property", "cached_property", "staticmethod", "classmethod", "setter"}
# What is computed in them may never be, or often, or elsewhere.
_SOMETIMES = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension, ast.NamedExpr)
_YIELDS = (ast.Yield, ast.YieldFrom, ast.Await)

# By row, what has the place of a part of the solution. Parts are nodes, or lists of them.
_Wrongs = Sequence[tuple[Edits, Any]]


def combined(path: Path, program: bool) -> bytes:
    """Return the component with all mistakes of a file of edits.

    Args:
        path: the edits; the solution lies in the folder above.
        program: whether the component is run as a program.

    Raises:
        UsageError: a row is malformed, does not apply, or cannot be put in force.
    """
    solution = path.parent.parent / f"{path.stem}.py"
    if not solution.is_file():
        raise UsageError(f"{path} edits {solution}, which is not there: write the solution first")
    return _combined(path, text_of(path), text_of(solution), program)


@functools.lru_cache(maxsize=64)
def _combined(path: Path, edits: str, solution: str, program: bool) -> bytes:
    """Return what is kept, or put it together and keep it: it takes a tenth of a second."""
    # The code that puts them together is part of what they follow from.
    code = [Path(file).read_text(encoding="utf-8") for file in (__file__, edits_module.__file__)]
    texts = [platform.python_version(), *code, edits, solution, str(program)]
    name = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    make = functools.partial(_put_together, path, solution, program)
    return Cache(cache_folder()).kept(f"combined-{name}", make)


def _put_together(path: Path, solution: str, program: bool) -> bytes:
    rows = read_edits(path, _HEAD, _FORM)
    right = ast.parse(solution).body
    if taken := {"wrong", "WRONG", _IT} & _all_names(right):
        raise UsageError(f"{path}: the solution has the name {min(taken)!r}: give it another one")
    first = list(itertools.takewhile(_stays_first, right))
    wrongs = []
    for row in rows:
        try:
            body = ast.parse(row.applied({path.stem: solution})).body
        except SyntaxError as error:
            raise row.refused(f"the edited solution is no Python: {error}") from error
        if not _same(first, list(itertools.takewhile(_stays_first, body))):
            raise row.refused("it changes the docstring of the file, or `from __future__`")
        wrongs.append((row, body[len(first) :]))
    table = {row.name: (row.words, row.what or _SOURCE) for row in rows}
    top = ast.parse(_TOP.format(table=table, **(_PROGRAM if program else _MODULE))).body
    body = (_body if program else _read_once)(right[len(first) :], wrongs)
    source = ast.unparse(ast.fix_missing_locations(ast.Module([*first, *top, *body], [])))
    for row in rows:
        if f"wrong({row.name!r})" not in source:
            raise row.refused(
                "its edits change nothing that runs: comments do not, nor does the order of "
                "functions, nor what is only added beside them"
            )
    try:
        compile(source, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise UsageError(f"{path}: the edits together make no Python: {error}") from error
    return source.encode()


def _stays_first(node: ast.stmt) -> bool:
    """Return whether a statement is a docstring, or from `__future__`: nothing may come before."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _same(one: Any, other: Any) -> bool:
    """Return whether two parts of syntax trees say the same."""
    if type(one) is not type(other) or one is other:
        return one is other
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, ast.AST):
        return all(_same(*parts) for _, *parts in _fields(one, other))
    return bool(one == other)


def _fields(*nodes: Any) -> list[tuple[Any, ...]]:
    """Return the names of the first node's fields, each with what the nodes have there."""
    return [(name, *(getattr(node, name, None) for node in nodes)) for name in nodes[0]._fields]


# Which parts of two nodes can be chosen apart.


def _divides(field: str, one: Any, other: Any) -> bool:
    """Return whether two parts differ only where either can be chosen while the code runs."""
    if isinstance(one, list) and isinstance(other, list):
        # Of statements, some can always be chosen.
        same_size = len(one) == len(other)
        pairs = zip(one, other, strict=False)
        return field in _BODIES or (same_size and all(_divides("", *pair) for pair in pairs))
    if not isinstance(one, ast.AST) or not isinstance(other, ast.AST) or _same(one, other):
        return _same(one, other)
    return _inside(one, other) or (_is_value(one) and _is_value(other))


def _inside(one: ast.AST, other: ast.AST) -> bool:
    """Return whether two nodes differ in parts alone that can be chosen apart."""
    if type(one) is not type(other) or isinstance(one, _UNDIVIDED) or _around(one, other):
        return False
    if any(_same(part, other) for part in ast.iter_child_nodes(one)):
        return False
    return all(_divides(*parts) for parts in _fields(one, other))


def _is_value(node: ast.AST) -> bool:
    """Return whether an expression has a value of its own."""
    if any(isinstance(part, ast.Slice) for part in (node, *getattr(node, "elts", []))):
        return False
    plain = isinstance(node, ast.expr) and not isinstance(node, ast.Starred | ast.FormattedValue)
    return plain and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _is_place(node: ast.AST) -> bool:
    """Return whether an expression can be known again in another: a number would be by chance."""
    return _is_value(node) and not isinstance(node, ast.Constant)


def _around(one: ast.AST, other: ast.AST) -> ast.expr | None:
    """Return what an expression adds around another, which is `_IT` there; None if it does not."""
    if not (_is_place(one) and _is_value(other)):
        return None
    if sum(_same(one, node) for node in ast.walk(other)) != 1:
        return None
    outer: ast.expr = _put([(one, ast.Name(_IT, ast.Load()))], other)
    never = any(isinstance(node, (*_SOMETIMES, *_YIELDS)) for node in ast.walk(outer))
    return None if never or "super" in _names(outer)[1] else outer


def _put(parts: Sequence[tuple[ast.AST, ast.AST]], into: ast.AST) -> Any:
    """Return a copy of a node that has, in the place of some parts, others."""

    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            if isinstance(node, ast.Lambda) or hasattr(node, "generators"):
                # Names may be others there.
                return node
            found = [new for old, new in parts if _same(old, node)]
            return found[0] if found else self.generic_visit(node)

    return Put().visit(copy.deepcopy(into))


def _parted(node: Any, wrongs: _Wrongs) -> tuple[_Wrongs, _Wrongs]:
    """Part those that change a node inside from those that replace it.

    In a whole function a name is a local variable or is none, so where that differs it is replaced.
    """
    inside: list[tuple[Edits, Any]] = []
    whole: list[tuple[Edits, Any]] = []
    function = isinstance(node, _FUNCTIONS)
    bound, read = _names(node) if function else (set(), set())
    for row, other in wrongs:
        fits = _inside(node, other)
        if fits and function:
            its_bound, its_read = _names(other)
            clash = (its_bound - bound) & read | (bound - its_bound) & its_read
            fits = not clash and _declared(node) == _declared(other)
            if fits:
                bound, read = bound | its_bound, read | its_read
        (inside if fits else whole).append((row, other))
    return inside, whole


def _declared(function: ast.AST) -> set[str]:
    """Return what a function declares of its names, and which kinds of `yield` it has."""
    nodes = list(ast.walk(function))
    found = {type(node).__name__ for node in nodes if isinstance(node, _YIELDS)}
    return found | {ast.dump(n) for n in nodes if isinstance(n, ast.Global | ast.Nonlocal)}


def _names(part: ast.AST) -> tuple[set[str], set[str]]:
    """Return the names that a part binds, and those that it reads."""
    bound: set[str] = set()
    read: set[str] = set()
    for node in ast.walk(part):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif not isinstance(node, ast.keyword):
            names = [getattr(node, field, None) for field in ("name", "asname", "arg", "rest")]
            bound.update(name.partition(".")[0] for name in names if isinstance(name, str))
    return bound, read


def _all_names(parts: list[Any]) -> set[str]:
    tree = ast.Module(parts, [])
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return attributes.union(*_names(tree))


# What runs while mistakes are in force.


def _choice(row: Edits) -> ast.expr:
    return ast.parse(f"wrong({row.name!r})", mode="eval").body


def _part(field: str, right: Any, wrongs: _Wrongs) -> Any:
    """Return a part of the solution, or choices between it and others."""
    wrongs = [(row, other) for row, other in wrongs if not _same(right, other)]
    if not wrongs:
        return right
    if isinstance(right, list) and field in _BODIES:
        return _body(right, wrongs)
    if isinstance(right, list):
        columns = [[(row, other[n]) for row, other in wrongs] for n in range(len(right))]
        return [_part("", one, column) for one, column in zip(right, columns, strict=True)]
    inside, whole = _parted(right, wrongs)
    made = _divided(right, inside)
    # What replaces the whole may have parts of it, in which other mistakes can be.
    pairs = zip(ast.iter_child_nodes(right), ast.iter_child_nodes(made), strict=True)
    parts = [(one, new) for one, new in pairs if one is not new and _is_place(one)]
    around = [(row, _around(right, other)) for row, other in whole]
    for (row, other), (_, outer) in zip(reversed(whole), reversed(around), strict=True):
        made = made if outer else ast.IfExp(_choice(row), _put(parts, other), made)
    for row, outer in around:
        if outer:
            chosen = ast.IfExp(_choice(row), outer, ast.Name(_IT, ast.Load()))
            it = ast.arguments([], [ast.arg(_IT)], None, [], [], None, [])
            made = ast.Call(ast.Lambda(it, chosen), [made], [])
    return made


def _divided(right: Any, wrongs: _Wrongs) -> Any:
    """Return a node of the solution with choices in its parts."""
    rows, others = [row for row, _ in wrongs], [other for _, other in wrongs]
    parts = {
        name: _part(name, part, list(zip(rows, wrong, strict=True)))
        for name, part, *wrong in _fields(right, *others)
    }
    return type(right)(**parts)


@dataclass
class _Block:
    """Statements from `start` to before `end` that others replace."""

    start: int
    end: int
    row: Edits
    new: list[ast.stmt]

    def crosses(self, other: _Block) -> bool:
        """Return whether each has a statement that is not the other's, and both have one."""
        one, other = sorted((self, other), key=lambda block: block.start)
        return one.start < other.start < one.end < other.end


def _body(right: list[ast.stmt], wrongs: _Wrongs) -> list[ast.stmt]:
    """Return statements of the solution, or choices between some of them and others."""
    changed: dict[int, list[tuple[Edits, Any]]] = defaultdict(list)
    found: list[_Block] = []
    keys = list(map(_key, right))
    for row, other in wrongs:
        matcher = SequenceMatcher(None, keys, list(map(_key, other)), autojunk=False)
        for _, start, end, other_start, other_end in matcher.get_opcodes():
            new = other[other_start:other_end]
            last = right[end - 1 : end] + new[-1:]
            if len(new) != end - start and end > start and new and type(last[0]) is type(last[1]):
                # The last one is changed; beside it, others come or go.
                end -= 1
                changed[end].append((row, new.pop()))
            if len(new) != end - start:
                found.append(_Block(start, end, row, new))
                continue
            for number, node in enumerate(new, start):
                if not _same(right[number], node):
                    changed[number].append((row, node))
    made = list(right)
    for number, others in changed.items():
        inside, whole = _parted(right[number], others)
        made[number] = _divided(right[number], inside)
        found += [_Block(number, number + 1, row, [new]) for row, new in whole]
    blocks: list[_Block] = []
    for row, other in wrongs:
        own = [block for block in found if block.row is row]
        if any(one.crosses(another) for one in own for another in found):
            own = [_Block(0, len(right), row, other)]
        blocks += own
    return _laid(made, 0, len(made), blocks)


def _key(node: ast.stmt) -> str:
    """Return by what a statement is known again: its name, or all that it says."""
    return node.name if isinstance(node, _DEFINITIONS) else ast.dump(node)


def _laid(made: list[ast.stmt], start: int, end: int, blocks: list[_Block]) -> list[ast.stmt]:
    """Lay out the statements from `start` to before `end`, the largest block around the others."""
    laid: list[ast.stmt] = []
    at = start
    while at <= end:
        empty = [block for block in blocks if block.start == block.end == at]
        laid += [ast.If(_choice(block.row), block.new, []) for block in empty]
        here = [block for block in blocks if block.start == at < block.end <= end]
        if here:
            block = max(here, key=lambda block: block.end)
            others = [b for b in blocks if b is not block and at < b.end and b.start < block.end]
            rest = _laid(made, at, block.end, others)
            laid.append(ast.If(_choice(block.row), block.new or [ast.Pass()], rest))
            at = block.end
        else:
            laid += made[at : min(at + 1, end)]
            at += 1
    return laid


# What runs once, before any mistake is in force: modules and the bodies of classes.


def _read_once(right: list[ast.stmt], wrongs: _Wrongs) -> list[ast.stmt]:
    """Return the statements of a module or class, with choices in its functions alone.

    What edits add beside functions is there all the time.
    """
    own, known = _numbered(right), _all_names(right)
    changed: dict[object, list[tuple[Edits, Any]]] = defaultdict(list)
    added: dict[str, ast.stmt] = {}
    for row, body in wrongs:
        numbered = _numbered(body)
        for key in own.keys() - numbered.keys():
            raise _too_late(row, own[key])
        for key, node in numbered.items():
            if key in own:
                changed[key].append((row, node))
            elif ast.dump(node) not in added:
                names = {node.name} if isinstance(node, _DEFINITIONS) else _names(node)[0]
                if not names:
                    raise _too_late(row, node)
                if there := names & known:
                    why = f"it adds {min(there)!r} where there is one: give it a name of its own"
                    raise row.refused(why)
                known |= names
                added[ast.dump(node)] = node
    return [*(_defined(node, changed[key]) for key, node in own.items()), *added.values()]


def _numbered(body: list[ast.stmt]) -> dict[object, ast.stmt]:
    """Return statements by key, and the how many-th with this key they are."""
    count: Counter[str] = Counter()
    found: dict[object, ast.stmt] = {}
    for node in body:
        key = _key(node)
        count[key] += 1
        found[key, count[key]] = node
    return found


def _too_late(row: Edits, node: ast.AST) -> UsageError:
    line = clean(ast.unparse(node).partition("\n")[0], 60)
    return row.refused(
        f"{line!r} runs when the file is imported, before a mistake is in force: change what is in "
        f"functions, or write {row.path.stem}.py in place of {row.path.name}"
    )


def _defined(node: Any, wrongs: _Wrongs) -> ast.stmt:
    """Return a function or class with what is wrong in it; anything else is as it was."""
    wrongs = [(row, other) for row, other in wrongs if not _same(node, other)]
    if not wrongs:
        return cast(ast.stmt, node)
    bodies = [(row, other) for row, other in wrongs if _same(_with(node, []), _with(other, []))]
    if isinstance(node, ast.ClassDef):
        for row, other in wrongs:
            if (row, other) not in bodies:
                raise _too_late(row, other)
        return cast(ast.stmt, _with(node, _read_once(node.body, [(r, o.body) for r, o in bodies])))
    inside, _ = _parted(node, bodies)
    made = _with(node, _body(node.body, [(row, other.body) for row, other in inside]))
    whole = [one for one in wrongs if one not in inside]
    # Where the head alone is changed, the rest may be wrong, too.
    heads = [(r, _with(o, made.body) if _same(node.body, o.body) else o) for r, o in whole]
    return _chosen(made, heads)


def _with(node: Any, body: list[ast.stmt]) -> Any:
    """Return a function or class with another body."""
    made = copy.copy(node)
    made.body = body
    return made


def _chosen(function: Any, wrongs: _Wrongs) -> ast.stmt:
    """Return a function that chooses between whole functions, if there are, when it is called."""
    right = cast(ast.stmt, function)
    if not wrongs:
        return right
    call = f"{function.name}(*args, **kwargs)"
    (made,) = ast.parse(f"def {call}: return {call}").body
    assert isinstance(made, ast.FunctionDef)
    functions = [function, *(other for _, other in wrongs)]
    if all(_same(function.decorator_list, one.decorator_list) for one in functions):
        made.decorator_list = function.decorator_list
        for one in functions:
            one.decorator_list = []
    for row, other in reversed(wrongs):
        if _METHODS & _all_names([*function.decorator_list, *other.decorator_list]):
            raise _too_late(row, other)
        right = ast.If(_choice(row), [other], [right])
    made.body = [right, *made.body]
    return made
