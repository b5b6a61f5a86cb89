"""torch's primitives alone: masks by numpy, a softmax and a cross-entropy with own gradients."""

import numpy as np
import torch
from encoder import Encoder
from torch import nn


class Surprise(torch.autograd.Function):
    """Mean cross-entropy of scores (M, V) for words (M), with its gradient."""

    @staticmethod
    def forward(ctx, scores, words):
        """Compute the mean."""
        powers = torch.exp(scores - scores.max(dim=1, keepdim=True).values)
        chances = powers / powers.sum(dim=1, keepdim=True)
        rows = torch.arange(len(words), device=words.device)
        ctx.save_for_backward(chances, rows, words)
        shifted = scores - scores.max(dim=1, keepdim=True).values
        return (powers.sum(dim=1).log() - shifted[rows, words]).mean()

    @staticmethod
    def backward(ctx, above):
        """Chances less what happened, over how many there are."""
        chances, rows, words = ctx.saved_tensors
        gradient = chances.clone()
        gradient[rows, words] -= 1
        return above * gradient / len(words), None


class LanguageModel(nn.Module):
    """The encoder, multiplied by its embedding."""

    def __init__(self, vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout=0.1):
        nn.Module.__init__(self)
        encoder = Encoder(vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout)
        self.encoder = encoder

    def forward(self, token_ids):
        """Compute the logits as sums of products."""
        length = token_ids.shape[1]
        mask = torch.from_numpy(np.tri(length, dtype=bool)).to(token_ids.device)
        hidden = self.encoder(token_ids, mask)
        return (hidden.unsqueeze(-2) * self.encoder.token_embedding.weight).sum(-1)


def next_token_loss(logits, token_ids, pad_id=None):
    """Pick what counts by its index."""
    words = token_ids[:, 1:].reshape(-1)
    scores = logits[:, :-1].reshape(-1, logits.shape[2])
    if pad_id is not None:
        kept = torch.nonzero(words - pad_id, as_tuple=True)[0]
        words, scores = words[kept], scores[kept]
    if words.nelement() == 0:
        raise ValueError("nothing left")
    return Surprise.apply(scores, words)


def perplexity(loss):
    """The same as e ** loss."""
    return torch.special.expm1(loss) + 1
