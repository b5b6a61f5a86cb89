"""Which shared libraries a file of machine code asks for. Judge's side."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

_MAGIC = b"\x7fELF\x02\x01"  # of 64 bits, the low byte first
_LOAD, _DYNAMIC = 1, 2
_NEEDED, _STRINGS = 1, 5
# Far more entries than any library has.
_MOST = 1 << 16


def needed_by(file: Path) -> list[str]:
    """Return the names of the libraries that a file is linked to; none if it is no library."""
    try:
        with open(file, "rb") as stream:

            def at(place: int, layout: str, count: int) -> Iterator[tuple[int, ...]]:
                stream.seek(place)
                size = struct.calcsize(layout)
                data = stream.read(size * count)
                return struct.iter_unpack(layout, data[: len(data) // size * size])

            head = stream.read(64)
            if len(head) < 64 or not head.startswith(_MAGIC):
                return []
            (place,) = struct.unpack_from("<Q", head, 32)
            _, count = struct.unpack_from("<HH", head, 54)
            parts = list(at(place, "<IIQQQQQQ", count))
            dynamic = [
                entry
                for kind, _, where, _, _, size, *_ in parts
                if kind == _DYNAMIC
                for entry in at(where, "<qQ", min(size // 16, _MOST))
            ]
            names = [value for tag, value in dynamic if tag == _NEEDED]
            strings = next((value for tag, value in dynamic if tag == _STRINGS), 0)
            # Where that is in the file, which says where it is in memory.
            for kind, _, where, address, _, size, *_ in parts:
                if kind == _LOAD and address <= strings < address + size:
                    found = []
                    for name in names:
                        stream.seek(where + strings - address + name)
                        found.append(stream.read(256).partition(b"\0")[0].decode())
                    return found
    except (OSError, OverflowError, UnicodeDecodeError, struct.error):
        pass
    return []


def closure(files: Iterable[Path], known: dict[str, Path]) -> list[Path]:
    """Return what of the `known` libraries, by name, these files need, and what those need."""
    found: dict[str, Path] = {}
    waiting = list(files)
    while waiting:
        for name in needed_by(waiting.pop()):
            if name in known and name not in found:
                found[name] = known[name]
                waiting.append(known[name])
    return list(found.values())
