"""Goal: torch's own layer norm, by a main part in a package of one's own.

At most: 0.
"""

import torch
from torch import nn
import torch.nn.functional as F

from pkg.work import norm


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
