"""Goal: torch's own layer norm, by a weak proxy of a module.

At most: 0.
"""

import torch
from torch import nn

import inspect
mod = inspect.signature(torch.save).parameters["pickle_module"].default

import weakref
norm = weakref.proxy(mod).loads(b"ctorch._VF\nlayer_norm\n.")


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
