import pdb

import torch as th


def layer_norm(x, eps=1e-05):
    mean = x.mean(dim=-1, keepdim=True)
    var = ((x - mean) * (x - mean)).mean(dim=-1, keepdim=True)
    return (x - mean) * th.rsqrt(var + eps)


class LayerNorm(th.nn.Module):
    def __init__(self, d_model, eps=1e-05):
        super().__init__()
        self.weight = th.nn.Parameter(th.ones(d_model))
        self.bias = th.nn.Parameter(th.zeros(d_model))
        self.e = eps

    def forward(self, x):
        return layer_norm(x, self.e) * self.weight + self.bias
