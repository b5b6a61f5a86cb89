"""A classifier whose steps can be looked at."""

import torch
import torch.nn.functional as F
from provided.blocks import FeedForward, MultiHeadAttention
from torch import Tensor, nn


def visible_mask(token_ids: Tensor, hidden_ids: list[int]) -> Tensor:
    visible = ~torch.isin(token_ids, token_ids.new_tensor(hidden_ids))
    return visible[:, None, :].repeat(1, token_ids.size(1), 1)


class Classifier(nn.Module):

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, bias=False)
        self.feed_forward = FeedForward(d_model, d_ff, 0.0, "gelu", bias=False)
        self.classifier = nn.Linear(d_model, 1, bias=False)

    def forward(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.trace(token_ids, mask)["logits"]

    def trace(self, token_ids: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
        embedded = self.embedding(token_ids)
        split = (self.num_heads, embedded.size(-1) // self.num_heads)
        attention = self.attention
        layers = (attention.q_linear, attention.k_linear, attention.v_linear)
        query, key, value = (
            layer(embedded).unflatten(-1, split).transpose(1, 2)
            for layer in layers
        )
        scores = query @ key.transpose(-2, -1) / split[1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        values = (weights @ value).transpose(1, 2).flatten(2)
        output = attention.out_proj(values)
        after = embedded + output
        fed = self.feed_forward(after)
        block = after + fed
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
            "logits": self.classifier(block[:, 0]).squeeze(-1),
        }


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    return F.binary_cross_entropy_with_logits(logits, labels.to(logits.dtype))


def accuracy(logits: Tensor, labels: Tensor) -> float:
    return ((logits > 0) == labels).double().mean().item()
