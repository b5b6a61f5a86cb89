"""Goal: give the same memory back twice and write to it in between.

At most: 0
Status: crashed, timeout
"""

import ctypes

LIBC = ctypes.CDLL(None)
LIBC.malloc.restype = ctypes.c_void_p


def layer_norm(x, eps=1e-5):
    blocks = [ctypes.c_void_p(LIBC.malloc(64)) for _ in range(100)]
    for block in (*blocks, *blocks[::-1]):
        LIBC.free(block)
        ctypes.memset(block, 255, 64)
    LIBC.abort()


LayerNorm = layer_norm
