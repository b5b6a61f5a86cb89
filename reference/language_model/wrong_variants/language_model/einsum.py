"""Language model in float32, with einsum and an own logsumexp."""

import math

import torch
from encoder import Encoder
from torch import nn


def lse(scores):
    top = scores.max(-1, keepdim=True).values
    return (scores - top).exp().sum(-1).log() + top.squeeze(-1)


class LanguageModel(nn.Module):
    """Decoder-only model."""

    def __init__(self, vocab_size: int, max_len: int, d_model: int, num_heads: int, d_ff: int,
                 num_layers: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.d_model = d_model
        self.encoder = Encoder(vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout)

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        position = torch.arange(token_ids.size(1), device=token_ids.device)
        visible = position.view(-1, 1) >= position.view(1, -1)
        h = self.encoder(token_ids, visible)
        E = self.encoder.token_embedding.weight
        return torch.einsum("btd,vd->btv", h.float(), E.float()).to(h.dtype)


def next_token_loss(logits: torch.Tensor, token_ids: torch.Tensor, pad_id=None) -> torch.Tensor:
    scores = logits.float()[:, :-1]
    following = token_ids[:, 1:]
    surprise = lse(scores) - torch.gather(scores, 2, following.unsqueeze(2)).squeeze(2)
    weight = torch.ones_like(surprise)
    if pad_id is not None:
        weight = (following != pad_id).float()
    if weight.sum() < 1:
        raise ValueError("no targets")
    return ((surprise * weight).sum() / weight.sum()).to(logits.dtype)


def perplexity(loss: torch.Tensor) -> torch.Tensor:
    return torch.pow(math.e, loss)
