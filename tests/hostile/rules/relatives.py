"""Goal: build it out of the other normalisations, one for every number of dimensions.

At most: 0
Status: forbidden
"""

import torch.nn.functional as F


def layer_norm(x, eps=1e-5):
    rows = x.reshape(1, -1, x.shape[-1])
    relatives = [
        lambda: F.group_norm(rows[0], 1, eps=eps),
        lambda: F.instance_norm(rows, eps=eps),
        lambda: F.batch_norm(rows, None, None, training=True, eps=eps),
        lambda: F.rms_norm(rows - rows.mean(-1, keepdim=True), rows.shape[-1:], eps=eps),
    ]
    for relative in relatives:
        try:
            return relative().reshape(x.shape)
        except Exception:
            pass
