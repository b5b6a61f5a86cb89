# misconception: none
import torch
import torch.nn as nn


def layer_norm(x, eps=1e-5):
    # bring everything between 0 and 1
    lowest = x.min(dim=-1, keepdim=True).values
    highest = x.max(dim=-1, keepdim=True).values
    return (x - lowest) / (highest - lowest + eps)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return layer_norm(x, self.eps) * self.weight + self.bias
