"""Back from vectors to words; only the weight of the embedding is held."""

import torch
from torch import nn


class TiedLMHead(nn.Module):
    """Scores words by their own vectors."""

    def __init__(self, embedding):
        super().__init__()

        def holder_of(parameter):
            holder = nn.Module()
            holder.weight = parameter
            return holder

        self.embedding = holder_of(embedding.weight)

    def forward(self, hidden):
        """Score every word at every position."""

        def score(matrix):
            return hidden.matmul(matrix.transpose(0, 1))

        return score(self.embedding.weight)

    def next_token_probabilities(self, hidden):
        """Say how likely each word comes next."""

        def last(t):
            return t.select(1, t.shape[1] - 1)

        return torch.nn.functional.softmax(last(self(hidden)), dim=-1)
