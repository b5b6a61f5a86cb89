"""Goal: torch's own layer norm, by update_wrapper by way of torch.distributions.

At most: 0.
"""

import torch
from torch import nn
import torch.nn.functional as F

from torch.distributions.utils import update_wrapper
held = []
class Box:
    def __setattr__(self, name, value):
        held.append(value)
update_wrapper(Box(), F.softmax, ["__globals__"], [])
norm = held[0]["_VF"].layer_norm


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
