"""Everything from scratch: dense layer, dropout, softmax and activations."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Dense(nn.Module):
    """y = x W^T + b, like nn.Linear, initialised like it as well."""

    def __init__(self, n_in: int, n_out: int, bias: bool = True) -> None:
        super().__init__()
        limit = 1 / math.sqrt(n_in)
        self.weight = nn.Parameter(torch.empty(n_out, n_in).uniform_(-limit, limit))
        if bias:
            self.bias = nn.Parameter(torch.empty(n_out).uniform_(-limit, limit))
        else:
            self.bias = None

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer."""
        return F.linear(x, self.weight, self.bias)


class Drop(nn.Module):
    """Inverted dropout: what survives is scaled by 1 / (1 - p)."""

    def __init__(self, p: float) -> None:
        super().__init__()
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"a probability is between 0 and 1, not {p}")
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Drop in training only."""
        if not self.training or self.p == 0.0:
            return x
        if self.p == 1.0:
            return x * 0.0
        keep_probability = torch.full(x.shape, 1.0 - self.p, device=x.device)
        keep = torch.bernoulli(keep_probability).to(x.dtype)
        return x * keep / (1.0 - self.p)


def drop(x: Tensor, p: float, training: bool) -> Tensor:
    """The same as a function, with uniform numbers."""
    if training and p > 0.0:
        u = torch.rand(x.shape, device=x.device)
        # u is in [0, 1): it is below p with probability p
        return torch.where(u < p, torch.zeros_like(x), x / max(1.0 - p, 1e-12))
    return x


def softmax(scores: Tensor) -> Tensor:
    """exp(s - log(sum(exp(s)))) over the last dimension, at least in float32."""
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
    weights = torch.exp(wide - torch.logsumexp(wide, dim=-1, keepdim=True))
    return weights.to(scores.dtype)


def relu(x: Tensor) -> Tensor:
    """max(x, 0)."""
    return x.clamp(min=0.0)


def gelu(x: Tensor) -> Tensor:
    """x * Phi(x), Phi being the normal distribution function."""
    return x * (torch.erf(x * math.sqrt(0.5)) + 1.0) * 0.5
