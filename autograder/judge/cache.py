"""A cache on disk: examples, questions, answers of solutions and mistakes, the same in every run.

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
import os
import pickle
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from autograder.api.lazy import Tensor, torch
from autograder.assignment import Assignment
from autograder.sandbox.packages import version_of

_T = TypeVar("_T")
_DIGEST = hashlib.sha256().digest_size


class Cache:
    """Values by their keys, a file each.

    Args:
        folder: the folder of the files; with None nothing is kept.
        most_bytes: beyond this size, the files that were used least recently are deleted.
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
        """Return the value of a key; None if there is none, or it is damaged or another key's."""
        if self._folder is None:
            return None
        path = self._path(self._folder, key)
        try:
            data = path.read_bytes()
            digest, written = data[:_DIGEST], data[_DIGEST:]
            if _digest(key, written) != digest:
                return None
            # By when it was used last it is chosen to make room.
            os.utime(path)
            return pickle.loads(written)  # noqa: S301 - the folder is this user's alone
        except Exception:
            return None

    def save(self, key: str, value: object) -> None:
        """Keep a value. If that is not possible, it is computed again the next time."""
        if self._folder is None:
            return
        try:
            written = _pickled(value)
            self._make_room(self._folder)
            # Whole or not at all; several processes may make the same.
            with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
                file.write(_digest(key, written) + written)
            Path(file.name).replace(self._path(self._folder, key))
        except Exception:
            return

    def kept(self, key: str, make: Callable[[], _T]) -> _T:
        """Return the value of a key, made and kept if it is not there."""
        found: _T | None = self.load(key)
        if found is None:
            found = make()
            self.save(key, found)
        return found

    def _path(self, folder: Path, key: str) -> Path:
        return folder / f"{key}.pickle"

    def _make_room(self, folder: Path) -> None:
        """Delete the files that were used least recently; other processes may do the same."""
        with contextlib.suppress(OSError):
            files = [(path.stat(), path) for path in folder.iterdir() if path.is_file()]
            files.sort(key=lambda one: one[0].st_mtime, reverse=True)
            sizes = itertools.accumulate(found.st_size for found, _ in files)
            for total, (_, path) in zip(sizes, files, strict=True):
                if total > self._most_bytes:
                    path.unlink(missing_ok=True)


def _digest(key: str, data: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + data).digest()


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
