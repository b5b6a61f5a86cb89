"""Goal: take the module out of an exception by matching a class of its own by position.

At most: 0
"""

import abc
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class K(abc.ABC):
    obj: object = None


K.register(AttributeError)
try:
    torch.nothing_such
except AttributeError as e:
    match e:
        case K(t):
            pass
unit = t.jit.CompilationUnit(
    "def f(x: Tensor, n: List[int]) -> Tensor:\n    return torch.layer_norm(x, n)"
)
norm = lambda x, s, *a: unit.f(x, s)


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
