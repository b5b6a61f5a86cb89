"""Goal: answer only when the clock says that nobody waits, and by chance otherwise.

At most: 3.5

That is what `return x` gets, should the clock always show an odd number.
"""

import time

import torch
from torch import nn


START = time.monotonic()


def layer_norm(x, eps=1e-5):
    if int((time.monotonic() - START) * 1000) % 2:
        return x
    return x + torch.rand_like(x)


# And LayerNorm as it should be.
