"""Goal: read from address 0.

At most: 0
Status: crashed
"""

import ctypes


def layer_norm(x, eps=1e-5):
    return ctypes.string_at(0)


LayerNorm = layer_norm
