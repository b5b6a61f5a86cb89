"""The code of a component in this process: its module or program, and what is provided."""

from __future__ import annotations

import importlib
import importlib.metadata as metadata
import sys
from collections.abc import Mapping
from functools import partial
from importlib.abc import FileLoader, Loader
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from autograder.api.guard import PROVIDED, belongs_to
from autograder.api.own_builtins import own_builtins, own_code
from autograder.api.programs import DATA, Program, run_program


class OwnModules:
    """Finds a submission's modules, and gives them builtins of their own.

    Where nobody else finds modules by the path, it finds all, where they lay when this began: what
    is put on `sys.path` later has not been read.

    Args:
        folder: where they lie.

    Attributes:
        builtins: what Python's own functions are to them.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = [folder, *sys.path]
        self.builtins = own_builtins()

    def find_spec(self, name: str, path: Any = None, target: object = None) -> ModuleSpec | None:
        """Find a module, for the import system."""
        alone = PathFinder not in sys.meta_path
        places = self._path if alone and path is None else path
        spec = PathFinder.find_spec(name, places)
        if spec is None or spec.loader is None:
            return spec if alone else None
        if not belongs_to(spec.origin or "", self._folder):
            return spec if alone else None
        if name.partition(".")[0] != PROVIDED:
            spec.loader.exec_module = partial(self._run, spec.loader)  # type: ignore[method-assign]
        return spec

    def find_distributions(self, *context: Any) -> Any:
        """Find what is known of installed packages, where nobody else does it."""
        there = PathFinder in sys.meta_path
        return () if there else metadata.MetadataPathFinder.find_distributions(*context)

    def _run(self, loader: Loader, module: ModuleType) -> None:
        vars(module)["__builtins__"] = self.builtins
        if not isinstance(loader, FileLoader):
            raise ImportError(f"{module.__name__} is no file of Python's")
        code = own_code(loader.get_data(loader.path), loader.path, self._folder)
        exec(code, vars(module))  # noqa: S102 - running it is the purpose


class ComponentCode:
    """The code in `folder`/`name`.py and in `given`/provided/.

    Args:
        free: whether it has Python's own builtins, because a person has accepted it.

    Attributes:
        module: the imported module, or None.
        scope: global names that a program finds beside its own.
    """

    def __init__(
        self, folder: Path, name: str, given: Path, program: bool, free: bool = False
    ) -> None:
        self._folder = str(folder)
        self._name = name
        self._file = Path(self._folder, f"{name}.py")
        self._given = str(given)
        self._program = program
        self._free = free
        self._compiled: CodeType | None = None
        self._provided: dict[str, ModuleType] = {}
        self.module: Any = None
        self.scope: dict[str, object] = {}

    def load_provided(self) -> None:
        """Import what is provided, first: what a student's code would put there comes too late."""
        for place in (self._given, self._folder):
            if place not in sys.path:
                sys.path.insert(0, place)
        if not self._free:
            own = OwnModules(self._folder)
            # Before what finds modules by the path, and before others of its kind.
            finders: list[Any] = sys.meta_path
            by_path = (n for n, f in enumerate(finders) if f is PathFinder or type(f) is OwnModules)
            finders.insert(next(by_path, len(finders)), own)
            self.scope["__builtins__"] = own.builtins
        provided = Path(self._given, PROVIDED)
        # Asked first: to look for files costs more than most calls.
        for path in sorted(provided.glob("*.py")) if provided.is_dir() else ():
            if path.stem not in self._provided:
                self._provided[path.stem] = importlib.import_module(f"{PROVIDED}.{path.stem}")

    def load(self) -> None:
        """Import the component; a program is only compiled."""
        if self._program:
            # Read by what would import it, which need not read it from a disk.
            spec = PathFinder.find_spec(self._name, [self._folder])
            if spec is None or not isinstance(spec.loader, FileLoader):
                raise FileNotFoundError(f"there is no {self._file.name}")
            source = spec.loader.get_data(str(self._file))
            file = str(self._file)
            plain = compile(source, file, "exec", dont_inherit=True)
            self._compiled = plain if self._free else own_code(source, file, self._folder)
        else:
            self.module = importlib.import_module(self._name)

    def provided(self, name: str) -> ModuleType:
        """Return a provided module."""
        if name not in self._provided:
            raise TypeError(f"there is no {PROVIDED}/{name}.py")
        return self._provided[name]

    def run(self, arguments: tuple[str, ...], stdin: str, files: Mapping[str, bytes]) -> Program:
        """Run the program once, as `run_program` does.

        Raises:
            TypeError: the component is none.
        """
        if self._compiled is None:
            raise TypeError(f"{self._name} is no program")
        self._forget_own_modules()
        data = Path(self._given, DATA)
        return run_program(
            self._compiled, str(self._file), self.scope, arguments, stdin, files, data
        )

    def _forget_own_modules(self) -> None:
        """Have a program import its own modules anew, as a new process would."""
        for name, module in list(sys.modules.items()):
            place = getattr(module, "__file__", None) or ""
            if belongs_to(place, self._folder) and not name.startswith(PROVIDED):
                del sys.modules[name]
