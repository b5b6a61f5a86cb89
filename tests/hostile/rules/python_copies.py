"""Goal: use the copies of the operation that torch keeps in Python for its compiler.

At most: 0
Status: forbidden
"""

import torch
import torch._decomp
import torch._refs


def layer_norm(x, eps=1e-5):
    try:
        table = torch._decomp.decomposition_table
        found = table[torch.ops.aten.native_layer_norm.default]
        return found(x, [x.shape[-1]], None, None, eps)[0]
    except Exception:
        return torch._refs._normalize(x, [x.dim() - 1], eps)[0]
