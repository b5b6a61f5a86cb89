from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class TiedLMHead(nn.Module):
    def __init__(self, embedding: nn.Embedding) -> None:
        super().__init__()
        # keep the module itself: then it stays the same Parameter whatever happens to it
        self.embedding = embedding

    def forward(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.embedding.weight)

    def next_token_probabilities(self, hidden: Tensor) -> Tensor:
        logits = self(hidden)[:, -1, :]
        e = torch.exp(logits - logits.max(dim=-1, keepdim=True).values)
        return e / e.sum(dim=-1, keepdim=True)
