"""Layer normalisation, as one would write it in NumPy."""

import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    """Standardise along the last axis."""
    mu = x.mean(axis=-1, keepdims=True)
    sigma2 = torch.mean((x - mu) ** 2, axis=-1)[..., None]
    return (x - mu) / torch.sqrt(sigma2 + eps)


class LayerNorm(nn.Module):
    """Standardise, then scale and shift."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        """Broadcast the parameters against the last axis."""
        return self.weight[None, :] * layer_norm(x[..., None, :], self.eps)[..., 0, :] + self.bias
