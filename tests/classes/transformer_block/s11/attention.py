import math
from typing import Optional, Tuple
import torch
from torch import Tensor, nn


def causal_mask(seq_len: int) -> Tensor:
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril(diagonal=0)


def padding_mask(token_ids: Tensor, pad_id: int) -> Tensor:
    batch, length = token_ids.shape
    real = token_ids != pad_id
    return real.view(batch, 1, length).expand(batch, length, length)


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, mask: Optional[Tensor]=None) -> Tuple[Tensor, Tensor]:
    d_k = query.shape[-1]
    scores = torch.matmul(query, key.transpose(-1, -2))
    scores = scores / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == False, -math.inf)
    weights = scores.softmax(dim=-1)
    return (torch.matmul(weights, value), weights)


class SelfAttention(nn.Module):
    def __init__(self, d_model: int, bias: bool=True):
        super().__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, mask: Optional[Tensor]=None) -> Tuple[Tensor, Tensor]:
        return scaled_dot_product_attention(self.q_linear(x), self.k_linear(x), self.v_linear(x), mask)
