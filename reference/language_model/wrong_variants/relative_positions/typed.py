import math
from typing import Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


def relative_distances(seq_len: int, max_distance: int) -> Tensor:
    """Compute the clipped relative distances."""
    range_vec = torch.arange(seq_len)
    range_mat = range_vec.unsqueeze(0).repeat(seq_len, 1)
    distance_mat = range_mat - range_mat.transpose(0, 1)
    return torch.clamp(distance_mat, min=-max_distance, max=max_distance)


class RelativePositionBias(nn.Module):
    """Relative position bias."""

    def __init__(self, num_heads: int, max_distance: int):
        super().__init__()
        self.num_heads = num_heads
        self.max_distance = max_distance
        self.weight = nn.Parameter(torch.empty(2 * max_distance + 1, num_heads))
        nn.init.normal_(self.weight, mean=0.0, std=0.02)

    def forward(self, seq_len: int) -> Tensor:
        """Return the bias."""
        final_mat = relative_distances(seq_len, self.max_distance) + self.max_distance
        final_mat = final_mat.to(self.weight.device)
        embeddings = F.embedding(final_mat, self.weight)
        return embeddings.permute(2, 0, 1)


def relative_attention(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor, mask: Optional[Tensor] = None
) -> Tuple[Tensor, Tensor]:
    """Attention with relative position bias."""
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    scores = scores + bias.unsqueeze(0)
    if mask is not None:
        if mask.dim() == 3:
            mask = mask.unsqueeze(1)
        scores = scores.masked_fill(mask == 0, float("-inf"))
    attention_weights = F.softmax(scores, dim=-1)
    output = torch.matmul(attention_weights, value)
    return output, attention_weights
