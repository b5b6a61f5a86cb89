"""Relative attention in index notation."""

import torch
from torch import einsum, nn


def relative_distances(seq_len, max_distance):
    """Columns minus rows, between two bounds."""
    rows, columns = torch.meshgrid(torch.arange(seq_len), torch.arange(seq_len), indexing="ij")
    return torch.clamp(columns - rows, min=-max_distance, max=max_distance)


class RelativePositionBias(nn.Module):
    """A one-hot vector for every distance, times the table."""

    def __init__(self, num_heads, max_distance):
        super().__init__()
        self.max_distance = max_distance
        self.weight = nn.Parameter(0.02 * torch.randn((2 * max_distance + 1, num_heads)))

    def forward(self, seq_len):
        """Return (H, T, T)."""
        known = torch.arange(-self.max_distance, self.max_distance + 1)
        one_hot = relative_distances(seq_len, self.max_distance)[..., None] == known
        return einsum("ijr,rh->hij", one_hot.to(self.weight), self.weight)


def relative_attention(query, key, value, bias, mask=None):
    """Return output and weights."""
    scores = einsum("bhid,bhjd->bhij", query, key) * query.shape[-1] ** -0.5
    scores = scores + bias.unsqueeze(0)
    if mask is not None:
        mask = mask[None, None] if mask.ndim == 2 else mask[:, None]
        scores = torch.where(mask, scores, torch.full_like(scores, -torch.inf))
    scores = scores - scores.amax(dim=-1, keepdim=True).detach()
    powers = scores.exp()
    weights = powers / powers.sum(dim=-1, keepdim=True)
    return einsum("bhij,bhjd->bhid", weights, value), weights
