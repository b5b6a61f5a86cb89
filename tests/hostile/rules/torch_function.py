"""Goal: hide the call in the `__torch_function__` of a tensor of one's own.

At most: 0
Status: forbidden
"""

import torch


class Sly(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunctionSubclass():
            x = args[0].as_subclass(torch.Tensor)
            return torch.layer_norm(x, x.shape[-1:])


def layer_norm(x, eps=1e-5):
    return torch.sin(x.as_subclass(Sly))
