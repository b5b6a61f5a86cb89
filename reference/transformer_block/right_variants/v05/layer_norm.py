"""Layer norm: var(x) = E[x^2] - E[x]^2, in double precision because of the cancellation."""

import torch
from torch import nn


def layer_norm(x, eps: float = 1e-5):
    """z = (x - E[x]) / sqrt(E[x^2] - E[x]^2 + eps)."""
    wide = x.double()
    # A shift does not change z, but keeps both moments small.
    wide = wide - wide[..., :1].detach()
    first = wide.mean(-1, keepdim=True)
    second = wide.square().mean(-1, keepdim=True)
    variance = (second - first.square()).clamp(min=0)
    return ((wide - first) * torch.rsqrt(variance + eps)).to(x.dtype)


class LayerNorm(nn.Module):
    """The affine version takes both moments from torch.var_mean."""

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        """Write weight * z + bias as x * gain + offset, where gain = weight / sigma."""
        wide, weight, bias = x.double(), self.weight.double(), self.bias.double()
        variance, mean = torch.var_mean(wide, dim=-1, correction=0, keepdim=True)
        gain = weight * torch.rsqrt(variance + self.eps)
        offset = bias - mean * gain
        return torch.addcmul(offset, wide, gain).to(x.dtype)
