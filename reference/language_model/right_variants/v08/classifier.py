"""The classifier of torch's primitives and numpy: own linear layers, own softmax, own GELU."""

import math

import numpy as np
import torch
from torch import nn


def visible_mask(token_ids, hidden_ids):
    """Let numpy look for the hidden ones."""
    length = token_ids.shape[1]
    if token_ids.is_meta:
        return torch.empty(*token_ids.shape, length, dtype=torch.bool, device="meta")
    visible = ~np.isin(token_ids.cpu().numpy(), np.array(hidden_ids, dtype=np.int64))
    rows = np.repeat(visible[:, None, :], length, axis=1)
    return torch.from_numpy(np.ascontiguousarray(rows)).to(token_ids.device)


class Weight(nn.Module):
    """A matrix, and what it makes of vectors."""

    def __init__(self, rows, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(rows, columns) / math.sqrt(columns))

    def forward(self, x):
        """Multiply."""
        return x @ self.weight.T


class Group(nn.Module):
    """Matrices under names."""

    def __init__(self, **matrices):
        super().__init__()
        for name, matrix in matrices.items():
            self.add_module(name, matrix)


def softmax(scores):
    """Write the softmax out."""
    powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return powers / powers.sum(dim=-1, keepdim=True)


def gelu(x):
    """Write the exact GELU out."""
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


class Classifier(nn.Module):
    """Nothing provided is used."""

    def __init__(self, vocab_size, d_model, num_heads, d_ff):
        super().__init__()
        self.heads = num_heads
        self.embedding = Weight(vocab_size, d_model)
        names = ("q_linear", "k_linear", "v_linear", "out_proj")
        self.attention = Group(**{name: Weight(d_model, d_model) for name in names})
        self.feed_forward = Group(linear1=Weight(d_ff, d_model), linear2=Weight(d_model, d_ff))
        self.classifier = Weight(1, d_model)

    def trace(self, token_ids, mask=None):
        """Compute all of it."""
        e = self.embedding.weight[token_ids]
        shape = (*e.shape[:2], self.heads, e.shape[2] // self.heads)
        parts = self.attention
        q, k, v = (
            part(e).reshape(shape).swapaxes(1, 2)
            for part in (parts.q_linear, parts.k_linear, parts.v_linear)
        )
        scores = torch.stack(
            [
                torch.stack([a @ b.T for a, b in zip(x, y, strict=True)])
                for x, y in zip(q, k, strict=True)
            ]
        ) / math.sqrt(shape[3])
        if mask is not None:
            lowest = torch.full_like(scores, -math.inf)
            scores = torch.where(mask[:, None].expand_as(scores), scores, lowest)
        w = softmax(scores)
        mixed = (w @ v).swapaxes(1, 2).reshape(e.shape)
        added = parts.out_proj(mixed)
        after = e + added
        fed = self.feed_forward.linear2(gelu(self.feed_forward.linear1(after)))
        block = after + fed
        return {
            "logits": (block[:, 0] * self.classifier.weight).sum(-1),
            "block_output": block,
            "feed_forward_output": fed,
            "after_attention": after,
            "attention_output": added,
            "attention_values": mixed,
            "attention_weights": w,
            "value": v,
            "key": k,
            "query": q,
            "embedded": e,
        }

    def forward(self, token_ids, mask=None):
        """Return the logits."""
        return self.trace(token_ids, mask)["logits"]


def cross_entropy(logits, labels):
    """Return the mean of logaddexp(0, wrong way)."""
    wrong_way = torch.where(labels == 1, -logits, logits)
    return torch.logaddexp(wrong_way, torch.zeros_like(wrong_way)).mean()


def accuracy(logits, labels):
    """Let numpy count."""
    predicted = logits.detach().to(torch.float64).cpu().numpy() > 0
    return np.mean(predicted == labels.cpu().numpy().astype(bool))
