"""What two submissions share, as numbered stretches of their texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autograder.similar.comparing import Class, Pair
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
    one = np.zeros(len(works[first].prints), dtype=np.int64)
    other = np.zeros(len(works[second].prints), dtype=np.int64)
    for block, here, there in _aligned(compared, pair):
        for blocks, place in ((one, here), (other, there)):
            inside = blocks[place : place + K]
            inside[inside == 0] = block
    for blocks, side in ((one, first), (other, second)):
        blocks[compared.given(side)] = 0
    return list(_files(works[first], one)), list(_files(works[second], other))


def _aligned(compared: Class, pair: Pair) -> Iterator[tuple[int, int, int]]:
    """Yield where a shared run begins on both sides, after the number of its block.

    A block goes on as long as both sides do. A run that one side has more often than the other
    stands beside one that it is the same as.
    """
    sides = [
        (compared.number(one), np.flatnonzero(compared.shared(one, two)).tolist())
        for one, two in ((pair.first, pair.second), (pair.second, pair.first))
    ]
    (numbers, begins), (others, there) = sides
    places: dict[int, list[int]] = {}
    for place in there:
        places.setdefault(int(others[place]), []).append(place)
    block = 0
    before = (-2, -2)
    first: dict[int, tuple[int, int]] = {}
    used: set[int] = set()
    for place in begins:
        number = int(numbers[place])
        options = places[number]
        follows = before[1] + 1
        if place != before[0] + 1 or follows not in options:
            block += 1
            follows = next((option for option in options if option not in used), options[0])
        used.add(follows)
        before = (place, follows)
        first.setdefault(number, (block, place))
        yield block, place, follows
    for place in there:
        if place not in used:
            yield *first[int(others[place])], place


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
