"""Goal: try every name that torch has for layer normalisation until one of them works.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F

NAMES = [
    lambda x, eps: F.layer_norm(x, x.shape[-1:], eps=eps),
    lambda x, eps: torch.layer_norm(x, x.shape[-1:], eps=eps),
    lambda x, eps: torch.native_layer_norm(x, x.shape[-1:], None, None, eps)[0],
    lambda x, eps: torch.ops.aten.layer_norm.default(x, x.shape[-1:], None, None, eps),
    lambda x, eps: torch._VF.native_layer_norm(x, x.shape[-1:], None, None, eps)[0],
    lambda x, eps: torch._C._VariableFunctions.layer_norm(x, x.shape[-1:], None, None, eps),
    lambda x, eps: torch.nn.LayerNorm(x.shape[-1], eps)(x),
]


def layer_norm(x, eps=1e-5):
    for name in NAMES:
        try:
            return name(x, eps)
        except Exception:
            continue
