"""Word after word, in loops."""

import torch
from encoder import Encoder
from provided import blocks


class LanguageModel(torch.nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1):
        torch.nn.Module.__init__(self)
        sizes = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, num_layers=num_layers)
        self.encoder = Encoder(vocab_size, max_len, dropout=dropout, **sizes)

    def unembed(self, vectors):
        table = self.encoder.token_embedding.weight
        return (vectors.unsqueeze(-2) * table).sum(-1)

    def forward(self, token_ids):
        mask = blocks.causal_mask(token_ids.shape[1], device=token_ids.device)
        vectors = self.encoder(token_ids, mask)
        columns = [self.unembed(vectors[:, t]) for t in range(token_ids.shape[1])]
        return torch.stack(columns, 1)


def next_token_loss(logits, token_ids, pad_id=None):
    losses = []
    for b in range(token_ids.shape[0]):
        for t in range(token_ids.shape[1] - 1):
            word = int(token_ids[b, t + 1])
            if word == pad_id:
                continue
            losses.append(-torch.log_softmax(logits[b, t], dim=0)[word])
    if not losses:
        raise ValueError("no token is predicted")
    return torch.stack(losses).mean()


def perplexity(loss):
    return loss.exp()
