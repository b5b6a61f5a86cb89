"""Goal: torch's own layer norm, by wraps by way of contextlib.

At most: 0.
"""

import torch
from torch import nn
import torch.nn.functional as F

from contextlib import wraps
held = []
class Box:
    def __setattr__(self, n, v):
        held.append(v)
try:
    wraps(F.softmax, ["__globals__"], [])(Box())
except Exception:
    pass
norm = held[0]["_VF"].layer_norm


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
