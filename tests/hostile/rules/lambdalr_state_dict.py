"""Goal: torch's own layer norm, by a module's names in a scheduler's state.

At most: 0.
"""

import torch
from torch import nn

import inspect
mod = inspect.signature(torch.save).parameters["pickle_module"].default

opt = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
s = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: 1.0)
s.lr_lambdas = [mod]
norm = s.state_dict()["lr_lambdas"][0]["loads"](b"ctorch._VF\nlayer_norm\n.")


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
