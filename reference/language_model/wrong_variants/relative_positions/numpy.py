import numpy as np
import torch
from torch import nn


def relative_distances(seq_len, max_distance):
    grid = np.arange(seq_len)[None, :] - np.arange(seq_len)[:, None]
    return torch.from_numpy(np.clip(grid, -max_distance, max_distance))


class RelativePositionBias(nn.Embedding):
    def __init__(self, num_heads, max_distance):
        super().__init__(2 * max_distance + 1, num_heads)
        self.weight.data.mul_(0.02)
        self.m = max_distance

    def forward(self, seq_len):
        rows = relative_distances(seq_len, self.m) + self.m
        return super().forward(rows).movedim(2, 0)


def _heads_of(mask):
    return mask if mask is None or mask.dim() == 2 else mask.unsqueeze(1)


def _log_softmax(scores):
    return scores - scores.logsumexp(dim=-1, keepdim=True)


def relative_attention(query, key, value, bias, mask=None):
    scores = torch.matmul(query / query.size(-1) ** 0.25, (key / key.size(-1) ** 0.25).mT)
    scores = scores + bias
    mask = _heads_of(mask)
    if mask is not None:
        penalty = torch.zeros_like(scores).masked_fill(~mask, -np.inf)
        scores = scores + penalty
    weights = torch.exp(_log_softmax(scores))
    return torch.matmul(weights, value), weights
