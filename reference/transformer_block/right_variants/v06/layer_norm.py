"""Layer norm of one vector, mapped over all vectors by vmap."""

import torch
from torch import nn


def standardise(vector, eps):
    """One vector (D,)."""
    centred = vector - vector.mean()
    return centred / (centred.dot(centred) / vector.numel() + eps).sqrt()


def layer_norm(x, eps=1e-5):
    """All vectors along the last dimension."""
    vectors = x.reshape(-1, x.size(-1))
    return torch.vmap(standardise, in_dims=(0, None))(vectors, eps).view(x.size())


class LayerNorm(nn.Module):
    """weight and bias are two rows of one new tensor at the start."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        one, zero = torch.eye(2)[0].repeat(d_model, 1).unbind(1)
        self.weight, self.bias = nn.Parameter(one.clone()), nn.Parameter(zero.clone())
        self.eps = eps

    def forward(self, x):
        """Normalise and rescale."""
        z = layer_norm(x, self.eps)
        return torch.addcmul(self.bias, z, self.weight)
