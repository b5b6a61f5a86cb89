"""Tier 3: a root folder for its children, and a user for each of them. Judge's side.

The root folder holds what they may read of this machine's files, and no more. Nothing is mounted,
because that takes rights that few containers have: files are linked into the folder where they lie
on the same file system, and copied otherwise. It is filled when the fork server has started: what
that has loaded by then is most of all the bytes, and need not be copied. Sandboxes that are open at
the same time share a folder, and the last one removes it.

All graders of a machine take users from one pool: a folder with a file for each user, locked by
the grader that has taken it. What a killed grader could not clear away is in that file, and the
next who takes the user clears it away.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.sandbox.confine import JAIL_UIDS
from autograder.sandbox.handle import SandboxFault
from autograder.sandbox.packages import SITES, View
from autograder.sandbox.scratch import HeldFolder, remove_tree

# Where children find their scratch folders, which no path of a machine is to be in the way of.
SCRATCHES = "/gradeformer-scratch"
# Where temporary folders may be, besides the usual place.
OTHER_PLACE = "/var/tmp"  # noqa: S108 - a folder of our own is made there
_LARGE = 1 << 20
_CLOSED, _OPEN = 0o711, 0o755
# Of Python's own, half of its files; folders of packages that Python does not import from, too.
_LEFT_OUT = ("test", "tests", "idle_test", *SITES)
# Files that nothing opens when code runs; nor is Python ever started so that it takes the last.
_UNUSED = (".a", ".cuh", ".h", ".hpp", ".pyi", ".opt-1.pyc", ".opt-2.pyc")
# Not among temporary files: it is the same for all graders, and nobody else may make it first.
_POOL = Path("/run/gradeformer-users")
_PATIENCE_S = 10.0
# Of a process that does nothing more: nobody has asked about its end yet, and it has no thread.
_ENDED = re.compile(r"^State:\tZ.*^Threads:\t[01]$", re.M | re.S)


class Jail:
    """A folder that a child takes for the whole machine.

    Args:
        view: what is to be in it.

    Attributes:
        folder: where it is.
        scratches: the folder in it that scratch folders lie in.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._reached = {"/"}
        self._loaded: set[str] = set()
        # Closed to the other users of this machine; root enters the one inside for its children.
        self._outer = HeldFolder(_fingerprint(view), Path(place_for(view)))
        self.folder = self._outer.path / "root"
        self.scratches = self.folder / SCRATCHES.strip("/")

    def fill(self, pid: int) -> None:
        """Put everything in; where another grader does, wait until it is there.

        Args:
            pid: the fork server. What would have to be copied, is large and has been loaded by it
                is left out.
        """
        # One grader fills at a time. It need not hold the folder alone: two that come together
        # both hold it already, and would wait for each other.
        with open(self._outer.path / "filling", "wb") as lock, _masking(0o022):
            fcntl.flock(lock, fcntl.LOCK_EX)
            # This folder is made last: if it exists, the jail is complete.
            if self.scratches.is_dir():
                return
            # What a grader left that was ended while it filled the folder.
            if self.folder.is_dir():
                shutil.rmtree(self.folder)
            with open(f"/proc/{pid}/maps") as maps:
                self._loaded = {line.split(maxsplit=5)[-1].rstrip("\n") for line in maps}
            self.folder.mkdir(_CLOSED)
            for path in self._view.links:
                if os.path.isdir(path):
                    self._reach(path)
            for path in self._view.readable:
                parent, name = os.path.split(path)
                # What Python's own folder holds of packages comes by itself.
                without = () if path in self._view.sites else _LEFT_OUT
                self._put(path, os.path.join(self._reach(parent), name), without)
            self.scratches.mkdir(_CLOSED)

    def close(self) -> None:
        """Remove it, unless another grader uses it."""
        self._outer.close()

    def _reach(self, path: str) -> str:
        """Make a folder, and the links that lead to it; return where it is in here."""
        if path not in self._reached:
            self._reached.add(path)
            parent, name = os.path.split(path)
            here = os.path.join(self._reach(parent), name)
            if os.path.islink(path):
                self._put(path, here)
                target = os.path.join(os.path.realpath(parent), os.readlink(path))
                self._reach(os.path.normpath(target))
            else:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(here, _CLOSED)
        return str(self.folder) + os.path.realpath(path)

    def _put(self, source: str, target: str, without: Sequence[str] = ()) -> None:
        """Put in a link, a device, a file, or a folder with all that lies in it but some names."""
        status = os.lstat(source)
        if stat.S_ISLNK(status.st_mode):
            with contextlib.suppress(FileExistsError):
                os.symlink(os.readlink(source), target)
        elif stat.S_ISDIR(status.st_mode):
            os.makedirs(target, exist_ok=True)
            os.chmod(target, _OPEN)
            for name in os.listdir(source):
                if name not in without and not name.endswith(_UNUSED):
                    with contextlib.suppress(FileNotFoundError):
                        self._put(f"{source}/{name}", f"{target}/{name}", without)
        elif stat.S_ISCHR(status.st_mode):
            # Where none may be made, children do without: random numbers have a system call.
            with contextlib.suppress(OSError):
                os.mknod(target, stat.S_IFCHR | 0o666, status.st_rdev)
                os.chmod(target, 0o666)  # noqa: S103 - as everywhere
        elif stat.S_ISREG(status.st_mode):
            self._put_file(source, target, status)

    def _put_file(self, source: str, target: str, status: os.stat_result) -> None:
        # Linked, a file keeps its rights; no child may write it, and each must be able to read it.
        theirs = status.st_uid in JAIL_UIDS or status.st_gid in JAIL_UIDS
        if status.st_mode & 0o006 == 0o004 and not theirs:
            try:
                os.link(source, target)
            except FileExistsError:
                return
            except OSError:
                pass
            else:
                return
        # Children need not open again what is loaded, nor can they start a program.
        program = status.st_mode & 0o111 and ".so" not in source
        if status.st_size >= _LARGE and (program or os.path.realpath(source) in self._loaded):
            return
        shutil.copyfile(source, target)
        os.chmod(target, 0o444)
        # Compiled code goes by the time of its source.
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def place_for(view: View) -> str:
    """Return where to make the folder: where most files can be linked to, if there is such."""
    usual = tempfile.gettempdir()
    files = os.stat(view.sites[0]).st_dev
    for place in (usual, OTHER_PLACE):
        with contextlib.suppress(OSError):
            if os.stat(place).st_dev == files and not os.statvfs(place).f_flag & os.ST_NOEXEC:
                return place
    return usual


def _fingerprint(view: View) -> str:
    """Return a name for what is in a jail; graders with the same name share its folder."""
    stamps = [os.stat(path).st_mtime_ns for path in view.readable]
    text = repr((__file__, view.links, view.readable, stamps))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@contextlib.contextmanager
def _masking(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


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
    """End what lives of a user, and remove its folder; return whether nothing is left."""
    end = time.monotonic() + _PATIENCE_S
    while _end_all(uid):
        if time.monotonic() > end:
            return False
        time.sleep(0.001)
    remove_tree(scratch)
    return not os.path.lexists(scratch)


def _end_all(uid: int) -> bool:
    """Kill all processes of a user; return whether there were any."""
    found = False
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            # The handle comes first: a new process with the same id is never killed by it.
            handle = os.pidfd_open(int(name))
            try:
                status = Path("/proc", name, "status").read_text("latin-1")
                if re.search(rf"^Uid:.*\b{uid}\b", status, re.M) and not _ENDED.search(status):
                    found = True
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
            finally:
                os.close(handle)
    return found
