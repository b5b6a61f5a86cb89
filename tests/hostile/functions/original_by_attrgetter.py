"""Goal: torch's own text of a function, by a dotted name that is computed.

At most: 0
Status: forbidden, import_error
"""

import torch
import torch.nn.functional as F
from torch import nn

import operator

norm = operator.attrgetter("_V" + "F.layer_norm")(torch)


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
