"""Goal: call the kernel that torch's attention chooses on a CPU.

Component: attention
At most: 0
Status: forbidden
"""

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    four = [part.reshape(1, -1, *part.shape[-2:]) for part in (query, key, value)]
    output = torch._scaled_dot_product_flash_attention_for_cpu(*four)[0]
    return output.reshape(*query.shape[:-1], -1), torch.softmax(query @ key.mT, -1)
