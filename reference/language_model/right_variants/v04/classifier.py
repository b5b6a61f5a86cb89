"""The classifier; its parts are in a file of their own."""

import torch.nn.functional as F
from classifier_parts import Recorder, SeenAttention
from provided.blocks import FeedForward
from torch import Tensor, isin, nn, tensor


def visible_mask(token_ids: Tensor, hidden_ids: list[int]) -> Tensor:
    """Hide columns."""
    hidden = tensor(hidden_ids, device=token_ids.device, dtype=token_ids.dtype)
    visible = isin(token_ids, hidden, invert=True)
    return visible[:, None].broadcast_to(*token_ids.shape, token_ids.shape[-1])


class Classifier(nn.Module):
    """A recorded block."""

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.classifier = nn.Linear(d_model, 1, bias=False)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = SeenAttention(d_model, num_heads, bias=False)
        self.feed_forward = FeedForward(d_model, d_ff, 0.0, "gelu", bias=False)

    def trace(self, token_ids: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
        """Record everything."""
        keep = Recorder()
        x = keep("embedded", self.embedding(token_ids))
        x = keep("after_attention", x + self.attention.record(x, mask, keep))
        x = keep("block_output", x + keep("feed_forward_output", self.feed_forward(x)))
        keep("logits", self.classifier(x.select(1, 0)).flatten())
        return keep

    def forward(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the last record."""
        return self.trace(token_ids, mask)["logits"]


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean of minus log-sigmoid."""
    return -F.logsigmoid(logits.where(labels.bool(), -logits)).mean()


def accuracy(logits: Tensor, labels: Tensor) -> float:
    """Return the share of right ones."""
    return 1 - ((logits > 0) ^ labels.bool()).double().mean().item()
