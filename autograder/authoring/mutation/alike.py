"""What is taken for one another: operators, numbers, and names of one kind."""

from __future__ import annotations

import ast
import math

# Names that are taken for one another: functions, methods, classes and dtypes of one kind.
_KIN = [
    *("mean sum", "min max", "amin amax", "argmin argmax", "minimum maximum", "sin cos"),
    *("zeros ones", "tril triu", "any all", "floor ceil", "add sub", "mul div", "add_ sub_"),
    *("mul_ div_", "square abs", "relu gelu", "ReLU GELU", "softmax log_softmax", "argsort sort"),
    *("float32 float64", "int32 int64", "lower upper", "lstrip rstrip", "keys values", "pop get"),
    *("startswith endswith", "append extend", "cat stack", "exp log", "cumsum cumprod"),
    *("randperm arange", "train eval", "most_common elements", "read_text read_bytes"),
]
SWAPPED = {one: other for pair in _KIN for one, other in (pair.split(), reversed(pair.split()))} | {
    "sorted": "list",
    "sqrt": "square",
    "set": "list",
    "clone": "detach",
    "std": "var",
}
BINARY: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.MatMult: ("@", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
# What Python calls for the first four when they work in place.
IN_PLACE = {ast.Add: "__iadd__", ast.Sub: "__isub__", ast.Mult: "__imul__", ast.Div: "__itruediv__"}
ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
# Of each comparison the boundary beside it, if there is one, and its opposite.
COMPARED: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}


def numbers(value: float) -> list[str]:
    """Return what a number is changed into: its neighbours; twice and a tenth of a fraction."""
    if isinstance(value, int):
        return [repr(value + 1), repr(value - 1)]
    if not value:
        return ["1.0"]
    # Rounded to what one would write.
    return [repr(float(f"{new:.12g}")) for new in (2 * value, value / 10) if math.isfinite(new)]


def kin_attributes(node: ast.ClassDef) -> dict[str, str]:
    """Return for every attribute of `self` another one that is made in the same way."""
    groups: dict[str, list[str]] = {}
    for one in ast.walk(node):
        match one:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value
            ):
                made = value.func if isinstance(value, ast.Call) else value
                group = groups.setdefault(ast.unparse(made), [])
                group += [name] if name not in group else []
    return {
        name: group[(number + 1) % len(group)]
        for group in groups.values()
        if len(group) > 1
        for number, name in enumerate(group)
    }
