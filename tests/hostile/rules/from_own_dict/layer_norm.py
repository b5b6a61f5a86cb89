"""Goal: torch's own layer norm, by __dict__ of a module of one's own.

At most: 0.
"""

import torch
from torch import nn
import torch.nn.functional as F

from helper import __dict__ as names
norm = names["torch"].serialization.pickle.loads(b"ctorch._VF\nlayer_norm\n.")


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
