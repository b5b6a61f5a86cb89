"""My language model."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from encoder import Encoder


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1):
        super().__init__()
        self.encoder = Encoder(
            vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=dropout
        )

    def forward(self, token_ids):
        T = token_ids.shape[1]
        mask = torch.tril(torch.ones(T, T, device=token_ids.device)).bool()
        x = self.encoder(token_ids, mask)
        logits = F.linear(x, self.encoder.token_embedding.weight)
        return logits


def next_token_loss(logits, token_ids, pad_id=None):
    pred = logits[:, :-1, :]
    target = token_ids[:, 1:]
    if pad_id is None:
        keep = torch.ones_like(target).bool()
    else:
        keep = target != pad_id
    if keep.sum() == 0:
        raise ValueError("nothing to predict")
    pred = pred.reshape(-1, pred.shape[-1])
    loss = F.cross_entropy(pred, target.reshape(-1), reduction="none")
    return loss[keep.reshape(-1)].mean()


def perplexity(loss):
    return torch.exp(loss)
