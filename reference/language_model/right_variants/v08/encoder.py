"""The encoder of torch's primitives: tables by index_select, a norm by hand, a recursive stack."""

import torch
from learned_positions import LearnedPositionalEmbedding
from provided.blocks import TransformerBlock
from torch import nn


class Table(nn.Module):
    """A table of vectors, drawn around 0."""

    def __init__(self, rows, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, columns).normal_(std=0.02))

    def forward(self, ids):
        """Look up."""
        return self.weight.index_select(0, ids.reshape(-1)).reshape(*ids.shape, -1)


class Norm(nn.Module):
    """Layer normalisation written out."""

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        """Centre, scale, weigh."""
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.pow(2).mean(-1, keepdim=True)
        return centred * torch.rsqrt(variance + 1e-5) * self.weight + self.bias


class Encoder(nn.Module):
    """A table, positions, and a stack that calls itself."""

    def __init__(
        self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1, norm="pre"
    ):
        super().__init__()
        self.token_embedding = Table(vocab_size, d_model)
        self.positions = LearnedPositionalEmbedding(max_len, d_model)
        match norm:
            case "pre":
                self.final_norm = Norm(d_model)
            case "post":
                pass
            case _:
                raise ValueError(norm)
        self.blocks = nn.ModuleDict(
            {
                str(number): TransformerBlock(d_model, num_heads, d_ff, dropout, norm)
                for number in range(num_layers)
            }
        )

    def above(self, x, mask, number=0):
        """Yield x and what the blocks from this number on make of it."""
        yield x
        if str(number) in self.blocks:
            yield from self.above(self.blocks[str(number)](x, mask), mask, number + 1)

    def stream(self, token_ids, mask=None):
        """Gather what is yielded."""
        entries = [
            x[None] for x in self.above(self.positions(self.token_embedding(token_ids)), mask)
        ]
        return torch.cat(entries)

    def forward(self, token_ids, mask=None):
        """Normalise the last."""
        *_, last = self.above(self.positions(self.token_embedding(token_ids)), mask)
        return self.final_norm(last) if hasattr(self, "final_norm") else last
