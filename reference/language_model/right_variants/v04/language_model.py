"""The language model, with its helpers in a file of their own."""

import torch
from encoder import Encoder
from language_model_parts import earlier, shifted
from torch import Tensor, nn


class LanguageModel(nn.Module):
    """An encoder that sees no later word."""

    def __init__(
        self,
        vocab_size: int,
        max_len: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.encoder = Encoder(
            vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=dropout
        )

    @property
    def unembedding(self) -> Tensor:
        """The embedding, turned around (D, V)."""
        return self.encoder.token_embedding.weight.transpose(0, 1)

    def forward(self, token_ids: Tensor) -> Tensor:
        """Compute the logits."""
        mask = earlier(token_ids.shape[1], token_ids.device)
        return torch.matmul(self.encoder(token_ids, mask), self.unembedding)


def next_token_loss(logits: Tensor, token_ids: Tensor, pad_id: int | None = None) -> Tensor:
    """Compute the mean surprise."""
    pairs = shifted(logits, token_ids).without(pad_id)
    if not len(pairs.words):
        raise ValueError("there is nothing to be surprised by")
    return pairs.surprise()


def perplexity(loss: Tensor) -> Tensor:
    """Turn surprise into a number of words."""
    return torch.exp(loss)
