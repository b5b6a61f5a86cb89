"""Intake: from an entry of a batch to the Python files of one submission. Nothing is unpacked."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from autograder.errors import UsageError

ARCHIVES = (".zip", ".tar.gz")

MAX_FILES = 200
MAX_FILE_BYTES = 1_000_000
MAX_BYTES = 8_000_000
MAX_ENTRIES = 10_000
MAX_UNPACKED = 256_000_000
_MAX_DEPTH = 6
_MAX_NAME = 180
# A file name has 255 bytes, and a result file is called <id>.json.
_MAX_ID = 240


# What the standard library raises over archives that are broken, by accident or design.
_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    ValueError,
    LookupError,
    OverflowError,
)


class Rejected(Exception):
    """A submission that cannot be taken in; the message says why and what to hand in instead."""


@dataclass(frozen=True)
class Entry:
    """One entry of a batch: the student's id and where the submission is.

    `exempt` names files that may call forbidden operations, as stand-ins do; no student's may.
    """

    id: str
    path: Path
    exempt: tuple[str, ...] = ()


def discover(batch: Path, assignment: str) -> list[Entry]:
    """Return the entries of a batch, sorted by id.

    nbgrader's `submitted/<student>/<assignment>/` is read as it is.

    Raises:
        UsageError: `batch` is no folder, is empty, or two entries have one id.
    """
    if not batch.is_dir():
        what = "is a file" if batch.exists() else "does not exist"
        raise UsageError(f"{batch} {what}: give the folder that holds one submission an entry")
    entries: dict[str, Entry] = {}
    for path in sorted(batch.iterdir()):
        if path.name.startswith((".", "__MACOSX")):
            continue
        entry = Entry(_id_of(path), path)
        if len(entry.id.encode()) > _MAX_ID:
            raise UsageError(
                f"the name of {entry.id[:40]}… in {batch} is longer than {_MAX_ID} bytes, which "
                "leaves no room for the name of its result: shorten it"
            )
        if entry.id in entries:
            other = entries[entry.id].path.name
            raise UsageError(
                f"{other} and {path.name} in {batch} are both of {entry.id!r}: keep one of them"
            )
        inner = path / assignment
        if inner.is_dir() and not any(path.glob("*.py")):
            entry = Entry(entry.id, inner)
        entries[entry.id] = entry
    if not entries:
        raise UsageError(f"{batch} is empty: give the folder that holds one submission an entry")
    return [entries[key] for key in sorted(entries)]


def take_in(path: Path) -> dict[str, bytes]:
    """Return a submission's Python files by their relative POSIX path.

    Raises:
        Rejected: it is no folder or readable archive, leaves its folder, or exceeds a cap.
    """
    try:
        if path.is_dir():
            found = _collect(_from_folder(path))
        elif path.name.endswith(".zip"):
            found = _unwrapped(_collect(_from_zip(path)))
        elif path.name.endswith(".tar.gz"):
            found = _unwrapped(_collect(_from_tar(path)))
        else:
            raise Rejected(f"{path.name} is no folder, .zip or .tar.gz")
    except _DAMAGE as error:
        raise Rejected(f"{path.name} is a damaged archive; hand it in again") from error
    except OSError as error:
        # zipfile seeks to where a damaged header sends it; any other errno is the machine's.
        if error.errno not in (None, errno.EINVAL):
            raise
        raise Rejected(f"{path.name} is a damaged archive; hand it in again") from error
    except (NotImplementedError, RuntimeError) as error:
        raise Rejected(
            f"{path.name} is packed in a way that cannot be read: use plain zip"
        ) from error
    return {name: found[name] for name in sorted(found)}


def digest(files: dict[str, bytes]) -> str:
    """Return a hash of a submission's files."""
    total = hashlib.sha256()
    for name, data in files.items():
        total.update(f"{len(name)} {len(data)} {name}".encode(errors="surrogateescape"))
        total.update(data)
    return total.hexdigest()


def _id_of(path: Path) -> str:
    # A name that is no UTF-8 keeps its odd bytes as escapes, which every result file can hold.
    name = os.fsencode(path.name).decode(errors="backslashreplace")
    if not path.is_dir():
        for suffix in ARCHIVES:
            if name.endswith(suffix):
                return name.removesuffix(suffix)
    return name


