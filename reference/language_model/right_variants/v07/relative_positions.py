"""Relative positions, with everything checked and half precision widened inside."""

import math

import torch
from torch import Tensor, nn


def relative_distances(seq_len: int, max_distance: int) -> Tensor:
    """Return j - i, clipped."""
    if seq_len < 1:
        raise ValueError(f"seq_len must be at least 1, not {seq_len}")
    if max_distance < 0:
        raise ValueError(f"max_distance must not be negative, but is {max_distance}")
    out = torch.empty(seq_len, seq_len, dtype=torch.int64)
    for offset in range(-seq_len + 1, seq_len):
        out.diagonal(offset).fill_(max(-max_distance, min(offset, max_distance)))
    return out


class RelativePositionBias(nn.Module):
    """A number for every head and distance."""

    def __init__(self, num_heads: int, max_distance: int) -> None:
        super().__init__()
        if num_heads < 1:
            raise ValueError(f"num_heads must be at least 1, not {num_heads}")
        self.num_heads, self.max_distance = num_heads, max_distance
        self.weight = nn.Parameter(torch.Tensor(2 * max_distance + 1, num_heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table."""
        with torch.no_grad():
            self.weight.normal_(mean=0.0, std=0.02)

    def forward(self, seq_len: int) -> Tensor:
        """Return (H, T, T)."""
        index = relative_distances(int(seq_len), self.max_distance) + self.max_distance
        index = index.reshape(-1, 1).expand(-1, self.num_heads).to(self.weight.device)
        looked_up = torch.gather(self.weight, 0, index)  # (T * T, H)
        return looked_up.reshape(seq_len, seq_len, self.num_heads).permute(2, 0, 1).contiguous()


def relative_attention(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return output and weights."""
    if query.shape != key.shape:
        raise ValueError(f"query {tuple(query.shape)} and key {tuple(key.shape)} differ")
    batch, heads, length, d_k = query.shape
    if bias.shape != (heads, length, length):
        raise ValueError(f"bias must be {(heads, length, length)}, not {tuple(bias.shape)}")
    given = query.dtype
    wide = torch.float32 if given in (torch.bfloat16, torch.float16) else given
    query, key, value, bias = (tensor.to(wide) for tensor in (query, key, value, bias))
    scores = (
        torch.matmul(query / math.sqrt(d_k), key.transpose(-2, -1)) + bias.view(1, *bias.shape)
        if bias.is_contiguous()
        else torch.matmul(query / math.sqrt(d_k), key.transpose(-2, -1)) + bias.unsqueeze(0)
    )
    if mask is not None:
        if mask.dtype is not torch.bool:
            raise TypeError(f"mask must be boolean, not {mask.dtype}")
        if mask.shape == (length, length):
            mask = mask.reshape(1, 1, length, length)
        elif mask.shape == (batch, length, length):
            mask = mask.reshape(batch, 1, length, length)
        else:
            raise ValueError(f"mask has shape {tuple(mask.shape)}")
        scores = scores.masked_fill(mask.logical_not(), -math.inf)
    shifted = scores - torch.logsumexp(scores, dim=-1, keepdim=True)
    weights = torch.exp(shifted)
    return torch.matmul(weights, value).to(given), weights.to(given)
