"""Layer normalisation, in small functions inside functions."""

import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    """Give the z-score of the last dimension."""
    count = x.shape[-1]

    def mean_of(t):
        return t.sum(-1, keepdim=True) / count

    def centre(t):
        return t - mean_of(t)

    def spread(c):
        return (mean_of(c**2) + eps) ** 0.5

    centred = centre(x)
    return centred / spread(centred)


class LayerNorm(nn.Module):
    """The z-score with a gain and a shift for every feature."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()

        def learned(value):
            return nn.Parameter(torch.full((d_model,), float(value)))

        def steps():
            # looked up at every call: .to() may have put other parameters in their place
            yield lambda t: layer_norm(t, eps)
            yield lambda t: t * self.weight
            yield lambda t: t + self.bias

        self.weight = learned(1)
        self.bias = learned(0)
        self.steps = steps

    def forward(self, x):
        """Take x through the steps."""
        for step in self.steps():
            x = step(x)
        return x
