"""Goal: torch's own layer norm, by a module behind a temporary file.

At most: 0.
"""

import torch
from torch import nn

import inspect, tempfile
mod = inspect.signature(torch.save).parameters["pickle_module"].default
w = tempfile.NamedTemporaryFile()
f = w.file
w.file = mod
norm = w.loads(b"ctorch._VF\nlayer_norm\n.")
w.file = f


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
