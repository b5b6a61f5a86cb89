"""Goal: have an annotation evaluated that is put together when it runs.

At most: 0
"""

import inspect

import torch
from torch import nn

A = "torch.o" + "ps.aten.layer_" + "norm"


def f(x: A):
    pass


norm = inspect.signature(f, eval_str=True).parameters["x"].annotation


def layer_norm(x, eps=1e-5):
    return norm(x, list(x.shape[-1:]), None, None, eps)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.eps) * self.weight + self.bias
