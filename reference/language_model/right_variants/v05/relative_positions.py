"""Relative positions out of modules, in single precision throughout."""

import torch
from torch import nn


class Distances(nn.Module):
    """Clipped distances of all pairs."""

    def __init__(self, max_distance):
        super().__init__()
        self.clip = nn.Hardtanh(-float(max_distance), float(max_distance))

    def forward(self, seq_len):
        """Compute what the class says."""
        position = torch.arange(seq_len, dtype=torch.float64)
        return self.clip(position.unsqueeze(0) - position.unsqueeze(1)).long()


class BiasedScores(nn.Module):
    """Scores with their bias."""

    def forward(self, query, key, bias):
        """Compute what the class says."""
        return torch.matmul(query, key.transpose(-1, -2)) / key.size(-1) ** 0.5 + bias


class MaskedSoftmax(nn.Module):
    """Weights, 0 where masked."""

    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, scores, mask):
        """Compute what the class says."""
        if mask is None:
            return self.softmax(scores)
        lowest = torch.finfo(scores.dtype).min
        weights = self.softmax(scores.masked_fill(~mask, lowest))
        return weights.masked_fill(~mask, 0)


class RelativeAttention(nn.Module):
    """The three steps."""

    def __init__(self):
        super().__init__()
        self.scores = BiasedScores()
        self.weights = MaskedSoftmax()

    def forward(self, query, key, value, bias, mask):
        """Compute what the class says."""
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(1)
        weights = self.weights(self.scores(query.float(), key.float(), bias.float()), mask)
        output = torch.matmul(weights, value.float())
        return output.to(query.dtype), weights.to(query.dtype)


def relative_distances(seq_len, max_distance):
    """Return the clipped distances (T, T)."""
    return Distances(max_distance)(seq_len)


class RelativePositionBias(nn.Embedding):
    """An embedding of distances."""

    def __init__(self, num_heads, max_distance):
        super().__init__(2 * max_distance + 1, num_heads)
        nn.init.normal_(self.weight, std=0.02)
        self.distances = Distances(max_distance)

    def forward(self, seq_len):
        """Compute what the class says."""
        rows = self.distances(seq_len) + self.num_embeddings // 2
        return super().forward(rows.to(self.weight.device)).movedim(-1, 0)


def relative_attention(query, key, value, bias, mask=None):
    """Return output and weights."""
    return RelativeAttention()(query, key, value, bias, mask)
