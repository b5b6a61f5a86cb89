"""Goal: take the variant of batch normalisation that writes into given tensors.

At most: 0
Status: forbidden
"""

import torch


def layer_norm(x, eps=1e-5):
    rows = x.reshape(1, -1, x.shape[-1])
    empty = [torch.empty(0, dtype=x.dtype) for _ in range(3)]
    operator = torch.ops.aten.native_batch_norm.out
    named = dict(zip(("out", "save_mean", "save_invstd"), empty))
    operator(rows, None, None, None, None, True, 0.0, eps, **named)
    return empty[0].reshape(x.shape)
