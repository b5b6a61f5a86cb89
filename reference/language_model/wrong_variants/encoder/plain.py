import torch
import torch.nn as nn

from learned_positions import LearnedPositionalEmbedding
from provided.blocks import TransformerBlock


class Encoder(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1, norm="pre"):
        super().__init__()
        if norm not in ["pre", "post"]:
            raise ValueError("norm should be pre or post")
        self.norm = norm
        self.num_layers = num_layers
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        self.positions = LearnedPositionalEmbedding(max_len, d_model)
        self.blocks = nn.ModuleList()
        for i in range(num_layers):
            self.blocks.append(TransformerBlock(d_model, num_heads, d_ff, dropout=dropout, norm=norm))
        if norm == "pre":
            self.final_norm = nn.LayerNorm(d_model)

    def forward(self, token_ids, mask=None):
        x = self.token_embedding(token_ids)
        x = self.positions(x)
        for i in range(self.num_layers):
            x = self.blocks[i](x, mask)
        if self.norm == "pre":
            x = self.final_norm(x)
        return x

    def stream(self, token_ids, mask=None):
        x = self.token_embedding(token_ids)
        x = self.positions(x)
        states = [x]
        for i in range(self.num_layers):
            x = self.blocks[i](x, mask)
            states.append(x)
        return torch.stack(states, dim=0)
