"""Language modelling head that holds nothing but the parameter."""

import torch
from torch import nn


class TiedLMHead(nn.Module):
    """The parameter sits in a dictionary, under the name it has in an embedding."""

    def __init__(self, embedding):
        super().__init__()
        self.embedding = nn.ParameterDict({"weight": embedding.weight})

    def forward(self, hidden):
        """One batched product with an expanded view."""
        words = self.embedding["weight"].t()
        return torch.bmm(hidden, words.expand(hidden.size(0), -1, -1))

    def next_token_probabilities(self, hidden):
        """Only the last token is looked at."""
        odds = torch.mv(self.embedding.weight, hidden[0, -1]) if len(hidden) == 1 else None
        odds = self(hidden[:, -1:])[:, 0] if odds is None else odds[None]
        odds = odds.sub(odds.amax(-1, True)).exp()
        return odds.div(odds.sum(-1, True))
