"""The encoder, sequence by sequence and token by token wherever that can be done."""

import torch
from learned_positions import LearnedPositionalEmbedding
from provided.blocks import TransformerBlock
from torch import nn


class Encoder(nn.Module):
    """Loops."""

    def __init__(
        self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1, norm="pre"
    ):
        super().__init__()
        if norm != "pre" and norm != "post":
            raise ValueError("norm is pre or post")
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        with torch.no_grad():
            self.token_embedding.weight.normal_(0.0, 0.02)
        self.positions = LearnedPositionalEmbedding(max_len, d_model)
        self.blocks = nn.ModuleList()
        self.depth = 0
        while self.depth < num_layers:
            block = TransformerBlock(d_model, num_heads, d_ff, dropout, norm=norm)
            self.blocks.append(block)
            self.depth = self.depth + 1
        self.final_norm = nn.LayerNorm(d_model) if norm == "pre" else None

    def stream_of_one(self, ids, mask):
        """Return the stream (N + 1, T, D) of one sequence."""
        rows = [self.token_embedding(one) for one in ids]
        x = self.positions(torch.stack(rows)[None])
        seen = [x[0]]
        for number in range(self.depth):
            x = self.blocks[number](x, mask)
            seen.append(x[0])
        return torch.stack(seen)

    def stream(self, token_ids, mask=None):
        """Put the streams of all sequences side by side."""
        streams = []
        for number, ids in enumerate(token_ids):
            own = mask[number] if mask is not None and mask.dim() == 3 else mask
            streams.append(self.stream_of_one(ids, own))
        return torch.stack(streams, dim=1)

    def forward(self, token_ids, mask=None):
        """Return the last entry, normalised if there is a norm."""
        last = self.stream(token_ids, mask)[self.depth]
        if self.final_norm is None:
            return last
        return torch.stack([self.final_norm(sequence) for sequence in last])
