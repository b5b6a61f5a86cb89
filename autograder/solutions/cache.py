"""What the solutions drew, asked and answered, kept on disk: it is the same in every run.

Everything is kept under a hash of all that it follows from, so that nothing that is kept can be
out of date. The folder lies outside every course, is its owner's alone, and can be deleted at any
time. No student's code can read it: the sandbox does not open it, and its probe tries to.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import os
import pickle
import platform
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import torch
from torch import Tensor

from autograder.assignment import Assignment
from autograder.exchange.values import DTYPE_NAMES, DTYPES
from autograder.sandbox.packages import version_of

# Of the answers of one component's mistakes, which pairs of mistakes make many.
_MOST_ANSWERS = 32 * 1024 * 1024
_DIGEST = hashlib.sha256().digest_size


class Cache:
    """Values by their keys, a file each.

    Args:
        folder: where they are kept; with None nothing is.
        most_bytes: of what was used least recently, the rest goes.
    """

    def __init__(self, folder: Path | None, most_bytes: int = 512 * 1024 * 1024) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        # What decides a mark, by the assignment's folder: names and hashes.
        self._read: dict[Path, list[tuple[str, bytes]]] = {}

    def key_of(self, assignment: Assignment, component: str, what: str) -> str:
        """Return the key of something that follows from one component of an assignment.

        That is all that decides a mark, but the tests and misconceptions of other components. An
        assignment's files are read once.
        """
        if assignment.secret not in self._read:
            self._read[assignment.secret] = [
                (name, hashlib.sha256(data).digest()) for name, data in assignment.deciding()
            ]
        digest = hashlib.sha256(f"{what}\0{component}\0{_machine(assignment.packages)}".encode())
        others = {name for name in assignment.totals if name != component}
        for name, found in self._read[assignment.secret]:
            place, _, file = name.partition("/")
            stem = file.removesuffix(".py")
            if place in ("misconceptions", "tests") and stem.removeprefix("test_") in others:
                continue
            digest.update(f"{name}\0".encode() + found)
        return digest.hexdigest()

    def load(self, key: str) -> Any | None:
        """Return what is kept under a key, or None if it is not, or is damaged."""
        if self._folder is None:
            return None
        path = self._folder / f"{key}.pickle"
        try:
            data = path.read_bytes()
            if hashlib.sha256(data[_DIGEST:]).digest() != data[:_DIGEST]:
                return None
            found = pickle.loads(data[_DIGEST:])  # noqa: S301 - the folder is this user's alone
            os.utime(path)
        except Exception:
            # Whatever is wrong with it, it can be made anew.
            return None
        return found

    def save(self, key: str, value: object) -> None:
        """Keep a value; where that is not possible, it is made anew the next time."""
        if self._folder is None:
            return
        with contextlib.suppress(Exception):
            data = _pickled(value)
            self._make_room(len(data))
            descriptor, name = tempfile.mkstemp(dir=self._folder, suffix=".new")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(hashlib.sha256(data).digest() + data)
                Path(name).replace(self._folder / f"{key}.pickle")
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise

    def answers(self, key: str) -> AnswerStore:
        """Return the store of a key."""
        if self._folder is None:
            return AnswerStore(None)
        path = self._folder / f"{key}.sqlite"
        with contextlib.suppress(OSError):
            path.touch(mode=0o600)
        return AnswerStore(path)

    def _make_room(self, size: int) -> None:
        assert self._folder is not None
        files = [(path.stat(), path) for path in self._folder.iterdir() if path.is_file()]
        total = size + sum(found.st_size for found, _ in files)
        for found, path in sorted(files, key=lambda pair: pair[0].st_mtime):
            if total <= self._most_bytes:
                break
            path.unlink(missing_ok=True)
            total -= found.st_size


class Kept(Sequence[Any]):
    """Values as they are written, each read when it is first asked for.

    Most answers of mistakes are set aside for their first reply.
    """

    def __init__(self, written: Sequence[bytes]) -> None:
        self.written = tuple(written)
        self._read: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self.written)

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            places = range(len(self))[index]
            # Mostly it is all of them.
            return self if places == range(len(self)) else [self[place] for place in places]
        place = range(len(self.written))[index]
        if place not in self._read:
            self._read[place] = pickle.loads(self.written[place])  # noqa: S301 - see Cache.load
        return self._read[place]


class AnswerStore:
    """What mistakes answer, one row an example: a diagnosis looks at few of very many.

    What is added is written by `flush` alone, in one go; several processes may do so.

    Args:
        path: the database; with None nothing is kept.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._added: dict[str, Kept] = {}
        self._opened: sqlite3.Connection | None = None

    def get(self, name: str) -> Kept | None:
        """Return the values that are kept under a name, or None."""
        if self._path is None:
            return None
        try:
            query = "SELECT value FROM answers WHERE name = ?"
            row = self._database(self._path).execute(query, (name,)).fetchone()
            if row is None:
                return None
            digest, data = row[0][:_DIGEST], row[0][_DIGEST:]
            if hashlib.sha256(data).digest() != digest:
                raise ValueError("it is damaged")
            return Kept(pickle.loads(data))  # noqa: S301 - see Cache.load
        except Exception:
            self._give_up()
            return None

    def put(self, name: str, values: Sequence[Any]) -> Sequence[Any]:
        """Keep values, once they are flushed, and return them as `get` will.

        Those that cannot be written down are returned as they are.
        """
        try:
            kept = Kept([_pickled(value) for value in values])
        except Exception:
            return values
        if self._path is not None:
            self._added[name] = kept
        return kept

    def flush(self) -> None:
        """Write what was added; where that is not possible, it is computed anew the next time."""
        if self._path is None or not self._added:
            return
        try:
            database = self._database(self._path)
            if self._path.stat().st_size < _MOST_ANSWERS:
                rows = [(name, _row(values)) for name, values in self._added.items()]
                with database:
                    database.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", rows)
        except Exception:
            self._give_up()
        self._added = {}

    def close(self) -> None:
        """Close the database; a process that forks must have none open."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _database(self, path: Path) -> sqlite3.Connection:
        if self._opened is None:
            self._opened = sqlite3.connect(path, timeout=10)
            # It can be made anew: that it is whole after a power cut is worth no waiting.
            self._opened.execute("PRAGMA synchronous = OFF")
            self._opened.execute(
                "CREATE TABLE IF NOT EXISTS answers (name TEXT PRIMARY KEY, value BLOB)"
            )
        return self._opened

    def _give_up(self) -> None:
        """Do without: it is damaged, or cannot be written."""
        self._path = None
        with contextlib.suppress(Exception):
            self.close()


def _row(values: Kept) -> bytes:
    data = pickle.dumps(values.written, protocol=5)
    return hashlib.sha256(data).digest() + data


class _Pickler(pickle.Pickler):
    """Writes a tensor as its bytes: torch's own way costs a file's format for each."""

    def reducer_override(self, obj: object) -> Any:
        """Return how a plain tensor is made again; of anything else its own way."""
        if type(obj) is not Tensor or obj.dtype not in DTYPE_NAMES or obj.requires_grad:
            return NotImplemented
        dtype, shape = DTYPE_NAMES[obj.dtype], tuple(obj.shape)
        # How it lies in memory is part of a question, too; mostly that is row after row.
        stride = obj.stride()
        strides = () if stride == torch.empty(shape, device="meta").stride() else stride
        if obj.device.type == "meta":
            return _tensor, (None, dtype, shape, strides)
        if obj.device.type != "cpu" or obj.layout != torch.strided:
            return NotImplemented
        plain = obj.resolve_conj().resolve_neg()
        values = plain.as_strided(_once(shape, stride), plain.stride()).contiguous().reshape(-1)
        data = values.view(torch.uint8).numpy().tobytes() if values.numel() else b""
        return _tensor, (data, dtype, shape, strides)


def _once(shape: Sequence[int], strides: Sequence[int]) -> list[int]:
    """Return a shape without the repetition of expanded dimensions."""
    return [size if step else min(size, 1) for size, step in zip(shape, strides, strict=True)]


def _pickled(value: object) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=5).dump(value)
    return buffer.getvalue()


def _tensor(
    data: bytes | None, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...]
) -> Tensor:
    """Make a tensor of its bytes; None for one without values."""
    kind, device = DTYPES[dtype], "meta" if data is None else "cpu"
    if strides:
        once = _once(shape, strides)
        made = torch.empty_strided(once, strides, dtype=kind, device=device)
        if data:
            made.copy_(torch.frombuffer(bytearray(data), dtype=kind).view(once))
        return made.expand(shape)
    if not data:
        return torch.empty(shape, dtype=kind, device=device)
    return torch.frombuffer(bytearray(data), dtype=kind).reshape(shape)


@functools.cache
def _machine(packages: tuple[str, ...]) -> str:
    """Say what else an answer may hang on: versions, and what this processor can do."""
    names = ("torch", "numpy", "pytest", "hypothesis", *packages)
    found = [platform.python_version(), platform.machine(), *map(version_of, names)]
    with contextlib.suppress(OSError):
        info = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        found += [line for line in info.splitlines() if line.startswith("flags")][:1]
    return "\n".join(found)
