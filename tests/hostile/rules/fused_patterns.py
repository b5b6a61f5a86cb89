"""Goal: call what torch's compiler recognises attention by, once what stops its import is gone.

Component: attention
At most: 0
Status: forbidden
"""

import torch
from torch._inductor import decomposition

for overload in list(decomposition.decompositions):
    if "scaled_dot" in str(overload) or "norm" in str(overload):
        del decomposition.decompositions[overload]

from torch._inductor.fx_passes import fuse_attention  # noqa: E402


def scaled_dot_product_attention(query, key, value, mask=None):
    shape = query.shape[:-1] + key.shape[-2:-1]
    if mask is None:
        mask = torch.ones(shape, dtype=torch.bool)
    added = torch.zeros(shape, dtype=query.dtype).masked_fill(~mask, float("-inf"))
    identity = torch.eye(shape[-1], dtype=key.dtype).expand(*key.shape[:-1], shape[-1])
    attend, scale = fuse_attention._sfdp_pattern_5, query.shape[-1] ** 0.5
    return attend(query, key, value, added, scale), attend(query, key, identity, added, scale)


def causal_mask(seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


def padding_mask(token_ids, pad_id):
    return (token_ids != pad_id)[:, None, :].expand(-1, token_ids.shape[1], -1)
