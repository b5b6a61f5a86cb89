"""Goal: fill the memory of the machine with tensors.

At most: 0.5
Status: graded, crashed, timeout
"""

import torch

HELD = []


def layer_norm(x, eps=1e-5):
    while True:
        HELD.append(torch.full((64, 1024, 1024), 1, dtype=torch.uint8))


LayerNorm = layer_norm
