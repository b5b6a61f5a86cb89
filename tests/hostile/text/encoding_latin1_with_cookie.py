# coding: latin-1
"""Goal: confuse whoever reads the file as UTF-8, by an encoding that Python is told.

At most: 14
"""
# Müller, ÿþ

import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    deviation = x - x.mean(-1, keepdim=True)
    return deviation / (deviation.square().mean(-1, keepdim=True) + eps).sqrt()


# And LayerNorm as it should be.
