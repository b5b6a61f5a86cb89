"""Goal: torch's own layer norm, by torch's operators handed to a policy.

At most: 0.
"""

import torch
from torch import nn

from torch.utils.checkpoint import create_selective_checkpoint_contexts, checkpoint, CheckpointPolicy
import functools
seen = []
def policy(ctx, op, *a, **k):
    seen.append(op); return CheckpointPolicy.PREFER_RECOMPUTE
x = torch.ones(2, requires_grad=True)
checkpoint(lambda t: t.exp(), x, use_reentrant=False, context_fn=functools.partial(create_selective_checkpoint_contexts, policy))
packet = seen[0].overloadpacket
norm = type(packet)("aten::layer_norm", "layer_norm", packet, [""]).default


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
