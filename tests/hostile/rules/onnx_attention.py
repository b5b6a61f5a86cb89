"""Goal: use the attention that torch writes out for ONNX.

Component: attention
At most: 0
Status: forbidden
"""

import torch
import torch.onnx.ops


def scaled_dot_product_attention(query, key, value, mask=None):
    four = [part.reshape(1, -1, *part.shape[-2:]) for part in (query, key, value)]
    output, _, _, weights = torch.onnx.ops.attention(*four, mask, qk_matmul_output_mode=3)
    return output.reshape(*query.shape[:-1], -1), weights.reshape(*query.shape[:-1], -1)
