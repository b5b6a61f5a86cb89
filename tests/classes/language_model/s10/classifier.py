"""The classifier, short and plain."""

import torch.nn.functional as F
from provided.blocks import FeedForward, MultiHeadAttention
from torch import nn


def visible_mask(token_ids, hidden_ids):
    """Hide columns."""
    visible = token_ids == token_ids
    for hidden in hidden_ids:
        visible = visible & (token_ids != hidden)
    return visible.unsqueeze(1).expand(-1, token_ids.size(1), -1)


class Classifier(nn.Module):
    """One block."""

    def __init__(self, vocab_size, d_model, num_heads, d_ff):
        super().__init__()
        self.num_heads = num_heads
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, bias=False)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=0.0, activation="gelu", bias=False)
        self.classifier = nn.Linear(d_model, 1, bias=False)

    def forward(self, token_ids, mask=None):
        """Return logits, from the provided attention."""
        x = self.embedding(token_ids)
        x = x + self.attention(x, mask)[0]
        x = x + self.feed_forward(x)
        return self.classifier(x[:, 0])[:, 0]

    def trace(self, token_ids, mask=None):
        """Do it again, in steps."""
        x = self.embedding(token_ids)
        batch, length, width = x.shape
        heads = []
        for layer in (self.attention.q_linear, self.attention.k_linear, self.attention.v_linear):
            heads.append(layer(x).view(batch, length, self.num_heads, -1).transpose(1, 2))
        q, k, v = heads
        scores = q @ k.mT / k.size(-1) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask.unsqueeze(1), -float("inf"))
        weights = F.softmax(scores, -1)
        values = (weights @ v).transpose(1, 2).reshape(batch, length, width)
        output = self.attention.out_proj(values)
        after = x + output
        fed = self.feed_forward(after)
        block = after + fed
        return {
            "embedded": x,
            "query": q,
            "key": k,
            "value": v,
            "attention_weights": weights,
            "attention_values": values,
            "attention_output": output,
            "after_attention": after,
            "feed_forward_output": fed,
            "block_output": block,
            "logits": self.classifier(block[:, 0])[:, 0],
        }


def cross_entropy(logits, labels):
    """Return the mean loss."""
    return F.binary_cross_entropy_with_logits(logits, labels.to(logits))


def accuracy(logits, labels):
    """Return the share of right ones."""
    return (logits.gt(0) == labels.bool()).float().mean().item()
