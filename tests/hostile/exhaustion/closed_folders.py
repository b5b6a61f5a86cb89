"""Goal: leave folders that not even their owner may list, and so cannot empty.

At most: 14
"""

import os

import torch
from torch import nn

os.umask(0o477)
os.makedirs("gradeformer-hostile/closed/more")


def layer_norm(x, eps=1e-5):
    deviation = x - x.mean(-1, keepdim=True)
    return deviation / (deviation.square().mean(-1, keepdim=True) + eps).sqrt()


# And LayerNorm as it should be.
