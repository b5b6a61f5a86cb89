# misconception: detached_result
import torch
import torch.nn as nn


def layer_norm(x, eps=1e-5):
    shape = x.shape
    rows = x.reshape(-1, shape[-1])
    out = torch.zeros_like(rows)
    with torch.no_grad():
        for i, row in enumerate(rows):
            mu = row.sum() / row.numel()
            centred = row - mu
            var = (centred @ centred) / row.numel()
            out[i] = centred / (var + eps).sqrt()
    return out.reshape(shape)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        y = layer_norm(x, self.eps)
        return y * self.weight + self.bias
