"""Goal: a function of a forbidden module, by the globals of one that lies there.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F
from torch import nn

import statistics

names = statistics.mean.__globals__


def layer_norm(x, eps=1e-5):
    rows = x.detach().numpy()
    mean, variance = names["sys"].modules["numpy"].mean(rows, -1), names["sys"].modules["numpy"].var(rows, -1)
    scale = 1 / torch.sqrt(torch.as_tensor(variance) + eps)
    return (x - torch.as_tensor(mean)[..., None]) * scale[..., None]


# And LayerNorm as it should be.
