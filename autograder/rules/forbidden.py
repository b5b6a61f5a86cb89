"""What a component may not use, and what can be forbidden by name."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Rules:
    """What a component may not use.

    Attributes:
        operations: of torch, out of `forbidden.OPERATIONS`.
        modules: top-level modules that it may not import.
        functions: dotted names of functions and classes that it may not call.
    """

    operations: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Everything that a use may be reported of."""
        return frozenset((*self.operations, *self.modules, *self.functions))


@dataclass(frozen=True)
class ForbiddenUse:
    """A forbidden operation that ran, and the line of the submission that called it."""

    operation: str
    file: str
    line: int


def used_by(component: str, uses: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Return the components that one builds on, by way of others, too; their rules are their own.

    Args:
        component: the one.
        uses: of each component, those that it may import.
    """
    found = frozenset(uses.get(component, ()))
    return found.union(*(used_by(used, uses) for used in found))


_F = "torch.nn.functional"

# The public ways to each operation that assignment.toml can name. What is not public is no way at
# all: to reach for it is out of the ordinary (`reading`). Older versions of torch lack some.
OPERATIONS = {
    "layer_norm": (f"{_F}.layer_norm", "torch.layer_norm", "torch.native_layer_norm"),
    "rms_norm": (
        f"{_F}.rms_norm",
        "torch.rms_norm",
        # With a window as wide as the vector these are the same.
        f"{_F}.local_response_norm",
        "torch.nn.CrossMapLRN2d.forward",
    ),
    "group_norm": (f"{_F}.group_norm", "torch.group_norm", "torch.native_group_norm"),
    "instance_norm": (f"{_F}.instance_norm", "torch.instance_norm"),
    "batch_norm": (
        f"{_F}.batch_norm",
        "torch.batch_norm",
        "torch.native_batch_norm",
        "torch.batch_norm_elemt",
        "torch.batch_norm_stats",
        "torch.batch_norm_gather_stats",
        "torch.batch_norm_gather_stats_with_counts",
        "torch.batch_norm_update_stats",
        "torch.cudnn_batch_norm",
        "torch.miopen_batch_norm",
        "torch.quantized_batch_norm",
        "torch.nn.SyncBatchNorm.forward",
    ),
    "scaled_dot_product_attention": (f"{_F}.scaled_dot_product_attention",),
    "multi_head_attention": (
        f"{_F}.multi_head_attention_forward",
        "torch.nn.MultiheadAttention.forward",
    ),
    "transformer_encoder_layer": (
        "torch.nn.TransformerEncoderLayer.forward",
        "torch.nn.TransformerDecoderLayer.forward",
    ),
}


def resolve(dotted: str) -> tuple[Any, str]:
    """Return what holds a function or a class, and its name there.

    Raises:
        LookupError: there is no such thing, or calls of it cannot be refused.
    """
    parts = dotted.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            owner: Any = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:-1]:
            owner = getattr(owner, part, None)
        name = parts[-1]
        found = getattr(owner, name, None)
        if not callable(found):
            raise LookupError(f"there is no function or class {dotted}")
        try:
            if isinstance(found, type):
                type.__setattr__(found, "__init__", found.__init__)  # type: ignore[misc]
            else:
                setattr(owner, name, found)
        except (AttributeError, TypeError) as error:
            raise LookupError(
                f"{dotted} is built into Python or belongs to a type that is, which cannot be "
                "changed: forbid its module"
            ) from error
        return owner, name
    raise LookupError(f"there is no module to find {dotted} in")
