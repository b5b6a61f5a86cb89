"""Files that a test and a component share: a test's `tmp_path`, and what lies beside the tests."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import Any

from autograder.api.objects import state_of
from autograder.api.values import Made, Value

# The largest file of the test that is handed over.
MAX_FILE = 16 * 1024 * 1024
# How many files come back in one test.
MAX_TAKEN = 1000
_BESIDE = "beside_the_test"


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is below a folder, as it is written."""
    return os.path.normpath(path).startswith(folder.rstrip(os.sep) + os.sep)


class Files:
    """Hands files over, and takes those that come back.

    Args:
        own: the folder below which the test's own files lie.
        is_of_suite: whether a file is the suite's.
    """

    def __init__(self, own: Path, is_of_suite: Callable[[str], bool]) -> None:
        self.own = own
        self._is_of_suite = is_of_suite
        # When files were written last, and their sizes, as far as they were handed over.
        self._known: dict[str, tuple[int, int]] = {}
        # Whether anything of the test's own was handed over: before, nothing comes back.
        self._is_shared = False
        self._taken = 0

    def handed(self, path: Any, beside: dict[str, Value]) -> Value:
        """Return what crosses for a path: a file where the test's own or the suite's lie.

        Args:
            path: a text or a path.
            beside: gets the files.
        """
        text = os.fspath(path)
        as_text = isinstance(path, str)
        there = Path(text)
        if not there.is_absolute() or "\n" in text:
            return path
        if is_below(text, str(self.own)) or text == str(self.own):
            beside["files"] = [*beside.get("files", ()), *self._at(there)]
            self._is_shared = True
            return Made("file", (os.path.relpath(text, self.own), as_text))
        is_data = self._is_of_suite(text) and there.suffix != ".py" and there.is_file()
        if not is_data or there.is_symlink() or there.stat().st_size > MAX_FILE:
            return path
        name = f"{_BESIDE}/{there.name}"
        beside["files"] = [*beside.get("files", ()), [name, there.read_bytes()]]
        return Made("file", (name, as_text))

    def working_folder(self, beside: dict[str, Value]) -> None:
        """Note in which of the test's own folders it works, if it does."""
        place = str(Path.cwd())
        if is_below(place, str(self.own)):
            beside["cwd"] = os.path.relpath(place, self.own)
            self._is_shared = True
            beside["files"] = self.below(self.own)

    def below(self, folder: Path) -> list[Value]:
        """Return the folders, and the regular files that are new or changed, of the test's own."""
        return self._of(sorted(folder.rglob("*")))

    def _at(self, path: Path) -> list[Value]:
        """Return what is handed over with one path: the file, or what is below the folder."""
        return self.below(path) if path.is_dir() and not path.is_symlink() else self._of([path])

    def _of(self, paths: Sequence[Path]) -> list[Value]:
        found: list[Value] = []
        for path in paths:
            name = path.relative_to(self.own).as_posix()
            if path.is_symlink():
                continue
            if path.is_dir():
                found.append([name, None])
                continue
            if not path.is_file():
                continue
            state = state_of(path)
            if self._known.get(name) != state and state[1] <= MAX_FILE:
                self._known[name] = state
                found.append([name, path.read_bytes()])
        return found

    def take(self, name: Value, data: Value) -> None:
        """Write a file that the component left, below the test's own folder and nowhere else."""
        if type(name) is not str or type(data) is not bytes or "\0" in name:
            return
        self._taken += 1
        if not self._is_shared or len(data) > MAX_FILE or self._taken > MAX_TAKEN:
            return
        parts = PurePath(name).parts
        if not parts or ".." in parts or _BESIDE in parts or PurePath(name).is_absolute():
            return
        path = self.own.joinpath(*parts)
        with contextlib.suppress(OSError):
            # Also of folders that are not there yet: none is made behind a link.
            there = os.path.realpath(path.parent)
            if path.is_symlink() or not is_below(f"{there}{os.sep}x", os.path.realpath(self.own)):
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            self._known[name] = state_of(path)