def _collect(files: Iterator[tuple[str, bytes]]) -> dict[str, bytes]:
    """Gather files up to the caps, which hold while they are read."""
    found: dict[str, bytes] = {}
    size = 0
    for name, data in files:
        found[name] = data
        size += len(data)
        if len(found) > MAX_FILES:
            raise Rejected(f"there are too many Python files; at most {MAX_FILES} are taken in")
        if size > MAX_BYTES:
            raise Rejected(f"the Python files are too large; at most {MAX_BYTES} bytes in all")
    return found


def _from_folder(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Read a folder without following a link, which could lead to the reference."""
    entries = 0
    for here, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if _counts(name))
        for name in sorted(names):
            entries += 1
            if entries > MAX_ENTRIES:
                raise Rejected(f"more than {MAX_ENTRIES} files; hand in the component files only")
            path = Path(here, name)
            relative = path.relative_to(folder).as_posix()
            if not _wanted(relative):
                continue
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError as error:
                raise Rejected(f"{relative} cannot be read (a link?); hand in the file") from error
            with os.fdopen(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise Rejected(f"{relative} is no ordinary file; hand in the file")
                yield relative, _read(file, relative)


def _from_zip(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if len(entries) > MAX_ENTRIES:
            raise Rejected(f"{path.name} has {len(entries)} entries; at most {MAX_ENTRIES}")
        for entry in entries:
            name = _inside(entry.filename)
            if entry.is_dir() or not _wanted(name):
                continue
            if stat.S_ISLNK(entry.external_attr >> 16):
                raise Rejected(f"{name} in {path.name} is a link; hand in the file")
            if entry.flag_bits & 1:
                raise Rejected(f"{path.name} is encrypted; hand in an open archive")
            with archive.open(entry) as file:
                yield name, _read(file, name)


def _from_tar(path: Path) -> Iterator[tuple[str, bytes]]:
    with gzip.open(path) as plain, tarfile.open(fileobj=_Capped(plain), mode="r|") as archive:
        for number, entry in enumerate(archive):
            if number > MAX_ENTRIES:
                raise Rejected(f"{path.name} has more than {MAX_ENTRIES} entries")
            name = _inside(entry.name)
            if entry.isdir() or not _wanted(name):
                continue
            if not entry.isreg():
                raise Rejected(f"{name} in {path.name} is a link or device; hand in the file")
            file = archive.extractfile(entry)
            if file is None:
                raise Rejected(f"{name} in {path.name} cannot be read")
            yield name, _read(file, name)


class _Capped(io.RawIOBase):
    """Stops a bomb: reading past an entry of a tarball unpacks it, so the total is capped."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file
        self._left = MAX_UNPACKED

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(min(size, 1 << 20) if size >= 0 else 1 << 20)
        self._left -= len(data)
        if self._left < 0:
            raise Rejected(f"the archive unpacks to more than {MAX_UNPACKED} bytes")
        return data


def _counts(part: str) -> bool:
    return not part.startswith(".") and part not in ("__MACOSX", "__pycache__")


def _wanted(name: str) -> bool:
    parts = PurePosixPath(name).parts
    if not name.endswith(".py") or not all(map(_counts, parts)):
        return False
    # Past these a name is no module that a component could import.
    return len(parts) <= _MAX_DEPTH and len(name.encode(errors="surrogateescape")) <= _MAX_NAME


def _inside(name: str) -> str:
    """Return an archive entry's path, refusing one that leaves the archive."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in name or "\0" in name:
        raise Rejected("an entry of the archive leads out of it; pack the component files alone")
    return path.as_posix()


def _read(file: IO[bytes], name: str) -> bytes:
    data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise Rejected(f"{name} is larger than {MAX_FILE_BYTES} bytes")
    return data


def _unwrapped(files: dict[str, bytes]) -> dict[str, bytes]:
    """Take off the one top folder that an archive may wrap everything in."""
    tops = {name.partition("/")[0] for name in files}
    if len(tops) == 1 and all("/" in name for name in files):
        return _unwrapped({name.partition("/")[2]: data for name, data in files.items()})
    return files
