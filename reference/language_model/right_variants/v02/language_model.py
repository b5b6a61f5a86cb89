"""With einsum, and a cross-entropy of logsumexp and a product with one-hot vectors."""

import torch
from encoder import Encoder
from torch import nn


class LanguageModel(nn.Module):
    """Keeps nothing but the encoder."""

    def __init__(self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1):
        super().__init__()
        self.encoder = Encoder(
            vocab_size=vocab_size,
            max_len=max_len,
            d_model=d_model,
            num_heads=num_heads,
            d_ff=d_ff,
            num_layers=num_layers,
            dropout=dropout,
        )

    def forward(self, token_ids):
        """Multiply every vector with every word's."""
        place = torch.arange(token_ids.size(-1), device=token_ids.device)
        mask = torch.einsum("i,j->ij", torch.ones_like(place), place) <= place[:, None]
        hidden = self.encoder(token_ids, mask=mask)
        return torch.einsum("btd,vd->btv", hidden, self.encoder.token_embedding.weight)


def next_token_loss(logits, token_ids, pad_id=None):
    """Sum what counts, and divide by how much does."""
    targets = nn.functional.one_hot(token_ids[:, 1:], logits.size(-1)).to(logits.dtype)
    predicted = logits[:, :-1]
    if pad_id is None:
        counts = torch.ones_like(targets[..., 0])
    else:
        counts = (token_ids[:, 1:] != pad_id).to(logits.dtype)
    total = counts.float().sum()
    if total == 0:
        raise ValueError("no position counts")
    right = torch.einsum("btv,btv->bt", predicted, targets)
    losses = torch.logsumexp(predicted, dim=-1) - right
    return (torch.einsum("bt,bt->", losses.float(), counts.float()) / total).to(logits.dtype)


def perplexity(loss):
    """Raise e to the loss."""
    return torch.pow(torch.full_like(loss, torch.e, dtype=torch.float64), loss).to(loss.dtype)
