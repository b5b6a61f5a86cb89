"""The classifier of many small modules."""

import torch
from provided.blocks import FeedForward, MultiHeadAttention
from torch import nn


def visible_mask(token_ids, hidden_ids):
    """Hide columns."""
    hidden = sum((token_ids == one for one in hidden_ids), torch.zeros_like(token_ids)) > 0
    return (~hidden)[:, None, :].repeat(1, token_ids.shape[1], 1)


class Heads(nn.Module):
    """Splits features into heads."""

    def __init__(self, count):
        super().__init__()
        self.split = nn.Unflatten(-1, (count, -1))

    def forward(self, x):
        """(B, T, D) becomes (B, H, T, D/H)."""
        return self.split(x).movedim(2, 1)


class Weights(nn.Module):
    """Turns queries and keys into weights."""

    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, query, key, mask):
        """Weigh."""
        scores = (query / key.shape[-1] ** 0.5) @ key.transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(torch.logical_not(mask).unsqueeze(1), -torch.inf)
        return self.softmax(scores)


class Classifier(nn.Module):
    """Modules in a row."""

    def __init__(self, vocab_size, d_model, num_heads, d_ff):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, bias=False)
        self.feed_forward = FeedForward(d_model, d_ff, 0.0, activation="gelu", bias=False)
        self.classifier = nn.Linear(d_model, 1, bias=False)
        self.heads, self.weights, self.side_by_side = Heads(num_heads), Weights(), nn.Flatten(2)
        self.column = nn.Flatten(0)

    def trace(self, token_ids, mask=None):
        """Call one module after the other."""
        a, t = self.attention, {}
        t["embedded"] = self.embedding(token_ids)
        for name, layer in (("query", a.q_linear), ("key", a.k_linear), ("value", a.v_linear)):
            t[name] = self.heads(layer(t["embedded"]))
        t["attention_weights"] = self.weights(t["query"], t["key"], mask)
        found = (t["attention_weights"] @ t["value"]).movedim(1, 2)
        t["attention_values"] = self.side_by_side(found)
        t["attention_output"] = a.out_proj(t["attention_values"])
        t["after_attention"] = t["embedded"] + t["attention_output"]
        t["feed_forward_output"] = self.feed_forward(t["after_attention"])
        t["block_output"] = t["after_attention"] + t["feed_forward_output"]
        t["logits"] = self.column(self.classifier(t["block_output"][:, :1]))
        return t

    def forward(self, token_ids, mask=None):
        """Return the logits."""
        return self.trace(token_ids, mask)["logits"]


def cross_entropy(logits, labels):
    """Ask torch's own module."""
    return nn.BCEWithLogitsLoss()(logits, labels.to(logits.dtype))


def accuracy(logits, labels):
    """Return the share of right ones."""
    predicted = (logits > 0).to(torch.int64)
    return torch.eq(predicted, labels.to(torch.int64)).double().mean().item()
