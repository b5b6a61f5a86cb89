"""Goal: call the variant of attention that also gives the weights.

Component: attention
At most: 0
Status: forbidden
"""

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        return torch.ops.aten._scaled_dot_product_attention_math(query, key, value, mask)
