"""The encoder by functions: F.embedding, F.layer_norm and a fold over the blocks."""

from functools import reduce

import torch
import torch.nn.functional as F
from learned_positions import LearnedPositionalEmbedding
from provided.blocks import TransformerBlock
from torch import nn


class Affine(nn.Module):
    """The parameters of a norm; the function below applies them."""

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))


def with_next(entries, block, mask):
    """Append what the block makes of the last entry."""
    return (*entries, block(entries[-1], mask))


class Encoder(nn.Module):
    """Holds parameters; functions do the work."""

    def __init__(
        self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1, norm="pre"
    ):
        super().__init__()
        self.norm = norm
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.token_embedding.weight.data.normal_(mean=0.0, std=0.02)
        self.positions = LearnedPositionalEmbedding(max_len, d_model)
        made = [
            TransformerBlock(d_model, num_heads, d_ff, dropout, "post" if norm == "post" else "pre")
            for _ in range(num_layers)
        ]
        self.blocks = nn.ModuleList(made)
        if norm == "pre":
            self.final_norm = Affine(d_model)

    def entries(self, token_ids, mask):
        """Return the stream as a tuple. Only here an unknown norm is refused."""
        if self.norm not in ("pre", "post"):
            raise ValueError(f"norm {self.norm!r} is none")
        start = self.positions(F.embedding(token_ids, self.token_embedding.weight))
        return reduce(lambda seen, block: with_next(seen, block, mask), self.blocks, (start,))

    def forward(self, token_ids, mask=None):
        """Normalise the last entry where blocks do not."""
        last = self.entries(token_ids, mask)[-1]
        if self.norm == "post":
            return last
        return F.layer_norm(last, last.shape[-1:], self.final_norm.weight, self.final_norm.bias)

    def stream(self, token_ids, mask=None):
        """Stack the entries."""
        return torch.stack(self.entries(token_ids, mask))
