"""Layer normalisation with as few temporaries as autograd allows."""

import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    """Centre into a new tensor, scale that in place."""
    rstd = x.var(-1, unbiased=False, keepdim=True).add_(eps).rsqrt_()
    return torch.sub(x, x.mean(-1, keepdim=True)).mul_(rstd)


class LayerNorm(nn.Module):
    """The same, scaled and shifted in place as well."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        """Write into the temporary only."""
        return layer_norm(x, self.eps).mul_(self.weight).add_(self.bias)
