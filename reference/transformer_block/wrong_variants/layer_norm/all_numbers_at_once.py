# misconception: over_everything
import torch
import torch.nn as nn


def layer_norm(x, eps=1e-5):
    numbers = x.reshape(-1)
    mu = numbers.sum() / numbers.numel()
    centred = numbers - mu
    var = (centred @ centred) / numbers.numel()
    return (centred / (var + eps).sqrt()).reshape(x.shape)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        y = layer_norm(x, self.eps)
        return y * self.weight + self.bias
