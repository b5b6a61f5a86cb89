"""The encoder of modules alone: a base class, a sequence that hands the mask on, hooks."""

import torch
from learned_positions import LearnedPositionalEmbedding
from provided.blocks import TransformerBlock
from torch import nn


class MaskedSequential(nn.Sequential):
    """A sequence whose members take a mask."""

    def forward(self, x, mask=None):
        """Pass x through."""
        for module in self:
            x = module(x, mask)
        return x


class Stack(nn.Module):
    """Tokens and positions below, blocks above."""

    def __init__(self, vocab_size, max_len, d_model, blocks):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        self.positions = LearnedPositionalEmbedding(max_len, d_model)
        self.blocks = MaskedSequential(*blocks)

    def start(self, token_ids):
        """Embed."""
        return self.positions(self.token_embedding(token_ids))


class Encoder(Stack):
    """The stack with an end."""

    def __init__(
        self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1, norm="pre"
    ):
        if norm == "pre":
            end = nn.LayerNorm(d_model)
        elif norm == "post":
            end = nn.Identity()
        else:
            raise ValueError(f"unknown norm {norm!r}")
        blocks = [
            TransformerBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers)
        ]
        super().__init__(vocab_size, max_len, d_model, blocks)
        self.final_norm = end

    def forward(self, token_ids, mask=None):
        """Start, blocks, end."""
        return self.final_norm(self.blocks(self.start(token_ids), mask))

    def stream(self, token_ids, mask=None):
        """Listen to every block by a hook."""
        seen = []
        hooks = [
            block.register_forward_hook(lambda *call: seen.append(call[-1]))
            for block in self.blocks
        ]
        try:
            start = self.start(token_ids)
            self.blocks(start, mask)
        finally:
            for hook in hooks:
                hook.remove()
        return torch.stack([start, *seen])
