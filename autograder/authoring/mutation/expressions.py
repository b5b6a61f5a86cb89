"""The changes of an expression."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from autograder.authoring.mutation.alike import (
    BINARY,
    COMPARED,
    IN_PLACE,
    ORDERED,
    SWAPPED,
    numbers,
)
from autograder.authoring.mutation.source import OPERATIONS, Change, Source

_MAX_TEXTS = 3
# Methods of a tensor that have a form with an underscore, which changes the tensor itself.
_ALSO_IN_PLACE = {
    *("abs", "add", "clamp", "cos", "div", "exp", "floor", "log", "masked_fill", "mul", "neg"),
    *("pow", "round", "sin", "sqrt", "square", "sub", "tanh", "tril", "triu"),
}
# What does the same whichever way round it is given two arguments; numpy's transpose does not.
_SYMMETRIC = {"transpose", "swapaxes", "max", "min", "maximum", "minimum", "add", "mul", "isclose"}


class Expressions:
    """Finds what may stand in the place of the expressions of a program.

    Attributes:
        kin: attributes of `self` that may be taken for others, in the class that is looked at.
        parameters: those of the function that is looked at, and the last line of each where it is
            still what was given.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self.kin: dict[str, str] = {}
        self.parameters: Mapping[str, int] = {}

    def of(self, node: ast.expr, parent: ast.AST) -> Iterator[Change]:
        """Yield the changes of an expression and of all that is in it."""
        match node:
            case ast.Constant():
                yield from self._constant(node, parent)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                for new in numbers(-value):
                    yield self._source.replace(node, self._source.enclosed(node, new, parent))
                return
            case ast.UnaryOp():
                start = self._source.span(node)[0]
                sign = 3 if isinstance(node.op, ast.Not) else 1
                rest = self._source.text(start + sign, self._source.span(node)[1]).strip()
                yield self._source.replace(node, self._source.enclosed(node, rest, parent))
            case ast.BinOp():
                yield from self._binary(node, parent)
            case ast.Compare():
                yield from self._compared(node)
            case ast.BoolOp():
                yield from self._boolean(node, parent)
            case ast.IfExp():
                for branch in (node.body, node.orelse):
                    yield self._source.replace(
                        node, self._source.enclosed(node, self._source.own(branch), parent)
                    )
            case ast.Call():
                yield from self._call(node, parent)
            case ast.Attribute(ctx=ast.Load()):
                yield from self._attribute(node)
            case ast.Name(id=name, ctx=ast.Load()) if isinstance(parent, ast.Call):
                if node is parent.func and name in SWAPPED:
                    yield self._source.replace(node, SWAPPED[name])
            case ast.Slice():
                yield from self._slice(node)
            case ast.Tuple() | ast.List():
                if not all(is_text(element) for element in node.elts):
                    yield from self._swaps(node.elts)
            case ast.Dict():
                yield from self._swaps(node.values)
            case ast.JoinedStr():
                # Before Python 3.12 the places of what is put into a text are not always right.
                for part in ast.walk(node):
                    if isinstance(part, ast.FormattedValue) and self._is_in_place(part.value):
                        yield from self.of(part.value, part)
                return
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                for loop in node.generators:
                    for test in loop.ifs:
                        yield self._source.replace(test, "True")
                        yield from self.of(test, loop)
                    yield from self.of(loop.iter, loop)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from self.of(child, node)
            elif isinstance(child, ast.keyword):
                yield from self.of(child.value, child)
            elif isinstance(child, ast.arguments):
                for default in child.defaults:
                    yield from self.of(default, child)

    def _is_in_place(self, node: ast.expr) -> bool:
        try:
            written = ast.parse(self._source.own(node).strip() or "()", mode="eval").body
        except (SyntaxError, UnicodeDecodeError):
            return False
        return ast.dump(written) == ast.dump(node)

    def _constant(self, node: ast.Constant, parent: ast.AST) -> Iterator[Change]:
        match node.value:
            case bool():
                yield self._source.replace(node, str(not node.value))
            case int() | float():
                for new in numbers(node.value):
                    yield self._source.replace(node, self._source.enclosed(node, new, parent))
            case str():
                yield self._source.replace(node, '""' if node.value else '"x"')
                if node.value in self._source.words:
                    others = [word for word in self._source.words if word != node.value]
                    for other in others[:_MAX_TEXTS]:
                        yield self._source.replace(node, f'"{other}"')
            case bytes():
                yield self._source.replace(node, 'b""' if node.value else 'b"x"')

    def _binary(self, node: ast.BinOp, parent: ast.AST) -> Iterator[Change]:
        start, end = self._source.span(node)
        sign, other = BINARY[type(node.op)]
        at, after = self._source.find(
            re.escape(sign), self._source.span(node.left)[1], self._source.span(node.right)[0]
        )
        left, right = self._source.text(start, at), self._source.text(after, end)
        changed = f"{left}{other}{right}"
        if isinstance(node.op, ast.Pow | ast.MatMult | ast.Mod | ast.FloorDiv):
            yield self._source.replace(node, self._source.enclosed(node, changed, parent))
        else:
            yield Change(at, after, other)
        left, right = left.strip(), right.strip()
        for kept in (left, right):
            yield self._source.replace(node, self._source.enclosed(node, kept, parent))
        if type(node.op) in IN_PLACE and self._was_given(node.left):
            # What was given is changed for whoever gave it.
            words = f"{left} {sign} … -> {left} {sign}= …"
            yield Change(start, end, f"{left}.{IN_PLACE[type(node.op)]}({right})", words)
        if isinstance(node.op, ORDERED) and left != right:
            first, second = (
                f"({text})" if isinstance(one, OPERATIONS) and not text.startswith("(") else text
                for one, text in ((node.right, right), (node.left, left))
            )
            yield self._source.replace(
                node, self._source.enclosed(node, f"{first} {sign} {second}", parent)
            )

    def _was_given(self, node: ast.expr) -> bool:
        """Tell whether a change of a value would be seen by whoever gave it."""
        return isinstance(node, ast.Name) and node.lineno <= self.parameters.get(node.id, 0)

    def _compared(self, node: ast.Compare) -> Iterator[Change]:
        sides = [node.left, *node.comparators]
        for number, operator in enumerate(node.ops):
            sign, others = COMPARED[type(operator)]
            pattern = re.escape(sign).replace(r"\ ", r"\s+")
            pattern = rf"\b{pattern}\b" if sign[0].isalpha() else pattern
            between = self._source.span(sides[number])[1], self._source.span(sides[number + 1])[0]
            for other in others:
                yield Change(*self._source.find(pattern, *between), other)

    def _boolean(self, node: ast.BoolOp, parent: ast.AST) -> Iterator[Change]:
        sign, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        start, end = self._source.span(node)
        places = [
            self._source.find(rf"\b{sign}\b", self._source.span(one)[1], self._source.span(two)[0])
            for one, two in itertools.pairwise(node.values)
        ]
        edges = [start, *(edge for place in places for edge in place), end]
        parts = [self._source.text(*edges[i : i + 2]).strip() for i in range(0, len(edges), 2)]
        if len(parts) == 2:
            yield Change(*places[0], other)
        else:
            yield self._source.replace(
                node, self._source.enclosed(node, f" {other} ".join(parts), parent)
            )
        for dropped in range(len(parts)):
            kept = f" {sign} ".join(parts[:dropped] + parts[dropped + 1 :])
            yield self._source.replace(node, self._source.enclosed(node, kept, parent))

    def _call(self, node: ast.Call, parent: ast.AST) -> Iterator[Change]:
        _, end = self._source.span(node)
        opened = self._source.find(r"\(", self._source.span(node.func)[1], end)[1]
        name = _last_name(node.func)
        if name == "super":
            return
        bare = not isinstance(parent, ast.Expr | ast.withitem)
        if bare and name != "range" and not name[:1].isupper():
            yield from self._unwrapped(node, parent)
        given: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        given.sort(key=self._source.span)
        texts = [self._source.own(one) for one in given]
        for number, one in enumerate(given):
            last = bool(node.args) and one is node.args[-1]
            droppable = len(given) > 1 or isinstance(node.func, ast.Attribute)
            if isinstance(one, ast.keyword) or (last and droppable):
                rest = ", ".join(texts[:number] + texts[number + 1 :])
                yield Change(opened, end - 1, rest)
        if name not in _SYMMETRIC or (name == "transpose" and "torch" not in self._source.modules):
            yield from self._swaps(node.args)
        if name == "range":
            for bound in node.args:
                yield from self._off_by_one(bound)

    def _unwrapped(self, node: ast.Call, parent: ast.AST) -> Iterator[Change]:
        """Leave what a call is given first: the object of a method, else the first argument."""
        start, end = self._source.span(node)
        function = self._source.text(start, self._source.span(node.func)[1])
        if isinstance(node.func, ast.Attribute):
            root = _root_name(node.func.value)
            # What belongs to a module, or is a part of the module's own, works on its argument.
            if root not in {*self._source.imported, "self", "cls"}:
                after = self._source.span(node.func.value)[1]
                dot = self._source.find(r"\.", after, self._source.span(node.func)[1])[0]
                kept = self._source.text(start, dot).strip()
                yield self._source.replace(node, self._source.enclosed(node, kept, parent))
                return
        if node.args and not isinstance(node.args[0], ast.Starred):
            kept = self._source.enclosed(node, self._source.own(node.args[0]), parent)
            yield Change(start, end, kept, f"{' '.join(function.split())}(…) -> …")

    def _swaps(self, given: Sequence[ast.expr]) -> Iterator[Change]:
        """Swap neighbours."""
        for one, two in itertools.pairwise(given):
            first, second = self._source.own(one), self._source.own(two)
            if first != second:
                between = self._source.text(self._source.span(one)[1], self._source.span(two)[0])
                yield Change(
                    self._source.span(one)[0],
                    self._source.span(two)[1],
                    f"{second}{between}{first}",
                )

    def _attribute(self, node: ast.Attribute) -> Iterator[Change]:
        of_self = isinstance(node.value, ast.Name) and node.value.id == "self"
        other = self.kin.get(node.attr) if of_self else SWAPPED.get(node.attr)
        others = [] if other is None else [other]
        if (
            self._was_given(node.value)
            and node.attr in _ALSO_IN_PLACE
            and "torch" in self._source.modules
        ):
            others.append(f"{node.attr}_")
        end = self._source.span(node)[1]
        for other in others:
            yield Change(end - len(node.attr.encode()), end, other)

    def _slice(self, node: ast.Slice) -> Iterator[Change]:
        bounds = [node.lower, node.upper, node.step]
        texts = ["" if bound is None else self._source.own(bound) for bound in bounds]
        for number, bound in enumerate(bounds):
            if bound is not None:
                left = [*texts[:number], "", *texts[number + 1 :]]
                yield self._source.replace(node, ":".join(left if left[2] else left[:2]))
        for bound in bounds[:2]:
            if bound is not None:
                yield from self._off_by_one(bound)

    def _off_by_one(self, bound: ast.expr) -> Iterator[Change]:
        if not isinstance(bound, ast.Constant | ast.UnaryOp | ast.Starred):
            for step in ("+ 1", "- 1"):
                yield self._source.replace(bound, f"{self._source.own(bound)} {step}")


def is_text(node: ast.AST) -> bool:
    """Tell whether an expression or a statement is a text and nothing else."""
    value = node.value if isinstance(node, ast.Expr) else node
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _root_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
