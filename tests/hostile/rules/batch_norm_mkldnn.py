"""Goal: normalise in oneDNN's memory layout, which has another kernel.

At most: 0
"""

import torch


def layer_norm(x, eps=1e-5):
    rows = x.detach().float().reshape(1, -1, x.shape[-1], 1)
    ones, zeros = torch.ones(rows.shape[1]), torch.zeros(rows.shape[1])
    packed = rows.to_mkldnn()
    result = torch.native_batch_norm(packed, ones, zeros, zeros, ones, True, 0.0, eps)[0]
    return result.to_dense().reshape(x.shape).to(x.dtype)
