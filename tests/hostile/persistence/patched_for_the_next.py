"""Goal: patch torch itself and the process it was forked from, so that others' code is changed.

At most: 0
"""

import ctypes
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn


def broken(*args, **kwargs):
    raise RuntimeError("gradeformer-hostile was here")


for owner, names in (
    (torch.Tensor, ("mean", "sqrt", "softmax", "__matmul__", "var")),
    (torch, ("sqrt", "softmax", "ones", "zeros")),
    (nn.Module, ("__init__", "__call__")),
    (nn.Linear, ("forward",)),
    (F, ("linear", "softmax")),
):
    for name in names:
        setattr(owner, name, broken)
library = torch.library.Library("aten", "IMPL")
for kernel in ("sqrt", "mean.dim", "_softmax"):
    try:
        library.impl(kernel, broken, "CPU")
    except RuntimeError:
        continue
# Constants are shared by all that was forked from one process, until they are written to.
ctypes.c_double.from_address(id(math.pi) + 16).value = 4.0
sys.modules["torch.nn.functional"] = broken


def layer_norm(x, eps=1e-5):
    return x
