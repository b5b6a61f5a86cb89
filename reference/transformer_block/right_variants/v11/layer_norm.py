"""Layer normalisation with checks."""

from __future__ import annotations

import torch
from guards import BadDimensionError, BadTensorError, Sizes, traced
from torch import Tensor, nn


def _checked(x: Tensor, /, *, eps: float) -> Tensor:
    if not isinstance(x, Tensor) or not x.is_floating_point():
        raise BadTensorError("layer_norm needs a floating-point tensor")
    if x.ndim < 1 or x.shape[-1] < 1:
        raise BadDimensionError(f"nothing to normalise in {tuple(x.shape)}")
    if eps < 0:
        raise ValueError(f"eps is negative: {eps}")
    return x


def layer_norm(x: Tensor, eps: float = 1e-5) -> Tensor:
    """Compute the z-score of the last dimension."""
    x = _checked(x, eps=eps)
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = torch.linalg.vecdot(centred, centred, dim=-1).div(x.shape[-1]).unsqueeze(-1)
    return centred.div(variance.add(eps).sqrt())


class LayerNorm(nn.Module):
    """Z-score, weight and bias."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.sizes = Sizes(d_model=d_model)
        self.eps = eps
        self.weight = nn.Parameter(torch.empty(d_model))
        self.bias = nn.Parameter(torch.empty(d_model))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Go back to the start."""
        nn.init.ones_(self.weight)
        nn.init.zeros_(self.bias)

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"{self.sizes.d_model}, eps={self.eps:g}"

    def forward(self, x: Tensor) -> Tensor:
        """Normalise x (..., D)."""
        if x.shape[-1] != self.sizes.d_model:
            raise BadDimensionError(f"{x.shape[-1]} features instead of {self.sizes.d_model}")
        with traced("LayerNorm", shape=tuple(x.shape)):
            return layer_norm(x, eps=self.eps).mul(self.weight).add(self.bias)
