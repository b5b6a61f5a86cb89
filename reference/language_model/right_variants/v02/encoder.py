"""The encoder: one-hot tokens times the table, by einsum; the stream is written into a tensor."""

import torch
from learned_positions import LearnedPositionalEmbedding
from provided.blocks import TransformerBlock
from torch import nn


class Encoder(nn.Module):
    """Every step a product of tensors."""

    def __init__(
        self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1, norm="pre"
    ):
        super().__init__()
        if norm not in {"pre", "post"}:
            raise ValueError(f"norm: {norm}")
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        torch.nn.init.normal_(self.token_embedding.weight, 0.0, 0.02)
        self.positions = LearnedPositionalEmbedding(max_len, d_model)
        blocks = (
            TransformerBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers)
        )
        self.blocks = nn.ModuleList(blocks)
        if norm == "pre":
            self.final_norm = nn.LayerNorm(d_model)
        else:
            self.final_norm = lambda x: x

    def stream(self, token_ids, mask=None):
        """Fill in one entry after the other."""
        table = self.token_embedding.weight
        words = torch.arange(len(table), device=token_ids.device)
        hot = (token_ids[..., None] == words).to(table.dtype)
        x = self.positions(torch.einsum("btv,vd->btd", hot, table))
        entries = x.new_empty(len(self.blocks) + 1, *x.shape)
        entries[0] = x
        for number, block in enumerate(self.blocks, start=1):
            x = block(x, mask)
            entries[number] = x
        return entries

    def forward(self, token_ids, mask=None):
        """Normalise the last entry."""
        return self.final_norm(self.stream(token_ids, mask)[-1])
