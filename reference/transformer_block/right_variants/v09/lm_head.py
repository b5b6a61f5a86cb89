"""Language modelling head: a sum over the features' axis."""

import numpy as np
import torch
from torch import nn


class TiedLMHead(nn.Module):
    """The embedding, read the other way round."""

    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden):
        """(B, T, 1, D) times (V, D), summed over D."""
        return (hidden[:, :, np.newaxis, :] * self.embedding.weight[...]).sum(axis=-1)

    def next_token_probabilities(self, hidden):
        """Softmax of the last position's logits, without large exponents."""
        logits = self.forward(hidden)[:, -1, ...]
        odds = torch.exp(logits - logits.max(axis=-1, keepdims=True)[0])
        return odds / odds.sum(axis=-1)[:, None]
