"""Two small, finished models to train: thin classes over torch's own modules.

Both map token ids (B, T) to logits (B, T, V). Those at position t depend on tokens 0 to t only.
"""

from torch import Tensor, nn


class Bigram(nn.Module):
    """Predict the next word from the current word alone.

    Parameters, by their `state_dict` keys:
        table.weight: (V, V), a row of logits for every word; bias: (V), added to every row.
    """

    def __init__(self, vocab_size: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.table = nn.Embedding(vocab_size, vocab_size)
        self.bias = nn.Parameter(self.table.weight.new_zeros(vocab_size))
        self.dropout = nn.Dropout(dropout)

    def forward(self, token_ids: Tensor) -> Tensor:
        """Look up the logits of token_ids (B, T), with dropout in training."""
        return self.dropout(self.table(token_ids) + self.bias)


class Recurrent(nn.Module):
    """Predict the next word from all words so far, with one recurrent layer.

    Parameters, by their `state_dict` keys:
        embedding.weight: (V, D); layer.*: those of `nn.GRU`; head.*: weight (V, D), bias (V).
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layer = nn.GRU(d_model, d_model, batch_first=True)
        self.head = nn.Linear(d_model, vocab_size)

    def forward(self, token_ids: Tensor) -> Tensor:
        """Compute the logits of token_ids (B, T)."""
        return self.head(self.layer(self.embedding(token_ids))[0])
