"""Intake: from an entry to the Python files of one submission. Nothing is unpacked."""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import io
import lzma
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeVar, cast

from autograder.archives import is_archive
from autograder.judge.folders import NotOrdinary, TooMany, Wanted, files_in
from autograder.text import clean

MAX_FILES = 200
MAX_FILE_BYTES = 1_000_000
MAX_BYTES = 8_000_000
MAX_ENTRIES = 10_000
MAX_UNPACKED = 256_000_000
# What one entry of a tarball may need beside its data, and a zip in one piece: its list of entries.
_MAX_HEADER = 256_000
_MAX_PIECE = 4_000_000
# What stands before an entry's data in a zip, at least.
_MIN_HEADER = 30
_DIGITS = re.compile(rb"\d{1000}")
_MAX_DEPTH = 6
# Where tools put packages that they install: nobody's own work, and often more than all of it.
INSTALLED = frozenset({"site-packages", "dist-packages", "node_modules"})
# Of Python, in which what components import is looked for.
MAX_LOOKED_THROUGH = 4 * MAX_BYTES
_MAX_NAME = 180


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


class Unfit(str):
    """Why a file cannot be taken in; it continues the name of the file."""


Content = bytes | Unfit
_Content = TypeVar("_Content", bytes, bytes | Unfit)


class Rejected(Exception):
    """A submission that cannot be taken in; the message says why and what to hand in instead."""

    def __init__(self, message: str) -> None:
        # Names in it need be no UTF-8, which every result file can hold, and may be hostile.
        super().__init__(clean(message.encode(errors="backslashreplace").decode()))


def take_in(path: Path) -> dict[str, bytes]:
    """Return a submission's Python files by their relative POSIX path.

    Raises:
        Rejected: it is no folder or readable archive, leaves its folder, or exceeds a cap.
    """
    found = _collect(_files_of(path, wanted))
    return apart(found if path.is_dir() else _unwrapped(found))


def look_through(path: Path) -> tuple[dict[str, Content], list[str]]:
    """Return a submission's Python files, or why one cannot be taken in.

    Returns:
        The files by their relative POSIX path, and the folders of installed packages, in which
        nothing was looked at.

    Raises:
        Rejected: it is no folder or readable archive, or leaves its folder.
    """
    passed_over = PassedOver()
    found = _gather_all(_files_of(path, passed_over.wanted))
    return found if path.is_dir() else _unwrapped(found), sorted(passed_over.folders)


def look_through_archive(data: bytes, name: str) -> dict[str, Content]:
    """Return an archive's Python files; it is called `name`. Errors as of `look_through`."""
    with _rejecting(name):
        return _unwrapped(_gather_all(from_archive(io.BytesIO(data), name, wanted)))


class PassedOver:
    """Tells which files are wanted, and notes the folders of installed packages.

    Attributes:
        folders: their paths.
    """

    def __init__(self) -> None:
        self.folders: set[str] = set()

    def wanted(self, name: str) -> bool:
        """Return whether an entry is a Python file that is taken in, by its path."""
        parts = PurePosixPath(name).parts
        place = next((n for n, part in enumerate(parts, 1) if part in INSTALLED), None)
        if place is not None:
            self.folders.add("/".join(parts[:place]))
        return wanted(name)


def _files_of(path: Path, file_wanted: Callable[[str], bool]) -> Iterator[tuple[str, Content]]:
    """Yield the wanted files of a folder or an archive."""
    if path.is_symlink():
        # It could lead to the reference, or to a neighbour's work.
        raise Rejected(f"{path.name} is a link; hand in the folder or archive itself")
    with _rejecting(path.name):
        if path.is_dir():
            yield from _from_folder(path, file_wanted)
        elif not stat.S_ISREG(path.stat().st_mode):
            # Opening a named pipe would wait for ever.
            raise Rejected(f"{path.name} is no ordinary file; hand in the file")
        elif is_archive(path.name):
            with path.open("rb", buffering=0) as file:
                yield from from_archive(file, path.name, file_wanted)
        else:
            raise Rejected(f"{path.name} is no folder, .zip or .tar.gz")


def _gather_all(files: Iterator[tuple[str, Content]]) -> dict[str, Content]:
    """Gather files up to what is looked through."""
    found: dict[str, Content] = {}
    left = MAX_LOOKED_THROUGH
    for name, content in files:
        found[name] = content
        left -= len(content)
        if left < 0:
            raise Rejected(
                f"there are more than {MAX_LOOKED_THROUGH} bytes of Python; hand in the component "
                "files alone"
            )
    return found


