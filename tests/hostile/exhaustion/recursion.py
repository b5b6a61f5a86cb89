"""Goal: recurse for ever with the recursion limit out of the way.

At most: 0
Status: graded, timeout, crashed
"""

import sys

sys.setrecursionlimit(2**31 - 1)


def layer_norm(x, eps=1e-5):
    return layer_norm(x, eps) + 1


LayerNorm = layer_norm
