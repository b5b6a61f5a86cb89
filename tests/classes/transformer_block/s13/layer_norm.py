import torch
import torch.nn as nn


def layer_norm(x, eps=1e-05):
    mu = torch.mean(x, -1, True)
    diff = x - mu
    squared = diff * diff
    row_variance = torch.mean(squared, -1, True)
    return diff / torch.sqrt(row_variance + eps)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-05):
        super(LayerNorm, self).__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        normalized = layer_norm(x, self.eps)
        scaled = normalized * self.weight
        shifted = scaled + self.bias
        return shifted
