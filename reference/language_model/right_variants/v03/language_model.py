"""In Python loops: position after position."""

import torch
from encoder import Encoder
from torch import nn


class LanguageModel(nn.Module):
    """Asks the encoder for every beginning of the sentence, and keeps its last vector.

    In training dropout draws anew for every beginning, which is no other distribution.
    """

    def __init__(self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1):
        super().__init__()
        self.encoder = Encoder(vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout)

    def forward(self, token_ids):
        """Score the words after every beginning."""
        table = self.encoder.token_embedding.weight
        rows = []
        for length in range(1, token_ids.shape[1] + 1):
            mask = torch.ones(length, length, dtype=torch.bool, device=token_ids.device).tril()
            last = self.encoder(token_ids[:, :length], mask)[:, -1]
            rows.append(torch.stack([vector @ table.t() for vector in last]))
        return torch.stack(rows, dim=1)


def next_token_loss(logits, token_ids, pad_id=None):
    """Add up the surprises one by one."""
    surprises = []
    for sentence, scores in zip(token_ids, logits, strict=True):
        for place in range(len(sentence) - 1):
            word = int(sentence[place + 1])
            if pad_id is not None and word == pad_id:
                continue
            surprises.append(torch.logsumexp(scores[place], dim=0) - scores[place][word])
    if len(surprises) == 0:
        raise ValueError("no word has to be predicted")
    return sum(surprises) / len(surprises)


def perplexity(loss):
    """e to the loss."""
    return torch.e**loss
