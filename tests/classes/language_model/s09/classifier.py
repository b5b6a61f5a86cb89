"""The classifier by einsum."""

import torch
from provided.blocks import FeedForward, MultiHeadAttention
from torch import einsum, nn


def visible_mask(token_ids, hidden_ids):
    """Compare every token with every hidden id."""
    hidden = token_ids.new_tensor(hidden_ids)
    seen = (token_ids.unsqueeze(-1) != hidden).all(-1)  # (B, T)
    rows = torch.ones_like(seen)
    return einsum("bi,bj->bij", rows.to(torch.uint8), seen.to(torch.uint8)).bool()


class Classifier(nn.Module):
    """Every step is one line of letters."""

    def __init__(self, vocab_size, d_model, num_heads, d_ff):
        super().__init__()
        self.split = (num_heads, d_model // num_heads)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, False)
        self.feed_forward = FeedForward(d_model, d_ff, 0.0, "gelu", False)
        self.classifier = nn.Linear(d_model, 1, False)

    def _project(self, name, x):
        weight = getattr(self.attention, f"{name}_linear").weight.unflatten(0, self.split)
        return einsum("btd,hed->bhte", x, weight)

    def trace(self, token_ids, mask=None):
        """Name everything."""
        t = {"embedded": self.embedding(token_ids)}
        t["query"], t["key"], t["value"] = (self._project(name, t["embedded"]) for name in "qkv")
        scores = einsum("bhqe,bhke->bhqk", t["query"], t["key"]) / self.split[1] ** 0.5
        if mask is not None:
            scores = torch.where(mask[:, None], scores, -torch.inf)
        t["attention_weights"] = scores.softmax(3)
        mixed = einsum("bhqk,bhke->bqhe", t["attention_weights"], t["value"])
        t["attention_values"] = mixed.flatten(2)
        out = self.attention.out_proj.weight
        t["attention_output"] = einsum("btd,ed->bte", t["attention_values"], out)
        t["after_attention"] = t["embedded"] + t["attention_output"]
        t["feed_forward_output"] = self.feed_forward(t["after_attention"])
        t["block_output"] = t["after_attention"] + t["feed_forward_output"]
        t["logits"] = einsum("bd,od->b", t["block_output"][:, 0], self.classifier.weight)
        return t

    def forward(self, token_ids, mask=None):
        """Return the last step."""
        return self.trace(token_ids, mask).pop("logits")


def cross_entropy(logits, labels):
    """Return the mean of softplus(-logit) or softplus(logit)."""
    signs = 1 - 2 * labels.to(logits.dtype)
    return nn.functional.softplus(signs * logits).mean()


def accuracy(logits, labels):
    """Count and divide."""
    return int(((logits > 0) == (labels > 0)).sum()) / len(labels)
