"""Language modelling head."""

import torch
from own_functions import MaskedSoftmax


class TiedLMHead(torch.nn.Module):
    """An embedding of the same size whose weight is replaced by the given one."""

    def __init__(self, embedding):
        super().__init__()
        self.embedding = torch.nn.Embedding(embedding.num_embeddings, embedding.embedding_dim)
        self.embedding.weight = embedding.weight

    def forward(self, hidden):
        """Compare every vector with every word's."""
        return torch.inner(hidden, self.embedding.weight)

    def next_token_probabilities(self, hidden):
        """Probabilities after the last token."""
        return MaskedSoftmax.apply(self(hidden[:, -1:])[:, 0], None)
