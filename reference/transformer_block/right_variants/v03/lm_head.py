"""Language modelling head: a small module that borrows the embedding's Parameter."""

from torch import Tensor, nn


class Unembedding(nn.Module):
    """Holds a borrowed weight (V, D) and multiplies by its transpose."""

    def __init__(self, weight: nn.Parameter) -> None:
        super().__init__()
        self.register_parameter("weight", weight)

    @property
    def transposed(self) -> Tensor:
        """(D, V)."""
        return self.weight.transpose(0, 1)

    def forward(self, hidden: Tensor) -> Tensor:
        """Logits."""
        return hidden.matmul(self.transposed)


class TiedLMHead(nn.Module):
    """Scores over the vocabulary."""

    def __init__(self, embedding: nn.Embedding) -> None:
        super().__init__()
        self.embedding = Unembedding(embedding.weight)

    def forward(self, hidden: Tensor) -> Tensor:
        """Logits (B, T, V)."""
        return self.embedding(hidden)

    def last(self, hidden: Tensor) -> Tensor:
        """Only the last position, (B, 1, D)."""
        return hidden.narrow(1, hidden.size(1) - 1, 1)

    def next_token_probabilities(self, hidden: Tensor) -> Tensor:
        """Softmax at the last position, (B, V)."""
        return self(self.last(hidden)).squeeze(1).softmax(dim=-1)
