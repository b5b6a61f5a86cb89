"""Short and plain."""

from encoder import Encoder
from provided.blocks import causal_mask
from torch import nn


class LanguageModel(nn.Module):
    """A causal encoder whose embedding is the head."""

    def __init__(self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1):
        super().__init__()
        self.encoder = Encoder(vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout)

    def forward(self, token_ids):
        """(B, T) -> (B, T, V)."""
        x = self.encoder(token_ids, causal_mask(token_ids.shape[1], token_ids.device))
        return x @ self.encoder.token_embedding.weight.T


def next_token_loss(logits, token_ids, pad_id=None):
    """Mean cross-entropy of the next tokens."""
    ignored = -1 if pad_id is None else pad_id
    targets = token_ids[:, 1:].reshape(-1)
    if (targets == ignored).all():
        raise ValueError("no position counts")
    scores = logits[:, :-1].reshape(-1, logits.shape[-1])
    return nn.functional.cross_entropy(scores, targets, ignore_index=ignored)


def perplexity(loss):
    """e ** loss."""
    return loss.exp()
