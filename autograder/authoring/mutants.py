"""Mutants: a solution with one small change in it, for which a good suite takes points.

A mutant that keeps every point shows a hole in the suite, or behaves as the solution does. A hole
is closed by a sharper check. The report shows a survivor so:

    running_mean.py:12
      - total = values.sum(dtype=torch.float64)
      + total = values.sum(dtype=torch.float32)

An equivalent mutant behaves as the solution does. Its line is marked, with the reason, in a comment
at the end of the line or right above it:

    # equivalent: REASON

The mark accepts every survivor of the line. A reason may go on in the comments right below,
indented by two spaces or more. A mark that accepts no survivor is a fault, and a mark without a
reason is refused. Stubs are written without the marks.

An operator is a case of `_of_statement` or `_of_expression`: it yields a node of the syntax tree
and the node that takes its place. `ast.unparse` writes the mutant, so its comments are gone and its
numbers and texts are written as Python writes them.
"""

from __future__ import annotations

import ast
import io
import marshal
import math
import random
import re
import sys
import tokenize
import types
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from autograder.errors import UsageError

# Names that are taken for one another: functions, methods, classes and dtypes of one kind.
_PAIRS = (
    *("mean sum", "min max", "amin amax", "argmin argmax", "minimum maximum", "sin cos"),
    *("zeros ones", "tril triu", "any all", "floor ceil", "add sub", "mul div", "add_ sub_"),
    *("mul_ div_", "square abs", "relu gelu", "ReLU GELU", "softmax log_softmax", "argsort sort"),
    *("float32 float64", "int32 int64", "lower upper", "lstrip rstrip", "keys values", "pop get"),
    *("startswith endswith", "append extend", "cat stack", "exp log", "cumsum cumprod"),
    *("randperm arange", "train eval", "most_common elements", "read_text read_bytes"),
)
_SWAPPED = {one: other for pair in _PAIRS for one, other in (pair.split(), pair.split()[::-1])} | {
    "sorted": "list",
    "sqrt": "square",
    "set": "list",
    "clone": "detach",
    "std": "var",
}
_BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
# The method that Python calls when an operator works in place.
_IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "__iadd__",
    ast.Sub: "__isub__",
    ast.Mult: "__imul__",
    ast.Div: "__itruediv__",
}
# Of each comparison the boundary beside it, if there is one, and its opposite.
_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
# Methods of a tensor that have a form with an underscore, which changes the tensor itself.
_ALSO_IN_PLACE = {
    *("abs", "add", "clamp", "cos", "div", "exp", "floor", "log", "masked_fill", "mul", "neg"),
    *("pow", "round", "sin", "sqrt", "square", "sub", "tanh", "tril", "triu"),
}
# Functions for which the order of two arguments does not matter; for numpy's transpose it does.
_SYMMETRIC = {"transpose", "swapaxes", "max", "min", "maximum", "minimum", "add", "mul", "isclose"}
_MAX_WORDS = 3
# Fields that are not looked at: they decide nothing, or a change of them is no small one.
_NOT_CHANGED = ("annotation", "msg", "type", "optional_vars", "type_params")
_COMMENT = re.compile(r"#\s*equivalent\s*(?::|$)(.*)", re.IGNORECASE)
# A line that continues the reason of the mark above it.
_MORE = re.compile(r"\s*#\s{2,}(\S.*?)\s*")


@dataclass(frozen=True)
class Mutant:
    """A solution with one change in it, which begins in `line`, counted from 1.

    Attributes:
        old: the lines that change, as one, written as `ast.unparse` writes them.
        new: the lines that take their place, as one.
        source: the whole file.
    """

    file: str
    line: int
    old: str
    new: str
    source: str = field(repr=False)


@dataclass(frozen=True)
class Mark:
    """A comment in `line` that accepts the survivors of the line `target`."""

    file: str
    line: int
    target: int
    reason: str


class _Change(NamedTuple):
    """The node `old` becomes `new`; a decorator without a `new` goes."""

    old: ast.expr | ast.stmt
    new: ast.AST | None


