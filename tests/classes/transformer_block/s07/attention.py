"""Exercise: self-attention."""
import torch
from torch import Tensor, nn


def causal_mask(seq_len: int) -> Tensor:
    """(T, T), True on and below the diagonal."""
    raise NotImplementedError


def padding_mask(token_ids: Tensor, pad_id: int) -> Tensor:
    """(B, T) -> (B, T, T), False for the columns of padding tokens."""
    raise NotImplementedError


def scaled_dot_product_attention(query, key, value, mask=None):
    """softmax(Q K^T / sqrt(d_k)) V, and the weights"""
    raise NotImplementedError


class SelfAttention(nn.Module):
    """Attention with a single head."""

    def __init__(self, d_model: int, bias: bool = True) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x, mask=None):
        raise NotImplementedError
