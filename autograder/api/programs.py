"""Run a component as a program: arguments, input and files in; output, status and files out."""

from __future__ import annotations

import atexit
import io
import logging
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Any

from autograder.api.values import MAX_TEXT, Unsendable, Value

MAX_FILES = 64
# The folder of an assignment's data.
DATA = "data"


@dataclass(frozen=True)
class Program:
    """What one run of a program came to.

    Attributes:
        output: what it wrote to standard output.
        errors: what it wrote to standard error.
        status: its exit status.
        files: what lies in its folder afterwards, by path, but for what it was given unchanged.
    """

    output: str
    errors: str
    status: int
    files: dict[str, bytes]

    def value(self) -> Value:
        """Return the value that stands for it."""
        return {
            "output": self.output,
            "errors": self.errors,
            "status": self.status,
            "files": self.files,
        }

    @classmethod
    def of(cls, value: Value) -> Program | None:
        """Read the value that stands for a run; None if it is none."""
        kinds = {"output": str, "errors": str, "status": int, "files": dict}
        if not isinstance(value, dict) or value.keys() != kinds.keys():
            return None
        if not all(isinstance(value[name], kind) for name, kind in kinds.items()):
            return None
        return cls(**value)


class _Full(OSError):
    """A program writes more than is taken."""


class _Capped(io.BytesIO):
    """Standard output in memory, up to the cap."""

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > 4 * MAX_TEXT:
            raise _Full("the program writes more than is read")
        return super().write(data)

    def close(self) -> None:
        """Stay open: what was written is read when the program has ended, whatever it closed."""


def run_program(
    code: CodeType,
    file: str,
    scope: Mapping[str, object],
    arguments: tuple[str, ...],
    stdin: str,
    files: Mapping[str, bytes],
    data: Path | None = None,
) -> Program:
    """Run compiled code as `__main__`, in a new folder of its own.

    Exceptions that are no exit leave it, as those of a function would.

    Args:
        code: the program.
        file: its path.
        scope: what else its global names hold.
        arguments: what follows its name on the command line.
        stdin: what it can read from standard input.
        files: what lies in its folder, by relative path.
        data: a folder that lies there, too.

    Raises:
        Unsendable: it left more than is taken.
    """
    with TemporaryDirectory(prefix="run-") as folder:
        place = Path(folder)
        if data is not None and data.is_dir():
            _copy(data, place / data.name)
        known = {path.relative_to(place).as_posix() for path in place.rglob("*")}
        for name, content in files.items():
            target = place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        out, errors = _Capped(), _Capped()
        with _standing_in(place, [file, *arguments], stdin, out, errors):
            status = _executed(code, {"__name__": "__main__", "__file__": file, **scope})
        texts = [stream.getvalue().decode(errors="replace") for stream in (out, errors)]
        if any(len(text) > MAX_TEXT for text in texts):
            raise Unsendable(f"it wrote more than {MAX_TEXT} characters")
        return Program(texts[0], texts[1], status, _left_in(place, files, known))


def _copy(folder: Path, target: Path) -> None:
    # Not shutil.copytree: it sets modes, too, which a confined process may not.
    for path in folder.rglob("*"):
        if path.is_file():
            there = target / path.relative_to(folder)
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(path.read_bytes())


def _executed(code: CodeType, scope: dict[str, object]) -> int:
    try:
        exec(code, scope)  # noqa: S102 - running it is the purpose
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return int(end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    return 0


@contextmanager
def _standing_in(
    place: Path, arguments: list[str], stdin: str, out: io.BytesIO, errors: io.BytesIO
) -> Iterator[None]:
    """Give a program its own arguments, streams and folder."""
    before = sys.argv, sys.stdin, sys.stdout, sys.stderr
    handlers = logging.root.handlers[:]
    at_exit: list[Callable[[], object]] = []

    def register(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
        at_exit.append(partial(function, *args, **kwargs))
        return function

    plain, atexit.register = atexit.register, register  # type: ignore[assignment]
    folder = Path.cwd()
    sys.argv = arguments
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(errors, encoding="utf-8", write_through=True)
    os.chdir(place)
    try:
        yield
    finally:
        atexit.register = plain
        try:
            for function in reversed(at_exit):
                function()
        finally:
            logging.root.handlers[:] = handlers
        own = sys.stdout, sys.stderr
        sys.argv, sys.stdin, sys.stdout, sys.stderr = before
        os.chdir(folder)
        for stream in own:
            # Or closing it closes what holds the text.
            if isinstance(stream, io.TextIOWrapper) and not stream.closed:
                stream.flush()
                stream.detach()


def _left_in(place: Path, given: Mapping[str, bytes], known: Collection[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for path in sorted(place.rglob("*")):
        name = path.relative_to(place).as_posix()
        if path.is_symlink() or not path.is_file() or name in known:
            continue
        size = path.stat().st_size
        if name in given and len(given[name]) == size and given[name] == path.read_bytes():
            continue
        if size > MAX_TEXT:
            raise Unsendable(f"it left a file of more than {MAX_TEXT} bytes")
        found[name] = path.read_bytes()
        if len(found) > MAX_FILES:
            raise Unsendable(f"it left more than {MAX_FILES} files")
    return found
