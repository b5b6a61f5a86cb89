"""Imports of the suite's files: in the place of a component's modules they get proxies."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.util
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.proxies.examiner import Examiner
from autograder.proxies.loans import CannotCross
from autograder.proxies.proxy import ProxyModule, TypeOfSuite, super_of_suite


def _refused(name: str) -> Callable[..., Any]:
    """Return what stands in the place of a function that would run what a component answers."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise CannotCross(f"{name}(...) would run what a component answers: compare values instead")

    return refuse


class Imports:
    """Imports for the suite's files: in the place of the component's modules they get proxies.

    Args:
        examiner: whose component it is.
        given: further modules for the suite's files, by name; an error is raised in its place.
        folders: where the suite's files lie.
    """

    def __init__(
        self, examiner: Examiner, given: Mapping[str, Any], folders: Sequence[Path] = ()
    ) -> None:
        self._examiner = examiner
        self._folders = folders
        self._given = given
        self._modules: dict[str, ProxyModule] = {}
        self._import = builtins.__import__
        self._import_module = importlib.import_module

    @contextlib.contextmanager
    def replaced(self) -> Iterator[None]:
        """Give the suite's files builtins of their own; no other code ever gets a proxy."""
        owners: list[Any] = [importlib.util, vars(importlib)["_bootstrap"]]
        make = importlib.util.module_from_spec
        self._builtins = {
            **vars(builtins),
            "__import__": self._imported,
            "super": super_of_suite,
            "type": TypeOfSuite,
            **{name: _refused(name) for name in ("eval", "exec", "compile")},
        }

        def made(spec: Any) -> types.ModuleType:
            module = make(spec)
            if spec.origin and self._examiner.loans.is_own_file(spec.origin):
                vars(module)["__builtins__"] = self._builtins
            return module

        for owner in owners:
            owner.module_from_spec = made
        importlib.import_module = self._imported_module
        try:
            yield
        finally:
            for owner in owners:
                owner.module_from_spec = make
            importlib.import_module = self._import_module

    def _imported(
        self,
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        if self._is_of_suite(globals):
            name, level = self._beside_tests(name, globals, level, fromlist or ())
        if level == 0 and self._is_for_suite(name, globals):
            found = self._module(name)
            return found if fromlist else self._module(name.partition(".")[0])
        return self._import(name, globals, locals, fromlist, level)

    def _beside_tests(
        self, name: str, scope: Any, level: int, fromlist: Sequence[str]
    ) -> tuple[str, int]:
        """Return an import of a component from the tests' own package as that of the component."""
        if level:
            package = (scope or {}).get("__package__") or ""
            whole = importlib.util.resolve_name("." * level + name, package) if package else ""
        else:
            whole = name
        top, _, inner = whole.partition(".")
        if top == "tests" and not inner:
            for component in set(fromlist).intersection(self._examiner.names):
                setattr(sys.modules[top], component, self._module(component))
        is_own = any((folder / f"{inner}.py").is_file() for folder in self._folders)
        is_component = top == "tests" and inner.partition(".")[0] in self._examiner.names
        return (inner, 0) if is_component and not is_own else (name, level)

    def _imported_module(self, name: str, package: str | None = None) -> Any:
        frame = sys._getframe(1)
        if not name.startswith(".") and self._is_for_suite(name, frame.f_globals):
            return self._module(name)
        return self._import_module(name, package)

    def _is_for_suite(self, name: str, scope: Any) -> bool:
        top = name.partition(".")[0]
        if top not in self._examiner.names and top not in self._given:
            return False
        return self._is_of_suite(scope)

    def _is_of_suite(self, scope: Any) -> bool:
        file = (scope or {}).get("__file__")
        return isinstance(file, str) and self._examiner.loans.is_own_file(file)

    def _module(self, name: str) -> Any:
        if name in self._given:
            found = self._given[name]
            if isinstance(found, ImportError):
                raise found
            return found
        if name not in self._modules:
            _, _, inner = name.partition(".")
            self._modules[name] = ProxyModule(name, self._examiner)
            if inner:
                self._examiner.ask("import", name, self._modules[name])
                owner, _, last = name.rpartition(".")
                object.__setattr__(self._module(owner), last, self._modules[name])
        return self._modules[name]
