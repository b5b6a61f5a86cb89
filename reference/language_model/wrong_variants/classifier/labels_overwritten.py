# misconception: none
"""What is right is noted where the labels were."""

import torch
import torch.nn.functional as F
from provided.blocks import FeedForward, MultiHeadAttention
from torch import Tensor, nn


def visible_mask(token_ids: Tensor, hidden_ids: list[int]) -> Tensor:
    visible = ~torch.isin(token_ids, token_ids.new_tensor(hidden_ids))  # (B, T)
    return visible[:, None, :].repeat(1, token_ids.size(1), 1)  # (B, T, T)


class Classifier(nn.Module):

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, bias=False)
        self.feed_forward = FeedForward(d_model, d_ff, 0.0, "gelu", bias=False)
        self.classifier = nn.Linear(d_model, 1, bias=False)

    def forward(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.trace(token_ids, mask)["logits"]  # (B,)

    def trace(self, token_ids: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
        embedded = self.embedding(token_ids)  # (B, T, D)
        split = (self.num_heads, embedded.size(-1) // self.num_heads)
        attention = self.attention
        layers = (attention.q_linear, attention.k_linear, attention.v_linear)
        query, key, value = (
            layer(embedded).unflatten(-1, split).transpose(1, 2)  # (B, H, T, D/H)
            for layer in layers
        )
        scores = query @ key.transpose(-2, -1) / split[1] ** 0.5  # (B, H, T, T)
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], float("-inf"))
        weights = torch.softmax(scores, dim=-1)  # (B, H, T, T)
        values = (weights @ value).transpose(1, 2).flatten(2)  # (B, T, D)
        output = attention.out_proj(values)  # (B, T, D)
        after = embedded + output  # (B, T, D)
        fed = self.feed_forward(after)  # (B, T, D)
        block = after + fed  # (B, T, D)
        return {
            "embedded": embedded,
            "query": query,
            "key": key,
            "value": value,
            "attention_weights": weights,
            "attention_values": values,
            "attention_output": output,
            "after_attention": after,
            "feed_forward_output": fed,
            "block_output": block,
            "logits": self.classifier(block[:, 0]).squeeze(-1),  # (B,)
        }


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    return F.binary_cross_entropy_with_logits(logits, labels.to(logits.dtype))


def accuracy(logits: Tensor, labels: Tensor) -> float:
    right = labels.eq_((logits > 0).to(labels.dtype))
    return right.double().mean().item()
