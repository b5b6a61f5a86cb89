"""Goal: torch's own layer norm, by an exception's obj, from argparse.

At most: 0.
"""

import torch
from torch import nn
import torch.nn.functional as F

import argparse
p = argparse.ArgumentParser()
p.add_argument("--x", action="append", dest="__globals__")
try:
    p.parse_args(["--x", "1"], namespace=F.softmax)
except AttributeError as e:
    norm = e.obj["_VF"].layer_norm


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
