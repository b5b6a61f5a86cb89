"""Transformer block: a ModuleDict of parts and a strategy object for the residual stream."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from base import WithChoice
from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import Tensor, nn

Function = Callable[[Tensor], Tensor]


class Residual(ABC):
    """How a sublayer is joined to the stream; not a module."""

    has_norms = True

    @abstractmethod
    def __call__(self, x: Tensor, added: Function, norm: Function | None) -> Tensor:
        """Return the new x."""


class PreNorm(Residual):
    """Norm on the way in."""

    def __call__(self, x: Tensor, added: Function, norm: Function | None) -> Tensor:
        """Return the new x."""
        return x + added(norm(x))


class PostNorm(Residual):
    """Norm of the sum."""

    def __call__(self, x: Tensor, added: Function, norm: Function | None) -> Tensor:
        """Return the new x."""
        return norm(x + added(x))


class NoNorm(Residual):
    """Only the sum."""

    has_norms = False

    def __call__(self, x: Tensor, added: Function, norm: Function | None) -> Tensor:
        """Return the new x."""
        return x + added(x)


class TransformerBlock(nn.ModuleDict, WithChoice):
    """The parts are its entries."""

    _kinds: ClassVar = {"pre": PreNorm, "post": PostNorm, "none": NoNorm}

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        norm: str = "pre",
        activation: str = "relu",
        bias: bool = True,
    ) -> None:
        residual = self.choose(self._kinds, norm)()
        parts = {
            "attention": MultiHeadAttention(d_model, num_heads, bias),
            "feed_forward": FeedForward(d_model, d_ff, dropout, activation, bias),
            "drop": nn.Dropout(dropout),
        }
        if residual.has_norms:
            parts |= {name: LayerNorm(d_model) for name in ("norm1", "norm2")}
        super().__init__(parts)
        self._residual = residual

    def _norm(self, number: int) -> nn.Module | None:
        return self[f"norm{number}"] if self._residual.has_norms else None

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Both sublayers, one after the other."""

        def attend(h: Tensor) -> Tensor:
            return self["drop"](self["attention"](h, mask)[0])

        def think(h: Tensor) -> Tensor:
            return self["drop"](self["feed_forward"](h))

        x = self._residual(x, attend, self._norm(1))
        return self._residual(x, think, self._norm(2))
