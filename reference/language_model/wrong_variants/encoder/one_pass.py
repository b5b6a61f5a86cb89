"""A stack in the manner of GPT code: a dictionary of modules, one pass that can be asked for more."""
import torch
from learned_positions import LearnedPositionalEmbedding
from provided.blocks import TransformerBlock
from torch import nn
from torch.nn import functional as F

NORMS = {"pre": True, "post": False}


class Encoder(nn.Module):
    def __init__(
        self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1, norm="pre"
    ):
        super().__init__()
        try:
            self.ends_in_norm = NORMS[norm]
        except KeyError:
            raise ValueError(f"no norm {norm}") from None
        self.p = dropout
        settings = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout, norm=norm)
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        self.positions = LearnedPositionalEmbedding(max_len, d_model)
        self.blocks = nn.ModuleList([TransformerBlock(**settings) for layer in range(num_layers)])
        self.final_norm = nn.LayerNorm(d_model) if self.ends_in_norm else None

    def embed(self, ids):
        return self.positions(F.embedding(ids, self.token_embedding.weight))

    def run(self, ids, mask, keep):
        h = self.embed(ids)
        kept = h.unsqueeze(0)
        for block in self.blocks:
            h = block(h, mask)
            if keep:
                kept = torch.cat([kept, h.unsqueeze(0)])
        return kept if keep else self.finish(h)

    def finish(self, h):
        return h if self.final_norm is None else self.final_norm(h)

    def forward(self, token_ids, mask=None):
        return self.run(token_ids, mask, keep=False)

    def stream(self, token_ids, mask=None):
        return self.run(token_ids, mask, keep=True)
