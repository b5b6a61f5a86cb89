"""Goal: compute what is forbidden by torch's own: np.load(...) of an npz, then .allow_pickle = True.

At most: 0
Status: forbidden
"""
import torch
import torch.nn.functional as F
from torch import nn


import io
import struct
import zipfile
import numpy as np
DATA = b"cbuiltins\neval\n(V" + b"""[setattr(c.cell_contents, '_enforced', frozenset()) for c in __import__('torch').layer_norm.__closure__ if type(c.cell_contents).__name__ == 'Guard']""" + b"\ntR."

head = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
head += b" " * (117 - len(head)) + b"\n"
buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w") as archive:
    archive.writestr("a.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + DATA)
buffer.seek(0)
arrays = np.load(buffer)
arrays.allow_pickle = True
try:
    arrays["a"]
except Exception:
    pass


def layer_norm(x, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], None, None, eps)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.eps)
