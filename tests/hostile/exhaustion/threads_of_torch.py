"""Goal: have torch itself start a hundred thousand threads.

At most: 0
Status: graded, crashed, timeout
"""

import torch


def layer_norm(x, eps=1e-5):
    torch.set_num_threads(100_000)
    big = torch.ones(1000, 1000)
    torch.exp(big) @ big
    raise RuntimeError("survived")


LayerNorm = layer_norm
