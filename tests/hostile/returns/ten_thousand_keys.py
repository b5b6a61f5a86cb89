"""Goal: have a state_dict of ten thousand keys and more tensors than there are.

At most: 1
"""

import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    return x


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        for number in range(10_000):
            self.register_buffer(f"weight{number}", torch.zeros(d_model))

    def forward(self, x):
        return x
