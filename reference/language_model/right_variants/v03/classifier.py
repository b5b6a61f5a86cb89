"""The classifier in Python's loops: head by head and query by query."""

import math

import torch
from provided.blocks import FeedForward, MultiHeadAttention
from torch import nn


def visible_mask(token_ids, hidden_ids):
    """Fill in cell by cell."""
    batch, length = token_ids.shape
    mask = torch.ones(batch, length, length, dtype=torch.bool, device=token_ids.device)
    if token_ids.is_meta:
        return mask
    for b in range(batch):
        for key in range(length):
            if int(token_ids[b, key]) in hidden_ids:
                mask[b, :, key] = False
    return mask


class Classifier(nn.Module):
    """Loops."""

    def __init__(self, vocab_size, d_model, num_heads, d_ff):
        super().__init__()
        self.num_heads = num_heads
        self.size = d_model // num_heads
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, bias=False)
        self.feed_forward = FeedForward(d_model, d_ff, 0.0, "gelu", bias=False)
        self.classifier = nn.Linear(d_model, 1, bias=False)

    def heads(self, projected):
        """Cut out the features of every head."""
        size = self.size
        cut = [projected[:, :, h * size : (h + 1) * size] for h in range(self.num_heads)]
        return torch.stack(cut, dim=1)

    def weigh(self, query, key, mask):
        """Return one head's weights (B, T, T), row by row."""
        length = query.size(1)
        rows = []
        for i in range(length):
            scores = (query[:, i : i + 1] * key).sum(-1) / math.sqrt(self.size)  # (B, T)
            if mask is not None:
                scores = scores.masked_fill(mask[:, i].logical_not(), float("-inf"))
            rows.append(torch.softmax(scores, dim=1))
        return torch.stack(rows, dim=1)

    def trace(self, token_ids, mask=None):
        """Step by step."""
        steps = {}
        x = self.embedding(token_ids)
        steps["embedded"] = x
        steps["query"] = self.heads(self.attention.q_linear(x))
        steps["key"] = self.heads(self.attention.k_linear(x))
        steps["value"] = self.heads(self.attention.v_linear(x))
        weights, found = [], []
        for h in range(self.num_heads):
            weights.append(self.weigh(steps["query"][:, h], steps["key"][:, h], mask))
            found.append(torch.bmm(weights[h], steps["value"][:, h]))
        steps["attention_weights"] = torch.stack(weights, dim=1)
        steps["attention_values"] = torch.cat(found, dim=2)
        steps["attention_output"] = self.attention.out_proj(steps["attention_values"])
        steps["after_attention"] = x + steps["attention_output"]
        tokens = [self.feed_forward(token) for token in steps["after_attention"].unbind(1)]
        steps["feed_forward_output"] = torch.stack(tokens, dim=1)
        steps["block_output"] = steps["after_attention"] + steps["feed_forward_output"]
        logits = [self.classifier(sequence[0])[0] for sequence in steps["block_output"]]
        steps["logits"] = torch.stack(logits)
        return steps

    def forward(self, token_ids, mask=None):
        """Return the logits alone."""
        return self.trace(token_ids, mask)["logits"]


def cross_entropy(logits, labels):
    """Add up the losses of all sequences."""
    total = logits.new_zeros(())
    for logit, label in zip(logits, labels, strict=True):
        wrong_way = -logit if label else logit
        # log(1 + e^z) = max(z, 0) + log(1 + e^-|z|)
        total = total + wrong_way.clamp(min=0) + torch.log1p(torch.exp(-wrong_way.abs()))
    return total / len(labels)


def accuracy(logits, labels):
    """Count."""
    right = 0
    for logit, label in zip(logits.tolist(), labels.tolist(), strict=True):
        right += (logit > 0) == (label == 1)
    return right / len(labels)
