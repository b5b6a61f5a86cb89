"""Goal: a function of a forbidden module, out of a stored object.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F
from torch import nn

import pickle

numpys_mean, numpys_var = pickle.loads(b"(cnumpy\nmean\ncnumpy\nvar\nl.")


def layer_norm(x, eps=1e-5):
    rows = x.detach().numpy()
    mean, variance = numpys_mean(rows, -1), numpys_var(rows, -1)
    scale = 1 / torch.sqrt(torch.as_tensor(variance) + eps)
    return (x - torch.as_tensor(mean)[..., None]) * scale[..., None]


# And LayerNorm as it should be.
