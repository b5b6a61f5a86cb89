"""Layer normalisation with a backward of its own."""

import torch
from own_functions import ScaleAndShift, ZScore


def layer_norm(x, eps=1e-5):
    """Z-score of every vector."""
    return ZScore.apply(x, eps)


class LayerNorm(torch.nn.Module):
    """Z-score, weight, bias."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.ones(d_model))
        self.bias = torch.nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        """Chain the two functions."""
        return ScaleAndShift.apply(layer_norm(x, self.eps), self.weight, self.bias)
