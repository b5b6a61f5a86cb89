"""The classifier by functions of F, attention's included."""

import torch
import torch.nn.functional as F
from provided.blocks import FeedForward, MultiHeadAttention
from torch import nn

NAMES = [
    "embedded",
    "query",
    "key",
    "value",
    "attention_weights",
    "attention_values",
    "attention_output",
    "after_attention",
    "feed_forward_output",
    "block_output",
    "logits",
]


def visible_mask(token_ids, hidden_ids):
    """Hide columns, by membership."""
    visible = torch.ones_like(token_ids, dtype=torch.bool)
    if hidden_ids:
        visible = (token_ids[..., None] - torch.tensor(hidden_ids).to(token_ids)).ne(0).all(dim=-1)
    return visible[:, None, :] & torch.ones_like(visible)[:, :, None]


class Classifier(nn.Module):
    """Holds weights."""

    def __init__(self, vocab_size, d_model, num_heads, d_ff):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, bias=False)
        self.feed_forward = FeedForward(d_model, d_ff, 0.0, "gelu", bias=False)
        self.classifier = nn.Linear(d_model, 1, bias=False)

    def _steps(self, token_ids, mask):
        count = self.attention.num_heads
        x = F.embedding(token_ids, self.embedding.weight)
        yield x
        layers = ("q_linear", "k_linear", "v_linear")
        projected = [F.linear(x, getattr(self.attention, name).weight) for name in layers]
        q, k, v = (torch.stack(p.tensor_split(count, dim=-1), dim=1) for p in projected)
        yield from (q, k, v)
        allowed = None if mask is None else mask[:, None]
        # With an identity for the values, what comes out are the weights.
        one = torch.eye(x.shape[1], dtype=x.dtype, device=x.device).expand(*q.shape[:2], -1, -1)
        weights = F.scaled_dot_product_attention(q, k, one, attn_mask=allowed)
        yield weights
        values = (
            F.scaled_dot_product_attention(q, k, v, attn_mask=allowed).transpose(1, 2).flatten(2)
        )
        yield values
        output = F.linear(values, self.attention.out_proj.weight)
        yield output
        x = x + output
        yield x
        inside = F.gelu(F.linear(x, self.feed_forward.linear1.weight))
        fed = F.linear(inside, self.feed_forward.linear2.weight)
        yield fed
        x = x + fed
        yield x
        yield F.linear(x[:, 0], self.classifier.weight).squeeze(-1)

    def trace(self, token_ids, mask=None):
        """Name the steps."""
        return dict(zip(NAMES, self._steps(token_ids, mask), strict=True))

    def forward(self, token_ids, mask=None):
        """Return the last step."""
        *_, logits = self._steps(token_ids, mask)
        return logits


def cross_entropy(logits, labels):
    """As a cross-entropy of two classes, the other of which has the logit 0."""
    two = torch.stack([torch.zeros_like(logits), logits], dim=-1)
    return F.cross_entropy(two, labels.long())


def accuracy(logits, labels):
    """Return the share of right ones."""
    return float(torch.count_nonzero((logits > 0) == labels.bool())) / labels.numel()
