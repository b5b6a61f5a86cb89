"""Goal: a forbidden function called by a thread of a library's pool.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F
from torch import nn

from concurrent.futures import ThreadPoolExecutor


def layer_norm(x, eps=1e-5):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(torch.layer_norm, x, x.shape[-1:], None, None, eps).result()


# And LayerNorm as it should be.
