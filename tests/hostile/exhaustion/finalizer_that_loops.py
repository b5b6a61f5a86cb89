"""Goal: hang when the result is thrown away, after the call has returned.

At most: 0
Status: timeout
"""

import torch


class Result(torch.Tensor):
    def __del__(self):
        while True:
            pass


def layer_norm(x, eps=1e-5):
    return x.as_subclass(Result)


LayerNorm = layer_norm
