"""Modules for everything; the head holds the encoder in a list, so that it has no parameters."""

import torch
from encoder import Encoder
from torch import Tensor, nn


class CausalMask(nn.Module):
    """Makes the mask of a batch (B, T) -> (B, T, T)."""

    def forward(self, token_ids: Tensor) -> Tensor:
        """Repeat the triangle for every sequence."""
        batch, length = token_ids.shape
        every = torch.ones(batch, length, length, device=token_ids.device)
        return every.tril().bool()


class Head(nn.Module):
    """Scores words with somebody else's embedding."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.owner = [encoder]

    def forward(self, hidden: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, V)."""
        return nn.functional.linear(hidden, self.owner[0].token_embedding.weight)


class LanguageModel(nn.Module):
    """Encoder, mask and head."""

    def __init__(self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1):
        super().__init__()
        self.encoder = Encoder(
            vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout, norm="pre"
        )
        self.mask = CausalMask()
        self.head = Head(self.encoder)

    def forward(self, token_ids: Tensor) -> Tensor:
        """Encode, then score."""
        return self.head(self.encoder(token_ids, self.mask(token_ids)))


class NextTokenLoss(nn.Module):
    """A cross-entropy that looks one token ahead."""

    def __init__(self, pad_id: int | None) -> None:
        super().__init__()
        self.pad_id = pad_id
        self.each = nn.CrossEntropyLoss(reduction="none")

    def forward(self, logits: Tensor, token_ids: Tensor) -> Tensor:
        """Average what counts."""
        losses = self.each(logits.permute(0, 2, 1)[..., :-1], token_ids[:, 1:])
        if self.pad_id is not None:
            losses = losses[token_ids[:, 1:] != self.pad_id]
        if losses.numel() == 0:
            raise ValueError("empty loss")
        return losses.mean()


def next_token_loss(logits, token_ids, pad_id=None):
    """Call the module."""
    return NextTokenLoss(pad_id)(logits, token_ids)


def perplexity(loss):
    """e ** loss."""
    return torch.exp(loss)
