"""Helpers of the language model."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Pairs:
    """Scores, and the word that each is about.

    Attributes:
        scores: (M, V).
        words: (M).
    """

    scores: Tensor
    words: Tensor

    def without(self, word: int | None) -> "Pairs":
        """Leave out the pairs about one word."""
        if word is None:
            return self
        kept = (self.words != word).nonzero().flatten()
        return Pairs(self.scores.index_select(0, kept), self.words.index_select(0, kept))

    def surprise(self) -> Tensor:
        """Compute the mean surprise (M) -> ()."""
        chances = torch.log_softmax(self.scores, dim=1)
        return -chances.gather(1, self.words.unsqueeze(1)).mean()


def shifted(logits: Tensor, token_ids: Tensor) -> Pairs:
    """Pair every position with the word after it."""
    scores = logits.narrow(1, 0, logits.shape[1] - 1)
    words = token_ids.narrow(1, 1, token_ids.shape[1] - 1)
    return Pairs(scores.flatten(0, 1), words.flatten())


def earlier(length: int, device: torch.device) -> Tensor:
    """Tell which positions come no later, (T, T)."""
    places = torch.arange(length, device=device)
    return places.unsqueeze(0).le(places.unsqueeze(1))
