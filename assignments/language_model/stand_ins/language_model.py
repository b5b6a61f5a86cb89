"""Stand-in: torch's own cross-entropy and the encoder behind the names of the assignment."""

from typing import Any

import torch.nn.functional as F
from encoder import Encoder
from provided.blocks import causal_mask
from torch import Tensor, nn

_NONE = -100  # torch's own word for "no target"


class LanguageModel(nn.Module):
    """The encoder, with its embedding as the last layer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.encoder = Encoder(*args, **kwargs)

    def forward(self, token_ids: Tensor) -> Tensor:
        """Score every word at every position."""
        mask = causal_mask(token_ids.shape[1], token_ids.device)
        return F.linear(self.encoder(token_ids, mask), self.encoder.token_embedding.weight)


def next_token_loss(logits: Tensor, token_ids: Tensor, pad_id: int | None = None) -> Tensor:
    """Compare all positions but the last with the tokens after them."""
    ignored = _NONE if pad_id is None else pad_id
    scores = logits[:, :-1].transpose(1, 2)
    return F.cross_entropy(scores, token_ids[:, 1:], ignore_index=ignored)
