"""Goal: pick the kernel that is registered under another dispatch key.

At most: 0
Status: forbidden
"""

import torch
from torch._C import DispatchKey


def layer_norm(x, eps=1e-5):
    operator = torch.ops.aten.native_layer_norm.default
    key = DispatchKey.CompositeExplicitAutograd
    return operator._op_dk(key, x, [x.shape[-1]], None, None, eps)[0]
