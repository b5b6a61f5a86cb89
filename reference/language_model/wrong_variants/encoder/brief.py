import torch
from learned_positions import LearnedPositionalEmbedding
from provided.blocks import TransformerBlock
from torch import nn


class Encoder(nn.Module):
    def __init__(
        self,
        vocab_size,
        max_len,
        d_model,
        num_heads,
        d_ff,
        num_layers,
        dropout=0.1,
        norm="pre",
    ):
        super().__init__()
        if norm not in {"pre", "post"}:
            raise ValueError(norm)
        self.norm = norm
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        self.positions = LearnedPositionalEmbedding(max_len, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(TransformerBlock(d_model, num_heads, d_ff, dropout, norm))
        if norm == "pre":
            self.final_norm = nn.LayerNorm(d_model)

    def forward(self, token_ids, mask=None):
        last = self.stream(token_ids, mask)[-1]
        return self.final_norm(last) if self.norm == "pre" else last

    def stream(self, token_ids, mask=None):
        states = [self.positions(self.token_embedding(token_ids))]
        for block in self.blocks:
            states.append(block(states[-1], mask))
        return torch.stack(states)
