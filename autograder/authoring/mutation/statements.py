"""The changes of a program, statement by statement."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence

from autograder.authoring.mutation.alike import BINARY, kin_attributes
from autograder.authoring.mutation.expressions import Expressions, is_text
from autograder.authoring.mutation.source import Change, Source


def changes_of(text: str) -> list[Change]:
    """Return every small change of a program, in the order of where it stands.

    Left out is what decides nothing: docstrings, annotations, imports, the messages of errors, and
    what is done under `if __name__ == "__main__"`.

    Raises:
        SyntaxError: the text is no Python.
    """
    found = dict.fromkeys(_Finder(text).module())
    return sorted(found, key=lambda change: (change.start, change.end))


class _Finder:
    def __init__(self, text: str) -> None:
        self._source = Source(text)
        self._expressions = Expressions(self._source)

    def module(self) -> Iterator[Change]:
        """Yield the changes of the whole program."""
        tree = self._source.tree
        yield from self._block(tree.body, tree, tree)

    def _block(
        self, statements: Sequence[ast.stmt], parent: ast.AST, scope: ast.AST
    ) -> Iterator[Change]:
        # What stands alone under a condition is dropped with it.
        alone = isinstance(parent, ast.If) and len(statements) == 1 and not parent.orelse
        for statement in statements:
            # A docstring, or a text that does nothing anywhere else.
            if is_text(statement):
                continue
            if not alone and self._can_be_dropped(statement, scope):
                yield self._source.replace(statement, "pass")
            yield from self._statement(statement, scope)

    def _can_be_dropped(self, statement: ast.stmt, scope: ast.AST) -> bool:
        match statement:
            case ast.Expr(value=value):
                return not isinstance(value, ast.Constant)
            case ast.AugAssign() | ast.Assert() | ast.Raise() | ast.For() | ast.Delete():
                return True
            case ast.Assign() | ast.AnnAssign(value=ast.expr()):
                # A name that is bound here alone would be missed at once by whatever reads it.
                return all(_bound(scope, name) > 1 for name in _stored(statement))
        return False

    def _statement(self, node: ast.stmt, scope: ast.AST) -> Iterator[Change]:
        match node:
            case ast.Import() | ast.ImportFrom():
                return
            case ast.Assign() if any(name.startswith("__") for name in _stored(node)):
                return
            case ast.If(test=test) if _never_judged(test):
                return
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from self._decorators(node)
                for default in (*node.args.defaults, *node.args.kw_defaults):
                    if default is not None:
                        yield from self._expressions.of(default, node)
                before, self._expressions.parameters = self._expressions.parameters, _given(node)
                yield from self._block(node.body, node, node)
                self._expressions.parameters = before
                return
            case ast.ClassDef():
                yield from self._decorators(node)
                kin, self._expressions.kin = self._expressions.kin, kin_attributes(node)
                yield from self._block(node.body, node, node)
                self._expressions.kin = kin
                return
            case ast.Raise():
                yield from self._raised(node)
                return
            case ast.Return(value=ast.expr() as value) if not _is_none(value):
                yield self._source.replace(value, "None")
            case ast.If(test=test):
                yield self._source.replace(test, "True")
                yield self._source.replace(test, "False")
            case ast.While(test=test) if not isinstance(test, ast.Constant):
                yield self._source.replace(test, "False")
            case ast.With(items=items) if all(item.optional_vars is None for item in items):
                end = self._source.span(items[-1].context_expr)[1]
                yield Change(
                    self._source.span(node)[0],
                    self._source.find(r"\s*:", end, end + 200)[0],
                    "if True",
                )
            case ast.AugAssign(op=operator):
                _, target_end = self._source.span(node.target)
                sign, other = BINARY[type(operator)]
                start, end = self._source.find(
                    re.escape(sign) + "=", target_end, self._source.span(node.value)[0]
                )
                yield Change(start, end, f"{other}=")
                yield Change(start, end, "=")
            case ast.Break():
                yield self._source.replace(node, "continue")
            case ast.Continue():
                yield self._source.replace(node, "break")
        for field, child in ast.iter_fields(node):
            if field in ("annotation", "msg", "type_params", "type_comment"):
                continue
            if field in ("body", "orelse", "finalbody"):
                yield from self._block(child, node, scope)
                continue
            for part in child if isinstance(child, list) else [child]:
                yield from self._part(part, node, scope)

    def _part(self, part: object, node: ast.stmt, scope: ast.AST) -> Iterator[Change]:
        match part:
            case ast.expr():
                yield from self._expressions.of(part, node)
            case ast.withitem():
                yield from self._expressions.of(part.context_expr, part)
            case ast.ExceptHandler():
                yield from self._block(part.body, node, scope)
            case ast.match_case():
                if part.guard is not None:
                    yield from self._expressions.of(part.guard, node)
                yield from self._block(part.body, node, scope)

    def _decorators(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> Iterator[Change]:
        for decorator in node.decorator_list:
            start, end = self._source.span(decorator)
            yield Change(self._source.data.rindex(b"@", 0, start), end, "")

    def _raised(self, node: ast.Raise) -> Iterator[Change]:
        kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if isinstance(kind, ast.Name):
            yield self._source.replace(
                kind, "KeyError" if kind.id == "RuntimeError" else "RuntimeError"
            )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _never_judged(test: ast.expr) -> bool:
    names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    return bool(names & {"__name__", "TYPE_CHECKING"})


def _given(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, int]:
    """Return the parameters of a function, and the lines up to which they hold what was given."""
    given = [node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)]
    lines: dict[str, int] = dict.fromkeys(given, sys.maxsize)
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in lines:
            lines[node.id] = min(lines[node.id], node.lineno)
    return lines


def _stored(statement: ast.stmt) -> list[str]:
    """Return the names that an assignment binds."""
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return [node.id for node in names if isinstance(node.ctx, ast.Store)]


def _bound(scope: ast.AST, name: str) -> int:
    """Count where a name is bound in a scope, as a parameter or by storing."""
    bound = 0
    for node in ast.walk(scope):
        if isinstance(node, ast.arg):
            bound += node.arg == name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound += node.id == name
    return bound
