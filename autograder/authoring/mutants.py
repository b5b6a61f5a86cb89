"""Mutants: a solution with one small change in it, which a good suite takes points for.

A mutant that keeps every point shows a hole in the suite, or behaves as the solution does. A hole
is closed by a sharper check. An equivalent mutant is marked in the solution, with the reason, in a
comment at the end of its line or right above it:

    # equivalent: REASON
    # equivalent: `OLD -> NEW`: REASON
    # equivalent: `OLD -> NEW`, `OLD -> NEW`: REASON

The first form marks the one mutant of the line that survives; where several do, each is named by
its change, as the report writes it. A mark that marks no survivor is a fault, and one without a
reason is refused. A reason may go on in the comments right below, indented by two spaces or more.
No mark comes into a stub. This is how `autograder selftest` shows a survivor:

    running_mean.py:12
      - total = values.sum(dtype=torch.float64)  # ()
      + total = values.sum(dtype=torch.float32)  # ()
      # equivalent: `float64 -> float32`: WHY
"""

from __future__ import annotations

import ast
import marshal
import random
import re
import types
import warnings
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from autograder.authoring.mutation.source import Change
from autograder.authoring.mutation.statements import changes_of
from autograder.errors import UsageError

_TOKEN = re.compile(r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?|\w+|\s+|[^\w\s]")
_MAX_SIDE = 36


@dataclass(frozen=True)
class Mutant:
    """A solution with one change in it.

    Attributes:
        file: the solution's name.
        line: where the change begins, from 1.
        change: what becomes what, shortly; no two mutants of a line have the same.
        old: the lines that change, as one.
        new: what they become, as one.
        source: the whole file.
    """

    file: str
    line: int
    change: str
    old: str
    new: str
    source: str = field(repr=False)


def mutants_of(source: str, file: str) -> list[Mutant]:
    """Return the mutants of a solution, in the order of their lines.

    Those that compile to the same code as the solution, or as a mutant before, are left out.

    Raises:
        UsageError: the solution is no Python.
    """
    try:
        changes = changes_of(source)
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{file} is no Python: {error}") from error
    seen = {_code(source)}
    counts: Counter[tuple[int, str]] = Counter()
    found = []
    for change in changes:
        mutated = _changed(source, change)
        code = _code(mutated)
        if code is None or code in seen:
            continue
        seen.add(code)
        line, words = _described(source, change)
        counts[line, words] += 1
        if counts[line, words] > 1:
            words += f" ({counts[line, words]})"
        old, new = _lines(source, change)
        found.append(Mutant(file, line, words, old, new, mutated))
    return sorted(found, key=lambda mutant: mutant.line)


def sampled(found: Sequence[Mutant], lines: Collection[int], count: int, seed: str) -> list[Mutant]:
    """Return so many mutants, the same ones for the same seed, and all of these lines."""
    if count >= len(found):
        return list(found)
    drawn = set(random.Random(seed).sample(range(len(found)), count))  # noqa: S311
    return [one for i, one in enumerate(found) if i in drawn or one.line in lines]


def _changed(source: str, change: Change) -> str:
    data = source.encode()
    return (data[: change.start] + change.new.encode() + data[change.end :]).decode()


def _code(source: str) -> bytes | None:
    """Return what a program compiles to, without the places in it; None if it is no program."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(ast.parse(source), "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    return marshal.dumps(_without_places(code), 2)


def _without_places(code: types.CodeType) -> types.CodeType:
    constants = tuple(
        _without_places(one) if isinstance(one, types.CodeType) else one for one in code.co_consts
    )
    return code.replace(co_firstlineno=1, co_linetable=b"", co_consts=constants)


def _described(source: str, change: Change) -> tuple[int, str]:
    """Return the line where a change begins, and what becomes what, without what stays."""
    data = source.encode()
    old = _TOKEN.findall(data[change.start : change.end].decode())
    new = _TOKEN.findall(change.new)
    shared = min(len(old), len(new))
    head = next((i for i in range(shared) if old[i] != new[i]), shared)
    # Something is left to be seen of the old: a pure insertion is said with what it stands beside.
    head = min(head, len(old) - 1)
    tail = 0
    while tail < min(len(old) - 1, shared) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    before = data[: change.start].decode() + ("" if change.words else "".join(old[:head]))
    sides = (old[head : len(old) - tail], new[head : len(new) - tail])
    words = change.words.replace("`", "'") or " -> ".join(
        _short("".join(side)) or "nothing" for side in sides
    )
    return before.count("\n") + 1, words


def _short(text: str) -> str:
    # A mark holds it between backquotes.
    text = " ".join(text.replace("`", "'").split())
    return text if len(text) <= _MAX_SIDE else f"{text[: _MAX_SIDE - 1].rstrip()}…"


def _lines(source: str, change: Change) -> tuple[str, str]:
    """Return the lines that a change touches, before and after it, each as one."""
    data = source.encode()
    start = data.rfind(b"\n", 0, change.start) + 1
    end = data.find(b"\n", change.end)
    end = len(data) if end < 0 else end
    new = data[start : change.start] + change.new.encode() + data[change.end : end]
    return _as_one(data[start:end]), _as_one(new)


def _as_one(lines: bytes) -> str:
    return " ".join(line.strip() for line in lines.decode().splitlines())
