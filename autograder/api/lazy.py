"""torch, imported at its first use: an assignment without tensors runs without it."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch
    from torch import Tensor as Tensor
else:
    # For annotations alone; `torch.Tensor` is what an object can be an instance of.
    Tensor = Any

    class _Nothing:
        """Stands for torch's classes until torch is imported: no object is one of theirs."""

    # As torch.nn.
    _Nothing.Module = _Nothing.Embedding = _Nothing

    class _Torch:
        """Finds the names of torch. To ask whether an object is a tensor does not import it."""

        def __getattr__(self, name: str) -> Any:
            if name in ("Tensor", "Size", "dtype", "nn") and not loaded():
                return _Nothing
            found = getattr(importlib.import_module("torch"), name)
            setattr(self, name, found)
            return found

    torch = _Torch()


def loaded() -> bool:
    """Return whether torch is imported."""
    return hasattr(sys.modules.get("torch"), "Tensor")


def load_for_good() -> None:
    """Import torch, and exclude all objects that exist then from garbage collection.

    pytest and Hypothesis look for garbage several times in a run, which takes a sixth of a second
    each time, for torch's objects alone. Does nothing if torch or Hypothesis is loaded already.
    """
    # Hypothesis asks what refers to its own objects; excluded objects would not be named.
    if loaded() or "hypothesis" in sys.modules:
        return
    was_enabled = gc.isenabled()
    gc.disable()
    # A torch that cannot be imported is told of where it is first used.
    with contextlib.suppress(Exception):
        importlib.import_module("torch")
        gc.freeze()
    if was_enabled:
        gc.enable()


@functools.cache
def name_of(dtype: object) -> str:
    """Return the name of a dtype of torch or numpy: "float32"."""
    return str(dtype).removeprefix("torch.")
