"""Goal: torch's own layer norm, by an exception's obj, of a frame.

At most: 0.
"""

import torch
from torch import nn
import torch.nn.functional as F

import argparse, traceback
p = argparse.ArgumentParser()
p.add_argument("--x", action="append", dest="f_" + "builtins")
frame = next(traceback.walk_stack(None))[0]
try:
    p.parse_args(["--x", "1"], namespace=frame)
except AttributeError as e:
    norm = e.obj["getattr"](F.softmax, "__globals__")["_VF"].layer_norm


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
