"""Language models with a known next word, to try `generate` with."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Table(nn.Module):
    """Look up the logits of the next word in a table, by the last word alone.

    Parameters, by their `state_dict` keys:
        table: (V, V), row w for the word after word w.
    """

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(table.clone())

    def forward(self, token_ids: Tensor) -> Tensor:
        """Compute the logits (B, T, V) of the next words for token_ids (B, T)."""
        return self.table[token_ids]


class Adder(nn.Module):
    """Predict the sum of all input words, modulo V, as the next word.

    In training mode it predicts the number after this sum, as if dropout changed the result.

    Parameters, by their `state_dict` keys:
        sureness: a single number, the logit of the predicted word; all other logits are 0.

    Attributes:
        recorded: whether the model was ever called while torch recorded gradients.
    """

    def __init__(self, vocab_size: int, max_len: int | None = None) -> None:
        super().__init__()
        self.sureness = nn.Parameter(torch.tensor(50.0))
        self.vocab_size, self.max_len = vocab_size, max_len
        self.recorded = False

    def forward(self, token_ids: Tensor) -> Tensor:
        """Compute the logits (B, T, V) of the next words for token_ids (B, T).

        Raises:
            ValueError: T is greater than `max_len`.
        """
        self.recorded = self.recorded or torch.is_grad_enabled()
        if self.max_len is not None and token_ids.size(1) > self.max_len:
            raise ValueError(f"{token_ids.size(1)} tokens are more than {self.max_len}")
        words = (token_ids.cumsum(dim=1) + int(self.training)) % self.vocab_size
        return self.sureness * F.one_hot(words, self.vocab_size)
