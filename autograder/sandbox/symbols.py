"""The functions of a shared library, by what its own symbol tables say. ELF, 64 bits."""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = np.dtype(
    [
        *(("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2")),
        *(("value", "<u8"), ("size", "<u8")),
    ]
)
_SYMTAB, _DYNSYM, _FUNCTION = 2, 11, 2


@dataclass(frozen=True)
class Function:
    """A function's mangled name, its place from where the library begins, and its bytes."""

    name: bytes
    offset: int
    size: int


def functions(library: Path, starts: Sequence[bytes], words: Sequence[bytes]) -> list[Function]:
    """Return the functions whose mangled names hold one of some words.

    Those that the library keeps to itself are among them, unless it was stripped of their names.

    Args:
        library: the file.
        starts: how a name may begin, of which the first eight bytes count.
        words: of which a name holds one.

    Raises:
        OSError, ValueError: the file cannot be read, or is no such library.
    """
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        head = _HEADER.unpack_from(data)
        if head[0][:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{library} is no ELF library of 64 bits")
        holds = re.compile(b"|".join(map(re.escape, words)))
        begin, size, count = head[6], head[11], head[12]
        sections = [_SECTION.unpack_from(data, begin + size * n) for n in range(count)]
        found: dict[int, Function] = {}
        for section in sections:
            if section[1] in (_SYMTAB, _DYNSYM):
                symbols = data[section[4] : section[4] + section[5]]
                names = sections[section[6]]
                text = data[names[4] : names[4] + names[5]]
                for function in _in_table(symbols, text, starts, holds):
                    found.setdefault(function.offset, function)
        return sorted(found.values(), key=lambda function: function.offset)


def _in_table(
    table: bytes, text: bytes, starts: Sequence[bytes], holds: re.Pattern[bytes]
) -> Iterator[Function]:
    symbols = np.frombuffer(table, dtype=_SYMBOL)
    symbols = symbols[((symbols["info"] & 15) == _FUNCTION) & (symbols["section"] != 0)]
    # Half a million names: looked at one by one they would take seconds.
    padded = np.frombuffer(text + bytes(8), dtype=np.uint8)
    first = padded[symbols["name"].astype(np.int64)[:, None] + np.arange(8)]
    wanted = np.array([int.from_bytes(start[:8], "little") for start in starts], dtype=np.uint64)
    chosen = symbols[np.isin(first.view(np.uint64)[:, 0], wanted)]
    places = zip(*(chosen[field].tolist() for field in ("name", "value", "size")), strict=True)
    for begin, value, size in places:
        end = text.index(b"\0", begin)
        if holds.search(text, begin, end):
            yield Function(text[begin:end], value, size)
