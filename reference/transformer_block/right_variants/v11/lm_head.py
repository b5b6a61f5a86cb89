"""Language modelling head with checks."""

from __future__ import annotations

from guards import BadTensorError, Sizes, check_sequence
from torch import Tensor, nn


class TiedLMHead(nn.Module):
    """Scores words with the embedding they came from."""

    def __init__(self, embedding: nn.Embedding) -> None:
        super().__init__()
        if not isinstance(embedding, nn.Embedding):
            raise BadTensorError(f"expected an nn.Embedding, not {type(embedding).__name__}")
        self.sizes = Sizes(d_model=embedding.embedding_dim)
        self.embedding = embedding

    def __repr__(self) -> str:
        return f"TiedLMHead(words={self.embedding.num_embeddings}, {self.sizes})"

    def forward(self, hidden: Tensor) -> Tensor:
        """Compute the logits."""
        check_sequence(hidden, features=self.sizes.d_model)
        return nn.functional.linear(hidden, weight=self.embedding.weight, bias=None)

    def next_token_probabilities(self, hidden: Tensor) -> Tensor:
        """Compute the probabilities of the next word."""
        logits = self(hidden)
        last = logits.index_select(1, logits.new_tensor([logits.shape[1] - 1]).long())
        return last.squeeze(1).log_softmax(dim=-1).exp()
