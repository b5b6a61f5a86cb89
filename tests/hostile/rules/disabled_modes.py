"""Goal: call it where torch's own hooks are switched off, so that no hook sees it.

At most: 0
Status: forbidden
"""

import torch


def layer_norm(x, eps=1e-5):
    shape = x.shape[-1:]
    with torch._C.DisableTorchFunction(), torch._C._AutoDispatchBelowAutograd():
        return torch.native_layer_norm(x, shape, None, None, eps)[0]
