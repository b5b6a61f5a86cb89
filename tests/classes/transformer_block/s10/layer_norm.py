import torch
import torch.nn as nn


def layer_norm(x, eps=0.00001):
    # 1) mean of every row
    row_mean = torch.mean(x, -1, True)
    # 2) distance from the mean
    distance = x - row_mean
    # 3) variance = average of the squared distances
    squared = distance * distance
    row_variance = torch.mean(squared, -1, True)
    # 4) z-score, eps so that we never divide by zero
    return distance / torch.sqrt(row_variance + eps)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=0.00001):
        super(LayerNorm, self).__init__()
        # learned scale, starts at 1
        self.weight = nn.Parameter(torch.ones(d_model))
        # learned shift, starts at 0
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        normalized = layer_norm(x, self.eps)
        scaled = normalized * self.weight
        shifted = scaled + self.bias
        return shifted
