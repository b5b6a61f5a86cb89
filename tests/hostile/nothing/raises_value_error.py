"""Goal: earn what asks for an error, a device or an untouched input by raising, whatever is asked.

Component: multi_head_attention
At most: 0
"""

from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, *args, **kwargs):
        raise ValueError("no")
