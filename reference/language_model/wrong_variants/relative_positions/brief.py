import torch
from torch import nn


def relative_distances(seq_len, max_distance):
    places = torch.arange(seq_len)
    return (places - places[:, None]).clamp(-max_distance, max_distance)


class RelativePositionBias(nn.Module):
    def __init__(self, num_heads, max_distance):
        super().__init__()
        self.max_distance = max_distance
        self.weight = nn.Parameter(0.02 * torch.randn(2 * max_distance + 1, num_heads))

    def forward(self, seq_len):
        rows = relative_distances(seq_len, self.max_distance) + self.max_distance
        return self.weight[rows].movedim(-1, 0)


def relative_attention(query, key, value, bias, mask=None):
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / query.shape[-1] ** 0.5 + bias
    if mask is not None:
        mask = mask if mask.ndim == 2 else mask[:, None]
        scores = torch.where(mask, scores, float("-inf"))
    weights = scores.softmax(-1)
    return weights @ value, weights
