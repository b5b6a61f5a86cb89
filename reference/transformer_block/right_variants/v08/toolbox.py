"""Everything I need for the assignment; the other files only hand it on."""

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "LayerNorm",
    "MultiHead",
    "PositionalEncoding",
    "SelfAttention",
    "attend",
    "causal_mask",
    "choose",
    "last_softmax",
    "layer_norm",
    "linears",
    "memory_lookup",
    "padding_mask",
    "sinusoidal_encoding",
]

ACTIVATIONS = {"relu": torch.relu, "gelu": F.gelu}


def choose(table, name, what):
    """Look a setting up, or complain."""
    try:
        return table[name]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{what} must be one of {', '.join(table)}; got {name}") from error


def linears(module, sizes, bias):
    """Give the module linear layers by name."""
    for name, (before, after) in sizes.items():
        module.add_module(name, nn.Linear(before, after, bias=bias))


def layer_norm(x, eps=1e-5):
    """Z-score from the standard deviation and the mean, in one call."""
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return torch.sub(x, mean) * torch.rsqrt(variance + eps)


def sinusoidal_encoding(seq_len, d_model):
    """Sine and cosine are the two parts of one complex number on the unit circle."""
    if d_model % 2:
        raise ValueError(f"d_model is {d_model}, but must be even")
    rates = torch.logspace(0, -4 + 8 / d_model, d_model // 2, dtype=torch.float64)
    angles = torch.arange(seq_len, dtype=torch.float64).unsqueeze(-1) * rates
    circle = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(circle).flip(-1).reshape(seq_len, d_model)


def causal_mask(seq_len):
    """True on and below the diagonal."""
    return torch.full((seq_len, seq_len), True).tril()


def padding_mask(token_ids, pad_id):
    """False in the columns of padding."""
    shape = (*token_ids.shape, token_ids.shape[-1])
    return torch.broadcast_to(~torch.eq(token_ids, pad_id)[..., None, :], shape)


def attend(query, key, value, mask=None):
    """Scores, softmax, mixture. The masked scores are so low that nothing is left of them."""
    scores = torch.matmul(query, key.transpose(-1, -2)).div(query.size(-1) ** 0.5)
    if mask is not None:
        scores = scores.masked_fill(mask == False, torch.finfo(scores.dtype).min)  # noqa: E712
    weights = F.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights


def memory_lookup(x, keys, values):
    """Match, rectify, recall."""
    return torch.matmul(F.relu(torch.matmul(x, torch.t(keys))), values)


def last_softmax(logits):
    """Probabilities at the last position."""
    return F.softmax(logits[:, -1], dim=-1)


class LayerNorm(nn.Module):
    """Z-score, gain, shift."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.empty(d_model).fill_(1.0))
        self.bias = nn.Parameter(torch.empty(d_model).fill_(0.0))

    def forward(self, x):
        """Normalise and scale."""
        return torch.addcmul(self.bias, layer_norm(x, self.eps), self.weight)


class PositionalEncoding(nn.Dropout):
    """A dropout that adds something first."""

    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__(dropout)
        self.table = sinusoidal_encoding(max_len, d_model)

    def forward(self, x):
        """Add the rows of the positions, then drop."""
        length = x.shape[1]
        if length > len(self.table):
            raise ValueError(f"{length} tokens are more than {len(self.table)}")
        return super().forward(x + self.table[:length].to(x.device, x.dtype))


class MultiHead(nn.Module):
    """Attention with any number of heads; the heads become part of the batch."""

    def __init__(self, d_model, num_heads=1, bias=True, names=("q_linear", "k_linear", "v_linear")):
        super().__init__()
        assert d_model % num_heads == 0, f"{d_model} / {num_heads} leaves a rest"
        self.num_heads = num_heads
        linears(self, dict.fromkeys(names, (d_model, d_model)), bias)

    def forward(self, x, mask=None):
        """Return the joined outputs and the weights of every head (B, H, T, T)."""
        b, t, d = x.shape
        h = self.num_heads

        def fold(y):
            return y.view(b, t, h, d // h).permute(0, 2, 1, 3).reshape(b * h, t, d // h)

        if mask is not None and mask.ndim == 3:
            mask = mask.repeat_interleave(h, dim=0)
        q, k, v = (fold(f(x)) for f in (self.q_linear, self.k_linear, self.v_linear))
        mixed, weights = attend(q, k, v, mask)
        joined = mixed.view(b, h, t, d // h).permute(0, 2, 1, 3).reshape(b, t, d)
        return joined, weights.view(b, h, t, t)


class SelfAttention(MultiHead):
    """A single head: its dimension is taken away again."""

    def __init__(self, d_model, bias=True):
        super().__init__(d_model, 1, bias)

    def forward(self, x, mask=None):
        """Return (B, T, D) and (B, T, T)."""
        output, weights = super().forward(x, mask)
        return output, weights.squeeze(1)
