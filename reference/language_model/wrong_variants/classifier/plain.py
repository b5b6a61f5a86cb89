import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from provided.blocks import FeedForward, MultiHeadAttention


def visible_mask(token_ids, hidden_ids):
    b, t = token_ids.shape
    keep = torch.ones_like(token_ids).bool()
    for i in hidden_ids:
        keep = keep & (token_ids != i)
    return keep.unsqueeze(1).expand(b, t, t)


class Classifier(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, bias=False)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=0.0, activation="gelu", bias=False)
        self.classifier = nn.Linear(d_model, 1, bias=False)

    def forward(self, token_ids, mask=None):
        return self.trace(token_ids, mask)["logits"]

    def trace(self, token_ids, mask=None):
        t = {}
        x = self.embedding(token_ids)
        b, n, d = x.shape
        t["embedded"] = x
        q = self.attention.q_linear(x).view(b, n, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.attention.k_linear(x).view(b, n, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.attention.v_linear(x).view(b, n, self.num_heads, self.head_dim).transpose(1, 2)
        t["query"], t["key"], t["value"] = q, k, v
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(1) == 0, float("-inf"))
        w = F.softmax(scores, dim=-1)
        t["attention_weights"] = w
        h = torch.matmul(w, v).transpose(1, 2).contiguous().view(b, n, d)
        t["attention_values"] = h
        o = self.attention.out_proj(h)
        t["attention_output"] = o
        x = x + o
        t["after_attention"] = x
        f = self.feed_forward(x)
        t["feed_forward_output"] = f
        x = x + f
        t["block_output"] = x
        t["logits"] = self.classifier(x[:, 0, :]).squeeze(1)
        return t


def cross_entropy(logits, labels):
    return F.binary_cross_entropy_with_logits(logits, labels.type_as(logits))


def accuracy(logits, labels):
    predicted = (logits > 0).long()
    return (predicted == labels.long()).float().mean().item()
