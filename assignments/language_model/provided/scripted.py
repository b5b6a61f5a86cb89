"""Language models whose next word is known beforehand, to try `generate` on."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Table(nn.Module):
    """Looks only at the last word, and has for every word a row of logits for what follows it.

    Parameters, by their `state_dict` keys:
        table: (V, V), row w for what follows the word w.
    """

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(table.clone())

    def forward(self, token_ids: Tensor) -> Tensor:
        """Score the words (B, T, V) that may follow token_ids (B, T)."""
        return self.table[token_ids]


class Adder(nn.Module):
    """Is sure of the next word: the sum of all words that it is shown, modulo V.

    In training mode it is sure of the word after that one, as if something were dropped.

    Parameters, by their `state_dict` keys:
        sureness: a single number, the logit of the word that it is sure of; all others have 0.

    Attributes:
        recorded: whether it was ever asked while torch recorded for gradients.
    """

    def __init__(self, vocab_size: int, max_len: int | None = None) -> None:
        super().__init__()
        self.sureness = nn.Parameter(torch.tensor(50.0))
        self.vocab_size, self.max_len = vocab_size, max_len
        self.recorded = False

    def forward(self, token_ids: Tensor) -> Tensor:
        """Score the words (B, T, V) that may follow token_ids (B, T).

        Raises:
            ValueError: T is greater than `max_len`.
        """
        self.recorded = self.recorded or torch.is_grad_enabled()
        if self.max_len is not None and token_ids.size(1) > self.max_len:
            raise ValueError(f"{token_ids.size(1)} tokens are more than {self.max_len}")
        words = (token_ids.cumsum(dim=1) + int(self.training)) % self.vocab_size
        return self.sureness * F.one_hot(words, self.vocab_size)
