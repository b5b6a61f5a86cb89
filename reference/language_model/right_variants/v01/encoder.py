"""The encoder, short and plain."""

import torch
from learned_positions import LearnedPositionalEmbedding
from provided.blocks import TransformerBlock
from torch import nn


class Encoder(nn.Module):
    """A stack of blocks."""

    def __init__(
        self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1, norm="pre"
    ):
        super().__init__()
        if norm not in ("pre", "post"):
            raise ValueError(norm)
        self.pre = norm == "pre"
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        self.positions = LearnedPositionalEmbedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            [TransformerBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers)]
        )
        if self.pre:
            self.final_norm = nn.LayerNorm(d_model)

    def forward(self, token_ids, mask=None):
        """Run the stack."""
        x = self.positions(self.token_embedding(token_ids))
        for block in self.blocks:
            x = block(x, mask)
        return self.final_norm(x) if self.pre else x

    def stream(self, token_ids, mask=None):
        """Run the stack and keep what it passes by."""
        x = self.positions(self.token_embedding(token_ids))
        seen = [x]
        for block in self.blocks:
            x = block(x, mask)
            seen.append(x)
        return torch.stack(seen)
