"""Feed-forward layer with checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch
from guards import Activation, BadDimensionError, Sizes, advise, xavier
from torch import Tensor, nn
from torch.nn import functional as F

FUNCTIONS: Mapping[Activation, Callable[[Tensor], Tensor]] = MappingProxyType(
    {Activation.RELU: F.relu, Activation.GELU: F.gelu}
)


def memory_lookup(x: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Look x up in a memory of keys (F, D) and values (F, Dv)."""
    match (x.shape[-1:], keys.shape, values.shape):
        case ((features,), (slots, width), (slots_too, _)) if (features, slots) == (
            width,
            slots_too,
        ):
            return F.relu(F.linear(x, weight=keys)).matmul(values)
        case shapes:
            raise BadDimensionError(f"x, keys and values do not fit: {shapes}")


class FeedForward(nn.Module):
    """Expand, activate, drop, contract."""

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        dropout: float = 0.1,
        activation: str = "relu",
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.sizes = Sizes(d_model=d_model, d_ff=d_ff, dropout=dropout, bias=bias)
        self.activation = Activation(activation)
        if d_ff < d_model:
            advise(f"d_ff={d_ff} is less than d_model={d_model}; usually it is four times as much")
        self.linear1 = nn.Linear(d_model, d_ff, bias=bias)
        self.linear2 = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)
        self.linear1.register_forward_hook(self._look)
        self.reset_parameters()

    @staticmethod
    @torch.no_grad()
    def _look(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        """Do nothing, for now."""

    def reset_parameters(self) -> None:
        """Draw new weights."""
        xavier(self.linear1, self.linear2)

    def extra_repr(self) -> str:
        """Show the activation."""
        return f"activation={self.activation.value}"

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layers in their order."""
        hidden = FUNCTIONS[self.activation](self.linear1(x))
        return self.linear2(self.dropout(hidden))
