"""One run at a time grades into a folder of results; a second one is told who is first."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from autograder import private
from autograder.errors import UsageError

try:
    import fcntl
except ImportError:  # Windows, where nothing is graded by several accounts.
    fcntl = None  # type: ignore[assignment]

NAME = ".grading"
# Of a file system that knows no locks.
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


class Busy(UsageError):
    """Somebody else grades into the folder; the message says who, and since when."""


@contextlib.contextmanager
def alone(
    out: Path, wait: bool, tell: Callable[[str], None], option: str = "--wait"
) -> Iterator[None]:
    """Keep other runs from grading into a folder until this one ends.

    The system frees the lock of a process that is gone, however it ended: none is ever stale. The
    file stays, and is empty where nobody grades.

    Args:
        out: the folder, which is there.
        wait: wait for a run that is under way, instead of refusing.
        tell: is told whom this run waits for, or that there are no locks.
        option: how the user says to wait, for the refusal.

    Raises:
        Busy: another run grades into the folder, and this one is not to wait.
        UsageError: the file cannot be written.
    """
    if fcntl is None:
        yield
        return
    path = out / NAME
    try:
        file = private.open_file(path)
    except OSError as error:
        repair = "remove it, or give --out a folder you can write to"
        raise private.unwritable(path, error, repair) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            busy = f"{file.read(1000).decode(errors='replace').strip() or 'somebody'} grades there"
            if not wait:
                repair = f"try again when that has ended, or wait for it with {option}"
                raise Busy(f"{out}: {busy}; {repair}") from None
            tell(f"waiting: {busy}")
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise private.unwritable(path, error, "give --out another folder") from error
            tell(f"there are no locks in {out}: see that nobody else grades into it")
        file.truncate(0)
        file.seek(0)
        file.write(_who().encode())
        try:
            yield
        finally:
            file.truncate(0)


def _who() -> str:
    since = f"{datetime.now().astimezone():%Y-%m-%d %H:%M}"
    return f"{_account()} on {socket.gethostname()} (process {os.getpid()}, since {since})"


def _account() -> str:
    import pwd

    with contextlib.suppress(KeyError):
        return pwd.getpwuid(os.geteuid()).pw_name
    return f"account {os.geteuid()}"
