"""The code of a component in this process: a module, or a program that is run in a folder."""

from __future__ import annotations

import atexit
import importlib
import io
import logging
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.abc import FileLoader, Loader
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, ModuleType
from typing import Any

from autograder.api.values import MAX_TEXT, Unsendable, Value
from autograder.rules.guard import PROVIDED, belongs_to
from autograder.rules.own import own_builtins
from autograder.rules.reader import parsed


class OwnModules:
    """Finds a submission's modules, and gives them builtins of their own.

    Args:
        folder: where they lie.
        free: those files, by path in it, that have all of Python, because a person accepted them.
    """

    def __init__(self, folder: str, free: Collection[str] = ()) -> None:
        self._folder = folder
        self._free = {f"{folder}{os.sep}{name}" for name in free}
        self._builtins = {free: own_builtins(free) for free in (True, False)}

    def watch(self) -> None:
        """Be asked for modules from now on, before what finds them by the path."""
        finders: list[Any] = sys.meta_path
        by_path = (n for n, f in enumerate(finders) if f is PathFinder or type(f) is OwnModules)
        finders.insert(next(by_path, len(finders)), self)

    def find_spec(self, name: str, path: Any = None, target: object = None) -> ModuleSpec | None:
        """Find a module of the submission's, for the import system."""
        spec = PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None or not belongs_to(spec.origin or "", self._folder):
            return None
        if name.partition(".")[0] != PROVIDED:
            spec.loader.exec_module = partial(self._run, spec.loader)  # type: ignore[method-assign]
        return spec

    def builtins_of(self, file: str) -> dict[str, Any]:
        """Return what Python's own functions are to a file."""
        return self._builtins[file in self._free]

    def _run(self, loader: Loader, module: ModuleType) -> None:
        if not isinstance(loader, FileLoader):
            raise ImportError(f"{module.__name__} is no file of Python's")
        vars(module)["__builtins__"] = self.builtins_of(loader.path)
        # What is not read is not run.
        tree = parsed(loader.get_data(loader.path), loader.path, main=loader.path in self._free)
        code = compile(tree, loader.path, "exec", dont_inherit=True)
        exec(code, vars(module))  # noqa: S102 - running it is the purpose


class ComponentCode:
    """The code in `folder`/`name`.py and in `given`/provided/.

    Args:
        source: what stands in the component's file, where that is not what lies there.

    Attributes:
        module: the imported module, or None.
        scope: global names that a program finds beside its own.
    """

    def __init__(
        self, folder: Path, name: str, given: Path, program: bool, source: bytes | None = None
    ) -> None:
        self._folder = str(folder)
        self._name = name
        self._file = Path(self._folder, f"{name}.py")
        self._given = str(given)
        self._program = program
        self._source = source
        self._compiled: CodeType | None = None
        self._provided: dict[str, ModuleType] = {}
        self.module: Any = None
        self.scope: dict[str, object] = {}

    def watch(self, free: Collection[str] = ()) -> None:
        """Have names that are computed looked at from now on; `free` as of `OwnModules`."""
        own = OwnModules(self._folder, free)
        own.watch()
        self.scope["__builtins__"] = own.builtins_of(str(self._file))

    def load_provided(self) -> None:
        """Import what is provided, first: what a student's code would put there comes too late."""
        for place in (self._given, self._folder):
            if place not in sys.path:
                sys.path.insert(0, place)
        provided = Path(self._given, PROVIDED)
        # Asked first: to look for files costs more than most calls.
        for path in sorted(provided.glob("*.py")) if provided.is_dir() else ():
            if path.stem not in self._provided:
                self._provided[path.stem] = importlib.import_module(f"{PROVIDED}.{path.stem}")

    def load(self) -> None:
        """Import the component; a program is only compiled."""
        file = str(self._file)
        if self._program:
            self._compiled = compile(self._source or self._read(), file, "exec", dont_inherit=True)
        elif self._source is not None:
            self.module = sys.modules[self._name] = ModuleType(self._name)
            self.module.__file__ = file
            code = compile(self._source, file, "exec", dont_inherit=True)
            exec(code, vars(self.module))  # noqa: S102 - running it is the purpose
        else:
            self.module = importlib.import_module(self._name)

    def _read(self) -> bytes:
        """Return the text by what would import it, which need not read it from a disk."""
        spec = PathFinder.find_spec(self._name, [self._folder])
        if spec is None or not isinstance(spec.loader, FileLoader):
            raise FileNotFoundError(f"there is no {self._file.name}")
        return spec.loader.get_data(str(self._file))

    def named(self, name: str) -> Any:
        """Return a module by its name; the component's own is asked for without one."""
        package, _, stem = name.rpartition(".")
        if package == PROVIDED:
            if stem not in self._provided:
                raise TypeError(f"there is no {PROVIDED}/{stem}.py")
            return self._provided[stem]
        return importlib.import_module(name) if name else self.module

    def run(self, arguments: tuple[str, ...], stdin: str, files: Mapping[str, bytes]) -> Program:
        """Run the program once as `__main__`, in a new folder of its own.

        Exceptions that are no exit leave it, as those of a function would.

        Args:
            arguments: what follows its name on the command line.
            stdin: what it can read from standard input.
            files: what lies in its folder, by relative path, beside the assignment's data.

        Raises:
            TypeError: the component is none.
            Unsendable: it left more than is taken.
        """
        if self._compiled is None:
            raise TypeError(f"{self._name} is no program")
        self._forget_own_modules()
        with TemporaryDirectory(prefix="run-") as folder:
            place, data, file = Path(folder), Path(self._given, DATA), str(self._file)
            if data.is_dir():
                _copy(data, place / DATA)
            known = {path.relative_to(place).as_posix() for path in place.rglob("*")}
            for name, content in files.items():
                target = place / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            out, errors = _Capped(), _Capped()
            with _standing_in(place, [file, *arguments], stdin, out, errors):
                scope = {"__name__": "__main__", "__file__": file, **self.scope}
                status = _executed(self._compiled, scope)
            texts = [stream.getvalue().decode(errors="replace") for stream in (out, errors)]
            if any(len(text) > MAX_TEXT for text in texts):
                raise Unsendable(f"it wrote more than {MAX_TEXT} characters")
            return Program(texts[0], texts[1], status, _left_in(place, files, known))

    def _forget_own_modules(self) -> None:
        """Have a program import its own modules again, as a new process would."""
        for name, module in list(sys.modules.items()):
            place = getattr(module, "__file__", None) or ""
            if belongs_to(place, self._folder) and not name.startswith(PROVIDED):
                del sys.modules[name]


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
        files: what lies in its folder afterwards, by path, except those given and unchanged.
    """

    output: str
    errors: str
    status: int
    files: dict[str, bytes]

    def value(self) -> Value:
        """Return the value that stands for it."""
        return dict(vars(self))

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
