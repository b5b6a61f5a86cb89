"""Sinusoidal positions, functional style."""
from functools import partial

import torch
from torch import nn

power = partial(torch.pow, torch.tensor(1e4, dtype=torch.float64))


def _frequencies(d_model):
    return 1.0 / power(torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


def sinusoidal_encoding(seq_len, d_model):
    if d_model & 1:
        raise ValueError(d_model)
    theta = torch.outer(torch.arange(seq_len, dtype=torch.float64), _frequencies(d_model))
    waves = torch.view_as_real(torch.polar(torch.ones_like(theta), theta)).flip(-1)
    return waves.reshape(seq_len, d_model)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.limit, self.drop = max_len, nn.Dropout(dropout)
        self.lookup = lambda n: sinusoidal_encoding(n, d_model)
        self.lookup(1)

    def forward(self, x):
        if x.shape[-2] > self.limit:
            raise ValueError(f"{x.shape[-2]} > {self.limit}")
        return self.drop(x + self.lookup(x.shape[-2]).to(x))
