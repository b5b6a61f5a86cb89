"""Temporary folders that outlive no process: what a killed one leaves, the next one removes.

The process that makes a folder holds a lock on it, which the kernel drops when it ends,
whatever the reason.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where no student code is confined.
    fcntl = None  # type: ignore[assignment]

# Followed by this number of hexadecimal digits, which nobody calls a folder of one's own.
_PREFIX = "gradeformer-"
_DIGITS = 16


class HeldFolder:
    """A temporary folder, closed to other accounts, that is there while a process holds it.

    Args:
        digits: end its name; processes that give the same share a folder. By default random ones.
        place: the folder that it lies in, by default that of temporary files.

    Attributes:
        path: where it is.

    Raises:
        OSError: it cannot be made, or belongs to another account.
    """

    def __init__(self, digits: str = "", place: Path | None = None) -> None:
        place = place or Path(tempfile.gettempdir())
        self.path = place / (_PREFIX + (digits or secrets.token_hex(_DIGITS // 2)))
        for left in place.glob(_PREFIX + "[0-9a-f]" * _DIGITS):
            with contextlib.suppress(OSError):
                _let_go(left, _opened(left))
        while True:
            with contextlib.suppress(FileExistsError):
                self.path.mkdir(0o700)
            try:
                self._lock = _opened(self.path)
            except FileNotFoundError:
                # Another process found it before it was held, and removed it.
                continue
            with contextlib.suppress(OSError):
                fcntl.flock(self._lock, fcntl.LOCK_SH)
            # The last who held it may have removed it meanwhile.
            if _is_at(self._lock, self.path):
                return
            os.close(self._lock)

    def close(self) -> None:
        """Let go of it; who is the last to do so removes it."""
        if self._lock >= 0:
            _let_go(self.path, self._lock)
            self._lock = -1


def _opened(folder: Path) -> int:
    """Open a folder of this account's that is no link."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    if os.fstat(lock).st_uid != os.geteuid():
        os.close(lock)
        raise OSError(f"{folder} belongs to another user: remove it")
    return lock


def _let_go(folder: Path, lock: int) -> None:
    """Remove a folder that nobody else holds, and close the descriptor."""
    # Where the file system knows no locks, nothing is removed.
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(lock, folder):
            remove_tree(folder)
    os.close(lock)


def _is_at(descriptor: int, folder: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(folder, follow_symlinks=False))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Lend a temporary folder of this process's own."""
    if fcntl is None:
        with tempfile.TemporaryDirectory(prefix=_PREFIX) as made:
            yield Path(made)
        return
    folder = HeldFolder()
    try:
        yield folder.path
    finally:
        folder.close()


def remove_tree(folder: Path) -> None:
    """Remove a folder, whatever a child made in it."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if not os.path.lexists(folder):
        return
    # Folders that not even their owner may look into, or nested deeper than Python's stack.
    with contextlib.suppress(RecursionError):
        for place, names, _ in os.walk(folder):
            for path in [os.path.join(place, name) for name in names]:
                with contextlib.suppress(OSError):
                    if not os.path.islink(path):
                        os.chmod(path, 0o700)
    subprocess.run(["rm", "-rf", "--", str(folder)], stderr=subprocess.DEVNULL, check=False)
