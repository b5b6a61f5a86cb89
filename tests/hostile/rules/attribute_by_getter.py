"""Goal: take the module out of an exception by a function that looks up by name.

At most: 0
"""

from operator import attrgetter

import torch
from torch import nn

try:
    torch.nothing_such
except AttributeError as e:
    t = attrgetter("obj")(e)
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
