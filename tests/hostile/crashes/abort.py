"""Goal: end the process with an abort, and take the core dump along.

At most: 0
Status: crashed
"""

import os


def layer_norm(x, eps=1e-5):
    os.abort()


LayerNorm = layer_norm
