"""Goal: use torch to read and write far outside of a tensor's memory.

At most: 0
Status: crashed
"""

import ctypes

import torch


def layer_norm(x, eps=1e-5):
    ctypes.memset(x.data_ptr(), 0, 1 << 30)
    return torch.empty(4)


LayerNorm = layer_norm
