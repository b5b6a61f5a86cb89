"""What two submissions share, as numbered stretches of their texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autograder.similar.comparing import Class, Mask, Pair, covered
from autograder.similar.prints import K
from autograder.similar.work import Work

_Numbers = NDArray[np.int64]

# Lines around what is shared that are shown, too.
_AROUND = 3
_LINE = 400


@dataclass(frozen=True)
class Piece:
    """A piece of a line; `block` numbers what it shares with the other side, 0 for nothing.

    `opens` says that the block begins with it.
    """

    text: str
    block: int = 0
    opens: bool = False


@dataclass(frozen=True)
class Line:
    """A line of a file with its number; number 0 stands for `count` lines that are left out."""

    number: int
    pieces: Sequence[Piece] = ()
    count: int = 0


@dataclass(frozen=True)
class Shown:
    """One file of a side: the lines that share something, and some around them."""

    name: str
    lines: Sequence[Line]


def sides(works: Sequence[Work], compared: Class, pair: Pair) -> tuple[list[Shown], list[Shown]]:
    """Return both sides of a pair; a block has the same number on both."""
    first, second = pair.first, pair.second
    begins, other = compared.shared(first, second), compared.shared(second, first)
    blocks = _runs(compared, works[first], first, begins)
    there = _runs(compared, works[second], second, other)
    # On the other side a stretch has the number of the block in which its fingerprint stood first.
    owner: dict[int, int] = {}
    for number, block in _blocks_of(compared.number(first), blocks, begins):
        owner.setdefault(number, block)
    renamed = np.zeros(int(there.max(initial=0)) + 1, dtype=np.int64)
    for number, run in _blocks_of(compared.number(second), there, other):
        if number in owner and not renamed[run]:
            renamed[run] = owner[number]
    return list(_files(works[first], blocks)), list(_files(works[second], renamed[there]))


def _blocks_of(numbers: _Numbers, blocks: _Numbers, begins: Mask) -> Iterator[tuple[int, int]]:
    """Yield the fingerprint of every shared run, and the stretch in which its words lie."""
    for place in np.flatnonzero(begins).tolist():
        # Its first words may be the teacher's, and in no stretch.
        inside = blocks[place : place + K]
        marked = inside[inside > 0]
        if len(marked):
            yield int(numbers[place]), int(marked[0])


def _runs(compared: Class, work: Work, place: int, begins: Mask) -> _Numbers:
    """Number the stretches of shared words of one side from 1 on; 0 for the rest: (n,)."""
    same = covered(begins) & ~compared.given(place)
    new = same.copy()
    new[1:] &= ~same[:-1]
    for text in work.texts:
        if text.count:
            # A stretch ends where its file does.
            new[text.first] = same[text.first]
    found: _Numbers = np.where(same, np.cumsum(new), 0)
    return found


def _files(work: Work, blocks: _Numbers) -> Iterator[Shown]:
    for text in work.texts:
        here = slice(text.first, text.first + text.count)
        if blocks[here].any():
            spans = _spans(
                blocks[here].tolist(), work.starts[here].tolist(), work.ends[here].tolist()
            )
            yield Shown(text.name, list(_lines(text.text, spans)))


def _spans(
    blocks: Sequence[int], starts: Sequence[int], ends: Sequence[int]
) -> list[tuple[int, int, int]]:
    """Return where in a text each block begins and ends."""
    spans: list[tuple[int, int, int]] = []
    before = 0
    for block, start, end in zip(blocks, starts, ends, strict=True):
        if block and block == before:
            spans[-1] = (spans[-1][0], end, block)
        elif block:
            spans.append((start, end, block))
        before = block
    return spans


def _lines(text: str, spans: Sequence[tuple[int, int, int]]) -> Iterator[Line]:
    lines = text.split("\n")
    begins = np.cumsum([0, *(len(line) + 1 for line in lines)])
    wanted: set[int] = set()
    by_line: dict[int, list[tuple[int, int, int]]] = {}
    for start, end, block in spans:
        top = int(np.searchsorted(begins, start, side="right")) - 1
        bottom = int(np.searchsorted(begins, max(start, end - 1), side="right")) - 1
        for number in range(top, bottom + 1):
            by_line.setdefault(number, []).append((start, end, block))
        wanted.update(range(max(0, top - _AROUND), min(len(lines), bottom + _AROUND + 1)))
    last = -1
    for number in sorted(wanted):
        if number > last + 1:
            yield Line(0, count=number - last - 1)
        pieces = _pieces(lines[number], int(begins[number]), by_line.get(number, []))
        yield Line(number + 1, list(pieces))
        last = number
    if last < len(lines) - 1:
        yield Line(0, count=len(lines) - 1 - last)


def _pieces(line: str, offset: int, spans: Sequence[tuple[int, int, int]]) -> Iterator[Piece]:
    odd = "\N{REPLACEMENT CHARACTER}"
    shown = "".join(c if c.isprintable() or c == "\t" else odd for c in line[:_LINE])
    place = 0
    for start, end, block in spans:
        opens = start >= offset
        start, end = max(place, start - offset), min(len(shown), end - offset)
        if start >= end:
            continue
        # White space before the first word of a line is marked by nothing.
        lead = len(shown[start:end]) - len(shown[start:end].lstrip())
        start += lead
        if start > place:
            yield Piece(shown[place:start])
        yield Piece(shown[start:end], block, opens)
        place = end
    rest = shown[place:] + ("…" if len(line) > _LINE else "")
    if rest:
        yield Piece(rest)
