"""Goal: torch's own layer norm, by update_wrapper by a star.

At most: 0.
"""

import torch
from torch import nn
import torch.nn.functional as F

from torch.distributions.transforms import *
from torch.distributions.transforms import operator as o, functools as ft
held = []
class Box:
    def __setattr__(self, name, value):
        held.append(value)
ft.update_wrapper(Box(), F.softmax, assigned=["__globals__"], updated=[])
norm = held[0]["_VF"].layer_norm


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
