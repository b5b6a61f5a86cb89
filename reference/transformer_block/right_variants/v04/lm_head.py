"""Language modelling head: a dense layer without bias whose weight is the embedding's."""

from pieces import Dense, softmax
from torch import Tensor, nn


class TiedLMHead(nn.Module):
    """The weight is the very same Parameter, not a copy."""

    def __init__(self, embedding: nn.Embedding) -> None:
        super().__init__()
        words, features = embedding.weight.shape
        self.embedding = Dense(features, words, bias=False)
        self.embedding.weight = embedding.weight

    def forward(self, hidden: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, V)."""
        return self.embedding(hidden)

    def next_token_probabilities(self, hidden: Tensor) -> Tensor:
        """(B, T, D) -> (B, V)."""
        return softmax(self.forward(hidden[:, -1:]))[:, 0]
