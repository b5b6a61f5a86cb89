"""A program as text and as a tree, and a change of it as a span of bytes."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

# What falls apart beside another operation, unless it stands in brackets; and beside what.
OPERATIONS = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.Await),
    *(ast.NamedExpr, ast.Yield, ast.YieldFrom),
)
_TIGHT = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Await, ast.Starred)


@dataclass(frozen=True)
class Change:
    """The bytes `start` to `end` of a source, encoded as UTF-8, become `new`.

    `words` say what becomes what where the two texts would say it at length.
    """

    start: int
    end: int
    new: str
    words: str = ""


class Source:
    """A program.

    Attributes:
        data: its text in UTF-8, by which places are counted.
        tree: its syntax tree.
        imported: the names that its imports bind.
        modules: the top-level modules that it imports from.
        words: its texts that look like names, as the choices of an option do.

    Raises:
        SyntaxError: the text is no Python.
    """

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.tree = ast.parse(text)
        self._starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line.encode()) + 1)
        nodes = list(ast.walk(self.tree))
        imports = [n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom)]
        self.imported = {(a.asname or a.name).partition(".")[0] for n in imports for a in n.names}
        named = [n.module or "" for n in imports if isinstance(n, ast.ImportFrom)]
        named += [a.name for n in imports if isinstance(n, ast.Import) for a in n.names]
        self.modules = {name.partition(".")[0] for name in named}
        texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        self.words = [t for t in dict.fromkeys(texts) if t.isidentifier() and t != "__main__"]

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Return where a node begins and ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, start: int, end: int) -> str:
        """Return what stands between two places."""
        return self.data[start:end].decode()

    def own(self, node: ast.expr | ast.keyword) -> str:
        """Return what a node is written as, without the brackets around it."""
        return self.text(*self.span(node))

    def find(self, pattern: str, start: int, end: int) -> tuple[int, int]:
        """Return where a token stands between two expressions, passing comments over."""
        between = re.sub(rb"#[^\n]*", lambda m: b" " * len(m[0]), self.data[start:end])
        found = re.search(pattern.encode(), between)
        assert found is not None, pattern
        return start + found.start(), start + found.end()

    def replace(self, node: ast.expr | ast.stmt, new: str) -> Change:
        """Return the change that puts a text in the place of a node."""
        return Change(*self.span(node), new)

    def enclosed(self, node: ast.expr, new: str, parent: ast.AST) -> str:
        """Put brackets around what would fall apart where a node stands."""
        found = ast.parse(f"(\n{new}\n)", mode="eval").body
        head = (parent.value,) if isinstance(parent, ast.Attribute | ast.Subscript) else ()
        called = (parent.func,) if isinstance(parent, ast.Call) else ()
        start, end = self.span(node)
        bracketed = self.data[start - 1 : start] == b"(" and self.data[end : end + 1] == b")"
        power = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow)
        if isinstance(found, ast.UnaryOp) and not (power or head or called):
            return new
        tight = isinstance(parent, _TIGHT) or node in (*head, *called)
        loose = isinstance(found, OPERATIONS)
        return f"({new})" if loose and tight and (not bracketed or node in called) else new
