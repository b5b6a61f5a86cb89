"""Goal: torch's own layer norm, by a library's private name in a main part that is not read.

At most: 0.
"""

import torch
from torch import nn
import torch.nn.functional as F

import helper
if __name__ == "__main__":
    from torch import _VF
    norm = _VF.layer_norm


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