def others(path: Path, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """Return files of a submission other than Python's, as far as they can be read.

    `wanted` is asked about every file, by its path in the folder or archive.
    """

    def counting(name: str) -> bool:
        return all(map(_counts, PurePosixPath(name).parts)) and wanted(name)

    found: dict[str, bytes] = {}
    with contextlib.suppress(Rejected, *_DAMAGE, OSError, NotImplementedError, RuntimeError):
        if path.is_dir():
            _gather(found, _from_folder(path, counting, MAX_BYTES))
        else:
            with path.open("rb", buffering=0) as file:
                _gather(found, from_archive(file, path.name, counting, MAX_BYTES))
    return found


def _gather(found: dict[str, bytes], files: Iterator[tuple[str, Content]]) -> None:
    left = 2 * MAX_BYTES
    for name, data in files:
        if isinstance(data, Unfit):
            continue
        left -= len(data)
        if left < 0:
            break
        found[name] = data


@contextlib.contextmanager
def _rejecting(name: str) -> Iterator[None]:
    """Say of what reading an archive raises what it means for who handed it in."""
    try:
        yield
    except _DAMAGE as error:
        raise Rejected(f"{name} is a damaged archive; hand it in again") from error
    except OSError as error:
        # zipfile seeks to where a damaged header sends it; any other errno is the machine's.
        if error.errno not in (None, errno.EINVAL):
            raise
        raise Rejected(f"{name} is a damaged archive; hand it in again") from error
    except (NotImplementedError, RuntimeError) as error:
        raise Rejected(f"{name} is packed in a way that cannot be read: use plain zip") from error


def apart(found: dict[str, bytes]) -> dict[str, bytes]:
    """Return files in the order of their names, if they can lie side by side in a folder."""
    folders = {str(folder) for name in found for folder in PurePosixPath(name).parents}
    for name in sorted(folders.intersection(found)):
        raise Rejected(f"there is both a file and a folder {name}: keep one of them")
    if len(folders) > MAX_FILES:
        raise Rejected(f"there are too many folders; at most {MAX_FILES} are taken in")
    return {name: found[name] for name in sorted(found)}


def digest(files: Mapping[str, bytes], remarks: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return a hash of a submission's files, and of what is to be said of them, if anything."""
    total = hashlib.sha256()
    for name, data in files.items():
        total.update(f"{len(name)} {len(data)} {name}".encode(errors="surrogateescape"))
        total.update(data)
    if remarks:
        total.update(repr(sorted(remarks.items())).encode())
    return total.hexdigest()


def _collect(files: Iterator[tuple[str, Content]]) -> dict[str, bytes]:
    """Gather files up to the caps, which hold while they are read."""
    found: dict[str, bytes] = {}
    size = 0
    for name, data in files:
        if isinstance(data, Unfit):
            raise Rejected(f"{name} {data}")
        found[name] = data
        size += len(data)
        if len(found) > MAX_FILES:
            raise Rejected(f"there are too many Python files; at most {MAX_FILES} are taken in")
        if size > MAX_BYTES:
            raise Rejected(f"the Python files are too large; at most {MAX_BYTES} bytes in all")
    return found


def _from_folder(
    folder: Path, file_wanted: Callable[[str], bool], most: int = MAX_FILE_BYTES
) -> Iterator[tuple[str, Content]]:
    """Read a folder without following a link, which could lead to the reference."""

    def is_entered(name: str) -> bool:
        if _is_installed(name):
            # None is, and who asks for files notes those folders.
            return file_wanted(name)
        return _counts(PurePosixPath(name).name)

    try:
        for name, file in files_in(folder, Wanted(file_wanted, is_entered, MAX_ENTRIES)):
            if not isinstance(file, NotOrdinary):
                yield name, _read(file, os.fstat(file.fileno()).st_size, most)
            elif file_wanted(name):
                yield name, Unfit(f"{file}; hand in the file")
    except TooMany:
        words = f"more than {MAX_ENTRIES} files and folders; hand in the component files only"
        raise Rejected(words) from None


def from_archive(
    file: io.RawIOBase | IO[bytes],
    name: str,
    wanted: Callable[[str], bool],
    most: int = MAX_FILE_BYTES,
) -> Iterator[tuple[str, Content]]:
    """Yield those files of an archive that are `wanted`, of at most `most` bytes each."""
    reader = _from_zip if name.lower().endswith(".zip") else _from_tar
    return reader(cast(io.RawIOBase, file), name, wanted, most)


def _from_zip(
    file: io.RawIOBase, path: str, wanted: Callable[[str], bool], most: int
) -> Iterator[tuple[str, Content]]:
    with _InPieces(file) as pieces, zipfile.ZipFile(pieces) as archive:
        listed = [(entry, _name_of(entry.filename)) for entry in archive.infolist()]
        entries = [entry for entry, name in listed if wanted(name) or not _is_installed(name)]
        if len(entries) > MAX_ENTRIES:
            raise Rejected(f"{path} has {len(entries)} entries; at most {MAX_ENTRIES}")
        _check_apart(path, [e for e in entries if not e.is_dir() and wanted(_name_of(e.filename))])
        for entry in entries:
            name = _name_of(entry.filename)
            if entry.is_dir() or not wanted(name):
                continue
            _check_inside(name)
            if stat.S_ISLNK(entry.external_attr >> 16):
                yield name, Unfit("is a link; hand in the file")
                continue
            if entry.flag_bits & 1:
                raise Rejected(f"{path} is encrypted; hand in an open archive")
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                # The others unpack all that they are given at once, however much it is.
                raise NotImplementedError
            with archive.open(entry) as member:
                yield name, _read(member, entry.file_size, most)


def _check_apart(path: str, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse entries that share bytes: a short file would be unpacked again for each of them."""
    end = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < end:
            raise Rejected(f"entries of {path} overlap; pack the component files again")
        end = entry.header_offset + _MIN_HEADER + entry.compress_size


def _from_tar(
    file: io.RawIOBase, path: str, wanted: Callable[[str], bool], most: int
) -> Iterator[tuple[str, Content]]:
    counted = 0
    with gzip.GzipFile(fileobj=cast(Any, file)) as plain:
        capped = _Capped(plain)
        with tarfile.open(fileobj=capped, mode="r:") as archive:
            for entry in archive:
                # Or tarfile keeps them all, with every header that was ever given.
                cast(Any, archive).members.clear()
                archive.pax_headers = {}
                name = _name_of(entry.name)
                counted += not _is_installed(name)
                if counted > MAX_ENTRIES:
                    raise Rejected(f"{path} has more than {MAX_ENTRIES} entries")
                if not entry.isdir() and wanted(name):
                    _check_inside(name)
                    ordinary = entry.isreg() and not entry.issparse()
                    member = archive.extractfile(entry) if ordinary else None
                    if member is None:
                        yield name, Unfit("is a link or device; hand in the file")
                    else:
                        capped.left, capped.in_header = most + _MAX_HEADER, False
                        yield name, _read(member, entry.size, most)
                capped.left, capped.in_header = _MAX_HEADER, True
        # To the end, where the checksum is.
        capped.seek(MAX_UNPACKED)


class _InPieces(io.BufferedReader):
    """A zip whose list of entries is not read if it is far too long."""

    def read(self, size: int | None = -1) -> bytes:
        whole = size is None or not 0 <= size <= _MAX_PIECE
        data = super().read(_MAX_PIECE + 1 if whole else size)
        if len(data) > _MAX_PIECE:
            raise Rejected(f"the archive's list of entries is too long; at most {MAX_ENTRIES}")
        return data


class _Capped(io.RawIOBase):
    """Stops a bomb: a tarball is read forward only, and no more of it than is allowed.

    Attributes:
        left: how many bytes may be read, not counting what is skipped.
        in_header: what is read now says something of a file, and is none of its data.
    """

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file
        self.left = _MAX_HEADER
        self.in_header = True

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        if whence != os.SEEK_SET or place < self._file.tell():
            raise tarfile.ReadError("backwards")
        if place > MAX_UNPACKED:
            raise Rejected(f"the archive unpacks to more than {MAX_UNPACKED} bytes")
        return self._file.seek(place)

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= self.left:
            raise Rejected("the archive says more about its files than is taken in")
        self.left -= size
        data = self._file.read(size)
        # Some versions of tarfile search a header for a time that grows as the square of these.
        if self.in_header and _DIGITS.search(data):
            raise Rejected("the archive has a header of nothing but digits; pack the files again")
        return data


def _counts(part: str) -> bool:
    # What leads out of an archive is judged, not ignored.
    if part in ("__MACOSX", "__pycache__", *INSTALLED):
        return False
    return part == ".." or not part.startswith(".")


def _is_installed(name: str) -> bool:
    """Return whether an entry lies in a folder of installed packages."""
    return not INSTALLED.isdisjoint(name.split("/"))


def wanted(name: str) -> bool:
    """Return whether an entry is a Python file that is taken in, by its path."""
    parts = PurePosixPath(name).parts
    if not name.endswith(".py") or not all(map(_counts, parts)):
        return False
    if PurePosixPath(name).is_absolute() or ".." in parts:
        # It leads out of the archive, however long it is.
        return True
    # Past these a name is no module that a component could import.
    return len(parts) <= _MAX_DEPTH and len(name.encode(errors="surrogateescape")) <= _MAX_NAME


def _name_of(name: str) -> str:
    """Return an archive entry's path, which may lead anywhere; some programs write backslashes."""
    return PurePosixPath(name.replace("\\", "/")).as_posix()


def _check_inside(name: str) -> None:
    """Refuse an entry that leaves the archive. Names that nobody wants are not judged."""
    path = PurePosixPath(name)
    drive = re.match("[A-Za-z]:", name)
    if path.is_absolute() or ".." in path.parts or drive or "\0" in name:
        raise Rejected("an entry of the archive leads out of it; pack the component files alone")


def _read(file: IO[bytes], size: int, most: int) -> Content:
    """Return what a file holds, which says of itself how large it is."""
    data = b"" if size > most else file.read(most + 1)
    is_larger = size > most or len(data) > most
    return Unfit(f"is larger than {most} bytes") if is_larger else data


def _unwrapped(files: dict[str, _Content]) -> dict[str, _Content]:
    """Take off the one top folder that an archive may wrap everything in."""
    tops = {name.partition("/")[0] for name in files}
    if len(tops) == 1 and all("/" in name for name in files):
        return _unwrapped({name.partition("/")[2]: data for name, data in files.items()})
    return files
