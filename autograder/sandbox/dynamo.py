"""`torch._dynamo` is loaded when something needs it.

Optimizers and `torch.utils.checkpoint` import torch's compiler at their first call, only to tell it
to leave them alone. That takes nearly as long as torch itself, and grading compiles nothing. So a
module stands in its place that knows what they ask for, and loads the real one for all else.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_NAME = "torch._dynamo"
# Its settings are a module of their own, which needs none of the others.
_SETTINGS = f"{_NAME}.config"


class _Later(ModuleType):
    """Stands for the module: what is disabled stays as it is, and graphs need no break."""

    def disable(
        self, fn: Callable[..., Any] | None = None, *args: object, **options: object
    ) -> Callable[..., Any]:
        """Return the function itself, or a decorator that does."""
        return fn if fn is not None else lambda later: later

    def graph_break(self, *about: object, **options: object) -> None:
        """Break no graph, for there is none."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "config":
            return importlib.import_module(_SETTINGS)
        return getattr(_load(), name)


class _Parts(importlib.abc.MetaPathFinder):
    """Loads the whole module before a part of it: the parts import each other in its order."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a part that came with the whole; others are found as ever."""
        if not name.startswith(f"{_NAME}.") or name == _SETTINGS:
            return None
        if isinstance(sys.modules.get(_NAME), _Later):
            _load()
            if name in sys.modules:
                return importlib.util.spec_from_loader(name, _Loaded())
        return None


class _Loaded(importlib.abc.Loader):
    """Gives a module that is there already."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module."""
        return sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Run nothing: it has run."""


def load_later() -> None:
    """Put a module in place of `torch._dynamo`, unless that is loaded already."""
    import torch

    if _NAME in sys.modules:
        return
    spec = importlib.util.find_spec(_NAME)
    if spec is None or spec.submodule_search_locations is None:
        return
    module = _Later(_NAME)
    module.__spec__, module.__file__ = spec, spec.origin
    module.__path__ = list(spec.submodule_search_locations)
    sys.modules[_NAME] = module
    torch.__dict__["_dynamo"] = module
    sys.meta_path.insert(0, _Parts())


def _load() -> ModuleType:
    """Return the real module; from now on it has its place."""
    if isinstance(sys.modules.get(_NAME), _Later):
        del sys.modules[_NAME]
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Parts)]
    return importlib.import_module(_NAME)
