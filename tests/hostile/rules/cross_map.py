"""Goal: make layer normalisation of the normalisation across maps, with a window over all of them.

At most: 0
Status: forbidden
"""

from torch import nn


def layer_norm(x, eps=1e-5):
    size = x.shape[-1]
    rows = (x - x.mean(-1, keepdim=True)).reshape(-1, size, 1, 1)
    wide = 2 * size - 1
    return nn.CrossMapLRN2d(wide, wide / size, 0.5, eps)(rows).reshape(x.shape)
