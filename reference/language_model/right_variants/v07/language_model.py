"""Defensive: checks what comes in, and computes losses in float32."""

from __future__ import annotations

import logging

import torch
from encoder import Encoder
from torch import Tensor, nn

log = logging.getLogger(__name__)


class LanguageModel(nn.Module):
    """A language model that checks its tokens."""

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
        if not 0.0 <= dropout <= 1.0:
            raise ValueError(f"dropout must be from 0 to 1, not {dropout}")
        self.max_len = max_len
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(
            vocab_size, max_len, num_layers=num_layers, dropout=dropout, norm="pre", **sizes
        )

    def extra_repr(self) -> str:
        """Show the longest sequence."""
        return f"max_len={self.max_len}"

    def forward(self, token_ids: Tensor) -> Tensor:
        """Compute the logits.

        Raises:
            ValueError: the tokens are too many, or no batch of sequences.
        """
        if token_ids.dim() != 2:
            raise ValueError(f"expected (B, T), not {tuple(token_ids.shape)}")
        batch, length = token_ids.shape
        if length > self.max_len:
            raise ValueError(f"{length} tokens, at most {self.max_len} are possible")
        log.debug("%d sequences of %d tokens", batch, length)
        allowed = torch.full((length, length), True, device=token_ids.device).tril(diagonal=0)
        hidden = self.encoder(token_ids.contiguous(), allowed)
        weight = self.encoder.token_embedding.weight
        if hidden.dtype is not weight.dtype:
            hidden = hidden.to(weight.dtype)
        return torch.matmul(hidden, weight.mT)


def next_token_loss(logits: Tensor, token_ids: Tensor, pad_id: int | None = None) -> Tensor:
    """Compute the mean cross-entropy in float32 at least."""
    if logits.shape[:2] != token_ids.shape:
        raise ValueError(f"logits {tuple(logits.shape)} for tokens {tuple(token_ids.shape)}")
    wide = logits.float()
    predicted, targets = wide[:, :-1], token_ids[:, 1:].long()
    counts = targets.ne(pad_id) if pad_id is not None else torch.ones_like(targets).bool()
    number = int(counts.sum())
    if number < 1:
        raise ValueError("no position counts")
    highest = predicted.amax(dim=-1, keepdim=True)
    norm = (predicted - highest).exp().sum(dim=-1).log() + highest.squeeze(-1)
    right = predicted.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    losses = torch.where(counts, norm - right, torch.zeros_like(norm))
    return (losses.sum() / number).to(logits.dtype)


def perplexity(loss: Tensor) -> Tensor:
    """Compute e ** loss in the dtype of the loss."""
    if not isinstance(loss, Tensor):
        raise TypeError(f"expected a tensor, not {type(loss).__name__}")
    return loss.double().exp().to(loss.dtype)
