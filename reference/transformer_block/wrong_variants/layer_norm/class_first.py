import torch
from torch import nn


class LayerNorm(nn.Module):
    """Construct a layernorm module (see citation for details)."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        return self.weight * layer_norm(x, eps=self.eps) + self.bias


def layer_norm(x, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(std * std + eps)
