"""Errors, settings and small checks that all parts share."""

from __future__ import annotations

import contextlib
import logging
import numbers
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, unique

import torch
from torch import Tensor, nn

log = logging.getLogger("transformer")
log.addHandler(logging.NullHandler())


class BadDimensionError(ValueError):
    """A size that cannot be."""


class BadOptionError(ValueError):
    """A setting that does not exist."""


class BadTensorError(TypeError):
    """A tensor of the wrong kind."""


@unique
class Norm(str, Enum):  # noqa: UP042
    """Where the block normalises."""

    PRE = "pre"
    POST = "post"
    NONE = "none"

    @classmethod
    def _missing_(cls, value: object) -> Norm:
        raise BadOptionError(f"norm {value!r} is not one of {[m.value for m in cls]}")


@unique
class Activation(str, Enum):  # noqa: UP042
    """What the feed-forward layer does in the middle."""

    RELU = "relu"
    GELU = "gelu"

    @classmethod
    def _missing_(cls, value: object) -> Activation:
        raise BadOptionError(f"activation {value!r} is not one of {[m.value for m in cls]}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """Sizes of a module; checked when they are made."""

    d_model: int
    num_heads: int = 1
    d_ff: int = 1
    dropout: float = 0.0
    bias: bool = True

    def __post_init__(self) -> None:
        for name in ("d_model", "num_heads", "d_ff"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < 1:
                raise BadDimensionError(f"{name} must be a positive int, not {value!r}")
        if self.d_model % self.num_heads:
            raise BadDimensionError(f"{self.num_heads} heads do not divide {self.d_model} features")
        if not 0.0 <= self.dropout <= 1.0:
            raise BadOptionError(f"dropout must be a probability, not {self.dropout}")

    @property
    def d_head(self) -> int:
        """Features of one head."""
        return self.d_model // self.num_heads


def check_sequence(x: Tensor, *, features: int) -> None:
    """Insist on (B, T, features)."""
    if not x.is_floating_point():
        raise BadTensorError(f"expected floating point, not {x.dtype}")
    match tuple(x.shape):
        case (_, _, last) if last == features:
            return
        case shape:
            raise BadDimensionError(f"expected (B, T, {features}), not {shape}")


def check_mask(mask: Tensor | None, *, scores: Tensor) -> None:
    """Insist on a boolean mask that does not enlarge the scores."""
    if mask is None:
        return
    if mask.dtype is not torch.bool:
        raise BadTensorError(f"a mask must be boolean, not {mask.dtype}")
    if torch.broadcast_shapes(mask.shape, scores.shape) != scores.shape:
        raise BadDimensionError(f"mask {tuple(mask.shape)} for scores {tuple(scores.shape)}")


def xavier(*layers: nn.Linear) -> None:
    """Start the layers with Xavier's weights and without a bias."""
    for layer in layers:
        nn.init.xavier_uniform_(layer.weight)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)


def advise(text: str) -> None:
    """Warn, but never stop for it."""
    warnings.warn(text, stacklevel=3)


@contextlib.contextmanager
def traced(what: str, **facts: object) -> Iterator[None]:
    """Log what goes in and whether it came out."""
    log.debug("%s: %s", what, facts)
    try:
        yield
    except Exception:
        log.exception("%s failed", what)
        raise
    else:
        log.debug("%s done", what)
