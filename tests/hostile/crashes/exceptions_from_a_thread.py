"""Goal: raise exceptions in the thread that talks to the judge, at any place.

At most: 14
"""

import ctypes
import threading
import time

import torch
from torch import nn

RAISE = ctypes.pythonapi.PyThreadState_SetAsyncExc


def disturb(thread=threading.main_thread().ident):
    while True:
        time.sleep(0.001)
        RAISE(ctypes.c_ulong(thread), ctypes.py_object(SystemExit))


threading.Thread(target=disturb, daemon=True).start()


def layer_norm(x, eps=1e-5):
    deviation = x - x.mean(-1, keepdim=True)
    return deviation / (deviation.square().mean(-1, keepdim=True) + eps).sqrt()


# And LayerNorm as it should be.
