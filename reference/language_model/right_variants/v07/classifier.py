"""The classifier, defensively: arguments are looked at, and everything is computed in float32."""

from __future__ import annotations

import torch
from provided.blocks import FeedForward, MultiHeadAttention
from torch import Tensor, nn
from torch.nn import functional as F


def visible_mask(token_ids: Tensor, hidden_ids: list[int]) -> Tensor:
    """Hide columns."""
    if token_ids.dim() != 2 or token_ids.is_floating_point():
        raise TypeError("token_ids are integers, (B, T)")
    visible = torch.full(token_ids.shape, True, device=token_ids.device)
    for hidden in sorted({int(one) for one in hidden_ids}):
        visible = visible.logical_and(token_ids.ne(hidden))
    return visible.unsqueeze(-2).repeat_interleave(token_ids.size(-1), dim=-2)


class Classifier(nn.Module):
    """One careful block."""

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("the heads do not share the features evenly")
        self.num_heads, self.head_size = num_heads, d_model // num_heads
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, bias=False)
        self.feed_forward = FeedForward(d_model, d_ff, 0.0, "gelu", bias=False)
        self.classifier = nn.Linear(d_model, 1, bias=False)

    @staticmethod
    def _linear(layer: nn.Linear, x: Tensor) -> Tensor:
        return F.linear(x, layer.weight.float())

    def _heads(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        return x.reshape(batch, length, self.num_heads, self.head_size).permute(0, 2, 1, 3)

    def trace(self, token_ids: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
        """Compute in float32 and give back in the parameters' dtype."""
        dtype = self.embedding.weight.dtype
        if mask is not None and mask.dtype is not torch.bool:
            raise TypeError("the mask has to be boolean")
        steps: dict[str, Tensor] = {"embedded": self.embedding(token_ids.long()).float()}
        x = steps["embedded"]
        for name, layer in (
            ("query", self.attention.q_linear),
            ("key", self.attention.k_linear),
            ("value", self.attention.v_linear),
        ):
            steps[name] = self._heads(self._linear(layer, x))
        scores = torch.matmul(steps["query"], steps["key"].mT) * self.head_size**-0.5
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not()[:, None, :, :], float("-inf"))
        weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
        steps["attention_weights"] = weights
        mixed = torch.matmul(weights, steps["value"]).permute(0, 2, 1, 3).contiguous()
        steps["attention_values"] = mixed.view(x.shape)
        steps["attention_output"] = self._linear(self.attention.out_proj, steps["attention_values"])
        steps["after_attention"] = x + steps["attention_output"]
        inside = F.gelu(self._linear(self.feed_forward.linear1, steps["after_attention"]))
        steps["feed_forward_output"] = self._linear(self.feed_forward.linear2, inside)
        steps["block_output"] = steps["after_attention"] + steps["feed_forward_output"]
        steps["logits"] = self._linear(self.classifier, steps["block_output"][:, 0, :])[:, 0]
        return {name: step.to(dtype) for name, step in steps.items()}

    def forward(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the logits, (B,)."""
        return self.trace(token_ids, mask)["logits"]


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Compute in float32 and give back in the logits' dtype."""
    if logits.shape != labels.shape:
        raise ValueError("there are as many labels as logits")
    return F.binary_cross_entropy_with_logits(logits.float(), labels.float()).to(logits.dtype)


def accuracy(logits: Tensor, labels: Tensor) -> float:
    """Return the share of right ones."""
    predicted = torch.where(logits > 0, 1, 0)
    return float((predicted == labels.int()).float().mean())
