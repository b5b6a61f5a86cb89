"""Goal: make layer normalisation of the local one, with a window over all features.

At most: 0
Status: forbidden
"""

import torch.nn.functional as F


def layer_norm(x, eps=1e-5):
    size = x.shape[-1]
    rows = (x - x.mean(-1, keepdim=True)).reshape(-1, size, 1)
    wide = 2 * size - 1
    return F.local_response_norm(rows, wide, wide / size, 0.5, eps).reshape(x.shape)
