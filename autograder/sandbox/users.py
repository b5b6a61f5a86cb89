"""Users for children of tier 3, a different one for each that lives. Judge's side.

All graders of a machine take them from one pool: a folder with a file for each user, locked by who
has taken that one. The kernel drops a lock with the process that holds it, however that ends. What
such a process could not clear away is in its file, and is cleared away by the next who takes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import signal
import stat
import time
from collections.abc import Sequence
from pathlib import Path

from autograder.sandbox.confine import JAIL_UIDS
from autograder.sandbox.handle import SandboxFault
from autograder.sandbox.scratch import remove_tree

# Not among temporary files: it is the same for all graders, and nobody else may make it first.
_POOL = Path("/run/gradeformer-users")
_PATIENCE_S = 10.0
# Of a process that does nothing more: nobody has asked about its end yet, and it has no thread.
_ENDED = re.compile(r"^State:\tZ.*^Threads:\t[01]$", re.M | re.S)


class User:
    """A user that is no other living child's.

    Attributes:
        uid: its number.
    """

    def __init__(self, uid: int, lock: int, scratch: Path) -> None:
        self.uid = uid
        self._lock = lock
        self._scratch = scratch

    def give_back(self) -> None:
        """Let another child have it: this one's has ended, and its folder is removed."""
        if not os.path.lexists(self._scratch):
            os.ftruncate(self._lock, 0)
        # Forks of this process may hold the descriptor, too.
        fcntl.flock(self._lock, fcntl.LOCK_UN)
        os.close(self._lock)


class Pool:
    """The users that the children of this machine's graders are.

    Args:
        folder: where their locks are.
        uids: their numbers.

    Raises:
        OSError: the folder cannot be made, or somebody else could have taken users from it.
    """

    def __init__(self, folder: Path = _POOL, uids: Sequence[int] = JAIL_UIDS) -> None:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(0o700)
        status = os.lstat(folder)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 63:
            raise OSError(f"{folder} is open to others than root: remove it")
        self._folder = folder
        self._uids = uids

    def take(self, scratch: Path) -> User:
        """Take a user whose only files will lie in `scratch`, which is not there yet.

        Raises:
            SandboxFault: all of them are taken.
        """
        # From anywhere, so that few graders try what others have.
        first = secrets.randbelow(len(self._uids))
        for uid in (*self._uids[first:], *self._uids[:first]):
            lock = os.open(self._folder / str(uid), os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                continue
            left = os.pread(lock, os.pathconf("/", "PC_PATH_MAX"), 0)
            if left and not _cleared(uid, Path(os.fsdecode(left))):
                os.close(lock)
                continue
            os.ftruncate(lock, 0)
            os.pwrite(lock, os.fsencode(scratch), 0)
            return User(uid, lock, scratch)
        raise SandboxFault(
            f"each of the users {self._uids[0]} to {self._uids[-1]} is a child's already: let "
            "fewer graders work on this machine at the same time"
        )


def _cleared(uid: int, scratch: Path) -> bool:
    """End what lives of a user, and remove its folder; tell whether nothing is left."""
    end = time.monotonic() + _PATIENCE_S
    while _end_all(uid):
        if time.monotonic() > end:
            return False
        time.sleep(0.001)
    remove_tree(scratch)
    return not os.path.lexists(scratch)


def _end_all(uid: int) -> bool:
    """Kill all processes of a user; tell whether there were any."""
    found = False
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            # First the handle: what is read is said of this process, or of one that has ended.
            handle = os.pidfd_open(int(name))
            try:
                status = Path("/proc", name, "status").read_text("latin-1")
                if re.search(rf"^Uid:.*\b{uid}\b", status, re.M) and not _ENDED.search(status):
                    found = True
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
            finally:
                os.close(handle)
    return found
