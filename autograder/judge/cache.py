"""A cache on disk: the examples, questions and answers of the solutions, the same in every run.

The key of a value is a hash of everything that the value follows from, so that no value is ever
out of date. The folder lies outside every course, belongs to its owner alone, and can be deleted at
any time. Student code cannot read it: the sandbox does not open it, and its probe tries to.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import itertools
import pickle
import platform
import sqlite3
from pathlib import Path
from typing import Any

from autograder.api.lazy import Tensor, torch
from autograder.assignment import Assignment
from autograder.sandbox.packages import version_of

# Of the answers of one component's mistakes, which pairs of mistakes make many.
_MOST_ANSWERS = 32 * 1024 * 1024
_DIGEST = hashlib.sha256().digest_size


class Cache:
    """Values by their keys, a database each.

    Args:
        folder: the folder of the databases; with None nothing is kept.
        most_bytes: beyond this size, the databases that were used least recently are deleted.
    """

    def __init__(self, folder: Path | None, most_bytes: int = 512 * 1024 * 1024) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        # What decides a mark, by the assignment's folder: names and hashes.
        self._read: dict[Path, list[tuple[str, bytes]]] = {}

    def key_of(self, assignment: Assignment, component: str, what: str) -> str:
        """Return the key of a value that follows from one component of an assignment.

        The key depends on everything that decides a mark, except the tests and misconceptions of
        other components. An assignment's files are read once.
        """
        if assignment.secret not in self._read:
            self._read[assignment.secret] = [
                (name, hashlib.sha256(data).digest()) for name, data in assignment.deciding()
            ]
        digest = hashlib.sha256(f"{what}\0{component}\0{_machine(assignment.packages)}".encode())
        for name, found in self._read[assignment.secret]:
            if assignment.concerns(name, component):
                digest.update(f"{name}\0".encode() + found)
        return digest.hexdigest()

    def load(self, key: str) -> Any | None:
        """Return the value of a key; None if there is none, or it is damaged."""
        store = self.answers(key)
        found = store.get("")
        store.close()
        return None if found is None else found[0]

    def save(self, key: str, value: object) -> None:
        """Keep a value. If that is not possible, it is computed again the next time."""
        if self._folder is None:
            return
        self._make_room(self._folder)
        store = self.answers(key)
        store.put("", [value])
        store.flush()
        store.close()

    def answers(self, key: str) -> AnswerStore:
        """Return the store of a key."""
        return AnswerStore(None if self._folder is None else self._folder / f"{key}.sqlite")

    def _make_room(self, folder: Path) -> None:
        """Delete the databases that were used least recently; other processes may do the same."""
        with contextlib.suppress(OSError):
            files = [(path.stat(), path) for path in folder.iterdir() if path.is_file()]
            files.sort(key=lambda one: one[0].st_mtime, reverse=True)
            sizes = itertools.accumulate(found.st_size for found, _ in files)
            for total, (_, path) in zip(sizes, files, strict=True):
                if total > self._most_bytes:
                    path.unlink(missing_ok=True)


class AnswerStore:
    """The answers of wrong variants, one row per example: a diagnosis reads few of very many.

    Most mistakes show in few examples: many answers are equal: equal values are read once, and
    are one object. Only `flush` writes, everything at once; several processes may do so.

    Args:
        path: the database; with None nothing is kept.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._added: dict[str, bytes] = {}
        self._read: dict[bytes, list[Any]] = {}
        self._opened: sqlite3.Connection | None = None

    def get(self, name: str) -> list[Any] | None:
        """Return the values that are kept under a name, or None."""
        if self._path is None or not self._path.is_file():
            return None
        try:
            query = "SELECT value FROM answers WHERE name = ?"
            row = self._database(self._path).execute(query, (name,)).fetchone()
            if row is None:
                return None
            digest, data = row[0][:_DIGEST], row[0][_DIGEST:]
            if hashlib.sha256(data).digest() != digest:
                raise ValueError("it is damaged")
            return self._values(data)
        except Exception as error:
            self._give_up(error)
            return None

    def put(self, name: str, values: list[Any]) -> list[Any]:
        """Keep values, once they are flushed, and return them as `get` will.

        Those that cannot be written down are returned as they are.
        """
        try:
            data = _pickled(values)
        except Exception:
            return values
        if self._path is not None:
            self._added[name] = data
        return self._values(data)

    def _values(self, data: bytes) -> list[Any]:
        if data not in self._read:
            self._read[data] = pickle.loads(data)  # noqa: S301 - the folder is this user's alone
        return self._read[data]

    def flush(self) -> None:
        """Write the added answers; otherwise they are computed again the next time."""
        if self._path is None or not self._added:
            return
        try:
            database = self._database(self._path)
            if self._path.stat().st_size < _MOST_ANSWERS:
                rows = [
                    (name, hashlib.sha256(data).digest() + data)
                    for name, data in self._added.items()
                ]
                with database:
                    database.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", rows)
        except Exception as error:
            self._give_up(error)
        self._added = {}

    def close(self) -> None:
        """Close the database; a process that forks must have none open."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _database(self, path: Path) -> sqlite3.Connection:
        if self._opened is None:
            # By when it was used last it is chosen to make room.
            path.touch(mode=0o600)
            self._opened = sqlite3.connect(path, timeout=10)
            # It can be made again: that it is whole after a power cut is worth no waiting.
            self._opened.execute("PRAGMA synchronous = OFF")
            self._opened.execute(
                "CREATE TABLE IF NOT EXISTS answers (name TEXT PRIMARY KEY, value BLOB)"
            )
        return self._opened

    def _give_up(self, error: Exception) -> None:
        """Go on without the database, which cannot be read or written; a damaged one is deleted."""
        path, self._path = self._path, None
        with contextlib.suppress(Exception):
            self.close()
            if path is not None and not isinstance(error, sqlite3.OperationalError | OSError):
                path.unlink(missing_ok=True)


class _Pickler(pickle.Pickler):
    """Writes a tensor as its bytes: torch's own way costs a file's format for each."""

    def reducer_override(self, obj: object) -> Any:
        """Return how a plain tensor is made again; of anything else its own way."""
        if type(obj) is not torch.Tensor or obj.layout != torch.strided or obj.requires_grad:
            return NotImplemented
        if obj.device.type not in ("cpu", "meta"):
            return NotImplemented
        plain = obj.resolve_conj().resolve_neg()
        # How it lies in memory is part of a question, too: the bytes are those from its first
        # value to its last.
        form = plain.dtype, tuple(plain.shape), plain.stride(), plain.device.type
        if plain.device.type == "meta" or not plain.numel():
            return _tensor, (b"", *form)
        steps = zip(plain.shape, plain.stride(), strict=True)
        span = 1 + sum((size - 1) * step for size, step in steps)
        return _tensor, (plain.as_strided((span,), (1,)).view(torch.uint8).numpy().tobytes(), *form)


def _pickled(value: object) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=5).dump(value)
    return buffer.getvalue()


def _tensor(
    data: bytes, dtype: torch.dtype, shape: tuple[int, ...], strides: tuple[int, ...], device: str
) -> Tensor:
    """Make a tensor of its bytes; of none, if it has no values."""
    if not data:
        return torch.empty_strided(shape, strides, dtype=dtype, device=device)
    return torch.frombuffer(bytearray(data), dtype=dtype).as_strided(shape, strides)


@functools.cache
def _machine(packages: tuple[str, ...]) -> str:
    """Say what else an answer may depend on: versions, and what this processor can do."""
    names = ("torch", "numpy", "pytest", "hypothesis", *packages)
    found = [platform.python_version(), platform.machine(), *map(version_of, names)]
    with contextlib.suppress(OSError):
        info = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        found += [line for line in info.splitlines() if line.startswith("flags")][:1]
    return "\n".join(found)
