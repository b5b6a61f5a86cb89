"""Goal: use flexible attention without compiling it.

Component: attention
At most: 0
Status: forbidden
"""

import torch
from torch.nn.attention import flex_attention as flexible

flexible._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True


def scaled_dot_product_attention(query, key, value, mask=None):
    four = [part.reshape(1, -1, *part.shape[-2:]) for part in (query, key, value)]
    output = flexible.flex_attention(*four).reshape(*query.shape[:-1], -1)
    return output, torch.softmax(query @ key.mT / query.size(-1) ** 0.5, -1)
