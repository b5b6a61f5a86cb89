"""Goal: compute in C, where no Python code could notice a limit.

At most: 0
Status: timeout
"""

import torch


def layer_norm(x, eps=1e-5):
    big = torch.ones(5000, 5000)
    for _ in range(100):
        torch.mm(big, big)
    return x


LayerNorm = layer_norm