def mutants_of(source: str, file: str) -> list[Mutant]:
    """Return the mutants of a solution, in the order of their lines.

    A mutant that compiles to the same code as the solution, or as an earlier mutant, is left out.
    Some things are never changed: docstrings, annotations, imports, the messages of errors, and
    code under `if __name__ == "__main__"`.

    Raises:
        UsageError: the solution is not valid Python.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{file} is no Python: {error}") from error
    before = _written(tree)
    seen = {_code(before)}
    found = []
    changes = _Operators(tree).block(tree.body, tree)
    for change in sorted(changes, key=lambda change: change.old.lineno):
        after = _written(_changed(tree, change))
        try:
            code = _code(after)
        except (SyntaxError, ValueError):
            continue
        if code in seen:
            continue
        seen.add(code)
        old, new = _difference(before.split("\n"), after.split("\n"))
        found.append(Mutant(file, change.old.lineno, old, new, after))
    return found


def sampled(found: Sequence[Mutant], lines: Collection[int], count: int, seed: str) -> list[Mutant]:
    """Return `count` mutants, the same ones for the same seed, and all of these lines."""
    if count >= len(found):
        return list(found)
    drawn = set(random.Random(seed).sample(range(len(found)), count))  # noqa: S311
    return [one for i, one in enumerate(found) if i in drawn or one.line in lines]


def marks_of(source: str, file: str) -> list[Mark]:
    """Read the marks of a solution.

    Raises:
        UsageError: a mark gives no reason.
    """
    lines = source.split("\n")
    found = []
    for number, column, more, reason in _comments(source, file):
        if not reason:
            raise UsageError(
                f"{file}, line {number}: the mark gives no reason: write `# equivalent: REASON`"
            )
        target = number
        if not lines[number - 1][:column].strip():
            # Alone on its line, it is about the next one that is no comment.
            target += more + 1
            while target <= len(lines) and lines[target - 1].lstrip().startswith("#"):
                target += 1
        found.append(Mark(file, number, target, reason))
    return found


def without_marks(source: str, file: str) -> str:
    """Return a solution without its marks; a line that held nothing else goes with its mark."""
    lines = source.split("\n")
    for number, column, more, _ in reversed(list(_comments(source, file))):
        kept = lines[number - 1][:column].rstrip()
        lines[number - 1 : number + more] = [kept] if kept else []
    return "\n".join(lines)


class _Operators:
    """Finds the changes of a program.

    Attributes:
        imported: the names that its imports bind.
        uses_torch: whether it imports from torch.
        words: its texts that look like names, as the choices of an option do.
        scope: the function, class or module that is looked at.
        kin: attributes of `self` that may be taken for others, in the class that is looked at.
        given: the parameters of that function, each with the last line where it is still the
            caller's value.
    """

    def __init__(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        imports = [n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom)]
        self.imported = {(a.asname or a.name).partition(".")[0] for n in imports for a in n.names}
        named = [n.module or "" for n in imports if isinstance(n, ast.ImportFrom)]
        named += [a.name for n in imports if isinstance(n, ast.Import) for a in n.names]
        self.uses_torch = any(name.partition(".")[0] == "torch" for name in named)
        texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        self.words = [t for t in dict.fromkeys(texts) if t.isidentifier() and t != "__main__"]
        self.scope: ast.AST = tree
        self.kin: dict[str, str] = {}
        self.given: dict[str, int] = {}

    def block(self, statements: Sequence[ast.stmt], parent: ast.AST) -> Iterator[_Change]:
        """Yield every change of some statements."""
        # A statement that stands alone under a condition is dropped with it.
        alone = isinstance(parent, ast.If) and len(statements) == 1 and not parent.orelse
        for statement in statements:
            if _is_text(statement):
                continue
            if not alone and self._can_be_dropped(statement):
                yield _Change(statement, ast.Pass())
            yield from self._of_statement(statement)

    def _can_be_dropped(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Expr(value=value):
                return not isinstance(value, ast.Constant)
            case ast.AugAssign() | ast.Assert() | ast.Raise() | ast.For() | ast.Delete():
                return True
            case ast.Assign() | ast.AnnAssign(value=ast.expr()):
                # A name that is bound here alone would be missed at once by whatever reads it.
                bound = Counter(_bound(self.scope))
                return all(bound[name] > 1 for name in _bound(statement))
        return False

    def _of_statement(self, node: ast.stmt) -> Iterator[_Change]:
        match node:
            case ast.Import() | ast.ImportFrom():
                return
            case ast.Assign() if any(name.startswith("__") for name in _bound(node)):
                return
            case ast.If(test=test) if _is_never_judged(test):
                return
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield from self._of_definition(node)
                return
            case ast.Raise(exc=kind):
                kind = kind.func if isinstance(kind, ast.Call) else kind
                if isinstance(kind, ast.Name):
                    other = "KeyError" if kind.id == "RuntimeError" else "RuntimeError"
                    yield _Change(kind, _name(other))
                return
            case ast.Return(value=ast.expr() as value):
                yield _Change(value, ast.Constant(None))
            case ast.If(test=test):
                yield _Change(test, ast.Constant(True))
                yield _Change(test, ast.Constant(False))
            case ast.While(test=test) if not isinstance(test, ast.Constant):
                yield _Change(test, ast.Constant(False))
            case ast.With(items=items) if all(item.optional_vars is None for item in items):
                yield _Change(node, ast.If(ast.Constant(True), node.body, []))
            case ast.AugAssign(op=operator):
                yield _Change(node, _with(node, op=_BINARY[type(operator)]()))
                yield _Change(node, ast.Assign([node.target], node.value))
            case ast.Break():
                yield _Change(node, ast.Continue())
            case ast.Continue():
                yield _Change(node, ast.Break())
        yield from self._inside(node)

    def _inside(self, node: ast.AST) -> Iterator[_Change]:
        """Yield the changes of the statements and expressions that a node holds."""
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody") and isinstance(value, list):
                yield from self.block(value, node)
            elif name not in _NOT_CHANGED and (type(node), name) != (ast.comprehension, "target"):
                for part in value if isinstance(value, list) else [value]:
                    if isinstance(part, ast.expr):
                        yield from self._of_expression(part, node)
                    elif isinstance(part, ast.AST) and not isinstance(part, ast.pattern):
                        yield from self._inside(part)

    def _of_definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> Iterator[_Change]:
        for decorator in node.decorator_list:
            yield _Change(decorator, None)
        before = self.scope, self.kin, self.given
        if isinstance(node, ast.ClassDef):
            self.kin = _kin_attributes(node)
        else:
            yield from self._defaults(node.args)
            self.given = _given(node)
        self.scope = node
        yield from self.block(node.body, node)
        self.scope, self.kin, self.given = before

    def _defaults(self, arguments: ast.arguments) -> Iterator[_Change]:
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                yield from self._of_expression(default, arguments)

    def _of_expression(self, node: ast.expr, parent: ast.AST) -> Iterator[_Change]:
        match node:
            case ast.Constant(value=value):
                yield from (_Change(node, new) for new in self._other_values(value))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                yield from (_Change(node, new) for new in self._other_values(-value))
                return
            case ast.UnaryOp(operand=operand):
                yield _Change(node, operand)
            case ast.BinOp():
                yield from self._of_operation(node)
            case ast.Compare(ops=ops):
                for i, operator in enumerate(ops):
                    for other in _COMPARED[type(operator)]:
                        yield _Change(node, _with(node, ops=[*ops[:i], other(), *ops[i + 1 :]]))
            case ast.BoolOp(op=operator, values=values):
                opposite = ast.Or() if isinstance(operator, ast.And) else ast.And()
                yield _Change(node, _with(node, op=opposite))
                for left in _each_left_out(values):
                    yield _Change(node, left[0] if len(left) == 1 else _with(node, values=left))
            case ast.IfExp(body=body, orelse=orelse):
                yield _Change(node, body)
                yield _Change(node, orelse)
            case ast.Call():
                yield from self._of_call(node, parent)
            case ast.Attribute(ctx=ast.Load(), attr=name, value=value):
                of_self = isinstance(value, ast.Name) and value.id == "self"
                found = [self.kin.get(name) if of_self else _SWAPPED.get(name)]
                if self._was_given(value) and name in _ALSO_IN_PLACE and self.uses_torch:
                    found.append(f"{name}_")
                yield from (_Change(node, _with(node, attr=one)) for one in found if one)
            case ast.Name(id=name, ctx=ast.Load()) if name in _SWAPPED:
                if isinstance(parent, ast.Call) and node is parent.func:
                    yield _Change(node, _name(_SWAPPED[name]))
            case ast.Slice(lower=lower, upper=upper):
                for bound in ("lower", "upper", "step"):
                    if getattr(node, bound) is not None:
                        yield _Change(node, _with(node, **{bound: None}))
                yield from self._off_by_one(lower, upper)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                if not all(map(_is_text, elements)):
                    for swapped in self._swaps(elements):
                        yield _Change(node, _with(node, elts=swapped))
            case ast.Dict(values=values):
                yield from (_Change(node, _with(node, values=s)) for s in self._swaps(values))
            case ast.JoinedStr():
                for part in ast.walk(node):
                    if isinstance(part, ast.FormattedValue):
                        yield from self._of_expression(part.value, part)
                return
            case ast.Lambda(args=arguments, body=body):
                yield from self._defaults(arguments)
                yield from self._of_expression(body, node)
                return
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                for test in (test for loop in node.generators for test in loop.ifs):
                    yield _Change(test, ast.Constant(True))
        yield from self._inside(node)

    def _other_values(self, value: object) -> Iterator[ast.expr]:
        """Yield the values that a constant is changed into."""
        match value:
            case bool():
                yield ast.Constant(not value)
            case int():
                yield from (_number(value + step) for step in (1, -1))
            case float() if value:
                # Rounded to numbers that a person would write.
                news = (float(f"{new:.12g}") for new in (2 * value, value / 10))
                yield from (_number(new) for new in news if math.isfinite(new))
            case float():
                yield _number(1.0)
            case bytes():
                yield ast.Constant(b"" if value else b"x")
            case str():
                yield ast.Constant("" if value else "x")
                if value in self.words:
                    others = [word for word in self.words if word != value]
                    yield from map(ast.Constant, others[:_MAX_WORDS])

    def _of_operation(self, node: ast.BinOp) -> Iterator[_Change]:
        left, right, operator = node.left, node.right, type(node.op)
        yield _Change(node, _with(node, op=_BINARY[operator]()))
        yield _Change(node, left)
        yield _Change(node, right)
        if operator in _IN_PLACE and self._was_given(left):
            # The caller's value is changed.
            method = ast.Attribute(left, _IN_PLACE[operator], ast.Load())
            yield _Change(node, ast.Call(method, [right], []))
        if operator in _ORDERED:
            yield _Change(node, _with(node, left=right, right=left))

    def _was_given(self, node: ast.expr) -> bool:
        """Return whether the caller would see a change of a value."""
        return isinstance(node, ast.Name) and node.lineno <= self.given.get(node.id, 0)

    def _of_call(self, node: ast.Call, parent: ast.AST) -> Iterator[_Change]:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name == "super":
            return
        bare = not isinstance(parent, ast.Expr | ast.withitem)
        if bare and name != "range" and not name[:1].isupper():
            yield from self._unwrapped(node)
        for keywords in _each_left_out(node.keywords):
            yield _Change(node, _with(node, keywords=keywords))
        if len(node.args) + len(node.keywords) > 1 or isinstance(node.func, ast.Attribute):
            yield _Change(node, _with(node, args=node.args[:-1]))
        if name not in _SYMMETRIC or (name == "transpose" and not self.uses_torch):
            yield from (_Change(node, _with(node, args=args)) for args in self._swaps(node.args))
        if name == "range":
            yield from self._off_by_one(*node.args)

    def _unwrapped(self, node: ast.Call) -> Iterator[_Change]:
        """Leave the object of a method, else the first argument."""
        if isinstance(node.func, ast.Attribute):
            root = node.func.value
            while isinstance(root, ast.Attribute):
                root = root.value
            # A function of a module, and a part of `self`, work on their argument.
            if getattr(root, "id", "") not in {*self.imported, "self", "cls"}:
                yield _Change(node, node.func.value)
                return
        if node.args and not isinstance(node.args[0], ast.Starred):
            yield _Change(node, node.args[0])

    def _swaps(self, nodes: list[ast.expr]) -> Iterator[list[ast.expr]]:
        """Swap each two neighbours."""
        for i in range(len(nodes) - 1):
            yield [*nodes[:i], nodes[i + 1], nodes[i], *nodes[i + 2 :]]

    def _off_by_one(self, *bounds: ast.expr | None) -> Iterator[_Change]:
        for bound in bounds:
            if bound and not isinstance(bound, ast.Constant | ast.UnaryOp | ast.Starred):
                for operator in (ast.Add(), ast.Sub()):
                    yield _Change(bound, ast.BinOp(bound, operator, ast.Constant(1)))


def _with(node: ast.AST, **fields: Any) -> Any:
    """Copy a node with other fields."""
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})


def _changed(node: Any, change: _Change) -> Any:
    """Return a tree, or a part of one, with a change in it."""
    if node is change.old:
        return change.new
    if isinstance(node, list):
        kept = (one for one in node if one is not change.old or change.new is not None)
        return [_changed(one, change) for one in kept]
    if not isinstance(node, ast.AST):
        return node
    return _with(node, **{name: _changed(part, change) for name, part in ast.iter_fields(node)})


def _written(tree: ast.AST) -> str:
    """Return a program as Python writes it."""
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _each_left_out(nodes: list[Any]) -> Iterator[list[Any]]:
    return (nodes[:i] + nodes[i + 1 :] for i in range(len(nodes)))


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _number(value: float) -> ast.expr:
    return ast.parse(repr(value), mode="eval").body


def _is_text(node: ast.AST) -> bool:
    """Return whether an expression or a statement is a text and nothing else."""
    value = node.value if isinstance(node, ast.Expr) else node
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _is_never_judged(test: ast.expr) -> bool:
    names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    return bool(names & {"__name__", "TYPE_CHECKING"})


def _bound(scope: ast.AST) -> Iterator[str]:
    """Yield every name that is bound in a scope, as a parameter or by storing."""
    for node in ast.walk(scope):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _given(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, int]:
    """Return the parameters of a function, and the lines up to which they hold what was given."""
    lines = dict.fromkeys(_bound(function.args), sys.maxsize)
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in lines:
            lines[node.id] = min(lines[node.id], node.lineno)
    return lines


def _kin_attributes(node: ast.ClassDef) -> dict[str, str]:
    """Return for every attribute of `self` another one that is made in the same way."""
    groups: dict[str, dict[str, None]] = {}
    for one in ast.walk(node):
        match one:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value
            ):
                made = value.func if isinstance(value, ast.Call) else value
                groups.setdefault(ast.unparse(made), {})[name] = None
    found: dict[str, str] = {}
    for names in (list(group) for group in groups.values() if len(group) > 1):
        found |= dict(zip(names, names[1:] + names[:1], strict=True))
    return found


def _code(program: str) -> bytes:
    """Return what a program compiles to, without the line numbers in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(program, "mutant", "exec", dont_inherit=True)
    return marshal.dumps(_without_lines(code), 2)


def _without_lines(code: types.CodeType) -> types.CodeType:
    constants = tuple(
        _without_lines(one) if isinstance(one, types.CodeType) else one for one in code.co_consts
    )
    return code.replace(co_firstlineno=1, co_linetable=b"", co_consts=constants)


def _difference(before: list[str], after: list[str]) -> tuple[str, str]:
    """Return the lines that change and those that take their place, each as one line."""
    most = min(len(before), len(after))
    head = next((i for i in range(most) if before[i] != after[i]), most)
    most -= head
    tail = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    sides = (lines[head : len(lines) - tail] for lines in (before, after))
    old, new = (" ".join(line.strip() for line in side) for side in sides)
    return old, new


def _comments(source: str, file: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield every mark: line, column, how many lines more it has, and what is behind its colon."""
    if "equivalent" not in source.lower():
        return
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError) as error:
        raise UsageError(f"{file} is no Python: {error}") from error
    lines = source.split("\n")
    for token in tokens:
        found = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
        if found:
            number = token.start[0]
            text, after = found[1].strip(), number
            while after < len(lines) and (more := _MORE.fullmatch(lines[after])):
                text, after = f"{text} {more[1]}", after + 1
            yield number, token.start[1] + found.start(), after - number, text
