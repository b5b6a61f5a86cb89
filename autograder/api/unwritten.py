"""Whether code is still as the stub has it: what a stub raises there says that nothing is written.

Any other NotImplementedError is the student's own, and is told as the exception that it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from opcode import opmap
from pathlib import Path
from types import FrameType, TracebackType

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# In a module's own code these are others' code, or computes nothing.
_APART = (*_FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)
_MODULE = "<module>"


def raised_by_stub(error: BaseException, folder: str, stubs: Mapping[str, str]) -> bool:
    """Return whether a stub's own `raise` ended this, in a function with nothing else in it.

    Every statement of the function is one that the stub has there.

    Args:
        error: what was raised.
        folder: where the student's files lie.
        stubs: the text of every stub, by the name of its file.
    """
    frame = _raising(error.__traceback__) if type(error) is NotImplementedError else None
    if frame is None:
        return False
    file, function = Path(frame.f_code.co_filename), frame.f_code.co_qualname
    name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else ""
    if name not in stubs:
        return False
    try:
        written = bodies(file.read_bytes()).get(function, [])
    except (OSError, SyntaxError, ValueError):
        # The file was changed after its import.
        return False
    return bool(written) and set(written) <= set(bodies(stubs[name]).get(function, []))


def _raising(traceback: TracebackType | None) -> FrameType | None:
    """Return the frame that a `raise` ended; None where torch raised in it, as on `meta`."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return None
    frame, place = traceback.tb_frame, traceback.tb_lasti
    return frame if frame.f_code.co_code[place] == opmap["RAISE_VARARGS"] else None


def bodies(text: str | bytes) -> dict[str, list[str]]:
    """Return the statements of each function of a text, by its qualified name.

    Docstrings and comments are left out. Under "<module>" is the module's own code.
    """
    tree = ast.parse(text)
    own = [statement for statement in tree.body if not isinstance(statement, _APART)]
    return {_MODULE: _written(own), **dict(_functions(tree, ""))}


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, list[str]]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _FUNCTIONS):
            yield f"{prefix}{child.name}", _written(child.body)
            yield from _functions(child, f"{prefix}{child.name}.<locals>.")
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        else:
            yield from _functions(child, prefix)


def _written(body: list[ast.stmt]) -> list[str]:
    """Return statements in one form each, without the docstring that they may begin with."""
    match body:
        case [ast.Expr(ast.Constant(str())), *body]:
            pass
    return [ast.dump(statement) for statement in body]
