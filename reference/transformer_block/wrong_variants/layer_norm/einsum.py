"""Layer normalization, written with einsum and a vector of ones."""
import torch
from torch import nn


def _average(t):
    ones = torch.ones(t.shape[-1], dtype=t.dtype, device=t.device)
    return torch.einsum("...d,d->...", t, ones).unsqueeze(-1) / t.shape[-1]


def layer_norm(x, eps=1e-5):
    centred = x - _average(x)
    variance = _average(centred * centred)
    return centred * (variance + eps) ** -0.5


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        nn.Module.__init__(self)
        self.eps = eps
        for name, fill in (("weight", 1.0), ("bias", 0.0)):
            setattr(self, name, nn.Parameter(torch.full((d_model,), fill)))

    def forward(self, x):
        normed = layer_norm(x, self.eps)
        return torch.einsum("...d,d->...d", normed, self.weight) + self.bias
