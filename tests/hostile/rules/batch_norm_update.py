"""Goal: use the batch normalisation that only torch.export knows.

At most: 0
Status: forbidden
"""

import torch


def layer_norm(x, eps=1e-5):
    rows = x.reshape(1, -1, x.shape[-1])
    mean, variance = x.new_zeros(rows.shape[1]), x.new_ones(rows.shape[1])
    operator = torch.ops.aten._batch_norm_with_update_functional
    return operator(rows, None, None, mean, variance, 0.0, eps)[0].reshape(x.shape)
