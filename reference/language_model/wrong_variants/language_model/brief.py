import torch
import torch.nn.functional as F
from encoder import Encoder
from torch import nn


class LanguageModel(nn.Module):
    def __init__(
        self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1
    ):
        super().__init__()
        sizes = (vocab_size, max_len, d_model, num_heads, d_ff, num_layers)
        self.encoder = Encoder(*sizes, dropout=dropout, norm="pre")

    def forward(self, token_ids):
        length = token_ids.shape[1]
        mask = torch.ones(length, length, dtype=torch.bool, device=token_ids.device).tril()
        states = self.encoder(token_ids, mask)
        return F.linear(states, self.encoder.token_embedding.weight)


def next_token_loss(logits, token_ids, pad_id=None):
    rows, follow = logits[:, :-1].flatten(0, 1), token_ids[:, 1:].flatten()
    if pad_id is not None:
        rows, follow = rows[follow != pad_id], follow[follow != pad_id]
    if len(follow) == 0:
        raise ValueError("nothing follows")
    return F.cross_entropy(rows, follow)


def perplexity(loss):
    return torch.exp(loss)
