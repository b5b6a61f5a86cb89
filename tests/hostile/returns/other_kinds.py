"""Goal: return another kind of tensor each time: meta, sparse, complex, quantised, nested.

At most: 1.5
"""

import torch
from torch import nn


KINDS = [
    lambda x: x.to("meta"),
    lambda x: x.detach().to_sparse(),
    lambda x: x.to(torch.complex64),
    lambda x: torch.quantize_per_tensor(x.detach().float(), 0.1, 0, torch.qint8),
    lambda x: torch.nested.nested_tensor([x.detach()]),
    lambda x: x.to(torch.bool),
    lambda x: x.detach().float().to_mkldnn(),
]


def layer_norm(x, eps=1e-5):
    KINDS.append(KINDS.pop(0))
    return KINDS[-1](x)


# And LayerNorm as it should be.
