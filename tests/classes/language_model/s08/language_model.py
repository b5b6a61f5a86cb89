"""Functional: F and nothing of its own. The model is an encoder's subclass in all but name."""

import torch
import torch.nn.functional as F
from encoder import Encoder
from torch import nn


class LanguageModel(nn.Module):
    """Adds a head to the encoder."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        self.add_module("encoder", Encoder(*args, **kwargs))

    def forward(self, token_ids):
        """F.linear over the encoder."""
        length = token_ids.size(1)
        later = torch.triu(
            torch.ones((length, length), dtype=torch.bool, device=token_ids.device), diagonal=1
        )
        hidden = self.encoder(token_ids, torch.logical_not(later))
        return F.linear(input=hidden, weight=self.encoder.token_embedding.weight, bias=None)


def next_token_loss(logits, token_ids, pad_id=None):
    """F.nll_loss of F.log_softmax, with weights of words."""
    logs = F.log_softmax(logits[:, :-1], dim=-1).flatten(end_dim=-2)
    targets = token_ids[:, 1:].flatten()
    weight = torch.ones(logits.size(-1), dtype=logits.dtype, device=logits.device)
    if pad_id is not None:
        weight[pad_id] = 0
    if not weight[targets].any():
        raise ValueError("every word has weight 0")
    return F.nll_loss(logs, targets, weight=weight)


def perplexity(loss):
    """Exponential."""
    return loss.exp()
