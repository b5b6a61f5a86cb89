"""Folders and files that are not for students: closed to others, whatever the umask.

A folder that its group shares, with mode 2770 as nbgrader's `groupshared` has them, makes what is
written in it that group's, too.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import stat
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from autograder.errors import UsageError

_SHARED = stat.S_ISGID | stat.S_IWGRP


def is_shared(folder: Path) -> bool:
    """Return whether a group shares a folder: members write there, and what they make is its."""
    return folder.stat().st_mode & _SHARED == _SHARED


def make_folder(folder: Path, shared: bool | None = None) -> None:
    """Make a folder, and those above it that are missing; one that is there stays as it is.

    Args:
        folder: which one.
        shared: whether its group shares it; by default as the group does the folder above it.
    """
    if folder.is_dir():
        return
    if not folder.parent.exists():
        make_folder(folder.parent, shared)
    # Somebody else may make it at the same time.
    folder.mkdir(0o700, exist_ok=True)
    if shared is None:
        shared = is_shared(folder.parent)
    if shared and _is_own(folder):
        folder.chmod(0o2770)


def close_folder(folder: Path, group: str | None) -> None:
    """Make a folder, or close one that is there: its owner's alone, or what a group shares.

    Args:
        folder: which one.
        group: the name of the group; without one a folder that a group shares stays so.

    Raises:
        UsageError: there is no such group, or its owner may not give the folder to it.
    """
    make_folder(folder)
    if group is not None:
        try:
            shutil.chown(folder, group=group)
        except (LookupError, OSError) as error:
            reason = "there is no such group" if isinstance(error, LookupError) else error.strerror
            raise UsageError(
                f"{folder} cannot be given to the group {group!r} ({reason}): name one that you "
                "are a member of"
            ) from error
    # A folder of somebody else's is as its owner wants it.
    if _is_own(folder):
        folder.chmod(0o2770 if group is not None or is_shared(folder) else 0o700)


def write_file(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all."""
    temporary = path.with_name(f".{os.getpid()}.{uuid.uuid4().hex}.tmp")
    try:
        with open(temporary, "xb", opener=_closed) as file:
            if is_shared(path.parent):
                temporary.chmod(0o660)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def open_file(path: Path) -> IO[bytes]:
    """Open a file to read and write where it lies; one that is not there is made, empty."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if is_shared(path.parent) and _is_own(path):
        path.chmod(0o660)
    return os.fdopen(descriptor, "r+b", buffering=0)


def _closed(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


@contextlib.contextmanager
def umask_of(folder: Path) -> Iterator[None]:
    """Have what this process writes meanwhile, by whatever means, be as closed as `folder`.

    The umask is that of all threads: use it where no other one writes.
    """
    before = os.umask(0o007 if is_shared(folder) else 0o077)
    try:
        yield
    finally:
        os.umask(before)


def _is_own(path: Path) -> bool:
    return os.name == "posix" and path.stat().st_uid == os.geteuid()


def is_open(path: Path) -> bool:
    """Return whether another account of this machine can read a file at or below `path`."""
    return next(open_files(path), None) is not None


def open_files(path: Path) -> Iterator[Path]:
    """Yield the files at or below `path` that another account of this machine can read.

    The group counts as others, unless it is its owner's alone, or a folder is set up to be shared.
    Where a folder on the way is closed, all below is. There are no such modes on Windows.
    """
    if os.name != "posix":
        return
    try:
        place = path.resolve(strict=True)
        about = place.stat()
        deliberate = stat.S_ISDIR(about.st_mode) and about.st_mode & stat.S_ISGID
        alone = deliberate or _is_owners_alone(about.st_uid, about.st_gid)
        for group in (None,) if alone else (None, about.st_gid):
            if all(_may(folder.stat(), group, 1) for folder in place.parents):
                yield from _read_by(place, group)
    except (OSError, RuntimeError):
        # What is not there, or closed to ourselves, nobody is told of.
        return


def _may(about: os.stat_result, group: int | None, right: int) -> bool:
    """Return whether others, or a member of `group`, have a right: of 4, 2 and 1."""
    mode = about.st_mode >> 3 if about.st_gid == group else about.st_mode
    return bool(mode & right)


def _read_by(place: Path, group: int | None) -> Iterator[Path]:
    """Yield what they read here and below; a name that is known needs no listing."""
    about = place.lstat()
    if stat.S_ISREG(about.st_mode) and _may(about, group, 4):
        yield place
    elif stat.S_ISDIR(about.st_mode) and _may(about, group, 1):
        for inside in sorted(place.iterdir()):
            yield from _read_by(inside, group)


def _is_owners_alone(user: int, group: int) -> bool:
    """Return whether a group is the one that a system makes for each user."""
    import grp
    import pwd

    try:
        found, owner = grp.getgrgid(group), pwd.getpwuid(user).pw_name
    except KeyError:
        return False
    return found.gr_name == owner and set(found.gr_mem) <= {owner}


def exposed(places: Sequence[Path]) -> str:
    """Say in a sentence which of these places others can read, and what closes them; "" if none.

    A group that a folder is shared with keeps it.
    """
    there = [place.resolve() for place in places if is_open(place)]
    there = [place for place in there if not {*place.parents} & {*there}]
    if not there:
        return ""
    example = next(open_files(there[0])).relative_to(there[0])
    what = " and ".join(map(str, there))
    return f"other accounts of this machine can read {what} (such as {example}): {_closing(there)}"


def _closing(places: Sequence[Path]) -> str:
    shared = [path for path in places if path.is_dir() and path.stat().st_mode & stat.S_ISGID]
    own = [path for path in places if path not in shared]
    commands = [
        shlex.join(["chmod", "-R", rights, *map(str, some)])
        for rights, some in (("go-rwx", own), ("o-rwx", shared))
        if some
    ]
    return " && ".join(commands)


def unshared(folder: Path) -> str:
    """Say in a sentence what of a shared folder its group cannot change, and the repair; or ""."""
    found = [path for path in (folder, *folder.rglob("*")) if not _is_groups(path)]
    if not found:
        return ""
    what = f"{len(found)} files and folders, such as {found[0]}"
    return f"the group of {folder} cannot change {what}: {_sharing(folder)}"


def _is_groups(path: Path) -> bool:
    about = path.lstat()
    if stat.S_ISDIR(about.st_mode):
        return about.st_mode & 0o2070 == 0o2070
    return not stat.S_ISREG(about.st_mode) or about.st_mode & 0o060 == 0o060


def unwritable(path: Path, error: OSError, otherwise: str) -> UsageError:
    """Return what to tell a user who cannot write to `path`: whose it is, or `otherwise`."""
    return UsageError(f"{path} cannot be written ({error.strerror}): {repair(path, otherwise)}")


def repair(path: Path, otherwise: str) -> str:
    """Say what the owner of a folder types, so that its group writes to it, too; or `otherwise`."""
    place = next((folder for folder in (path, *path.parents) if folder.is_dir()), path)
    if os.name != "posix" or os.access(place, os.W_OK | os.X_OK) or _is_own(place):
        return otherwise
    import pwd

    try:
        owner = pwd.getpwuid(place.stat().st_uid).pw_name
    except KeyError:
        owner = f"account {place.stat().st_uid}"
    return f"{place} is {owner}'s, who can share it with the group: {_sharing(place)}"


def _sharing(folder: Path) -> str:
    """Return what its owner types to share a folder with its group."""
    name = shlex.quote(str(folder))
    return f"chmod -R g+rwX {name} && find {name} -type d -exec chmod g+s {{}} +"
