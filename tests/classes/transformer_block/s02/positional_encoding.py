import torch
from torch import nn


def sinusoidal_encoding(seq_len: int, d_model: int):
    if d_model % 2 == 1:
        raise ValueError(f"d_model has to be even, got {d_model}")
    p = torch.arange(seq_len, dtype=torch.double)
    f = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.double) / d_model)
    a = torch.einsum("p,f->pf", p, f)
    # (T, D/2, 2) -> (T, D): s0 c0 s1 c1 ...
    return torch.stack((a.sin(), a.cos()), dim=-1).flatten(-2)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.0):
        super().__init__()
        if d_model % 2 == 1:
            raise ValueError(f"d_model has to be even, got {d_model}")
        self.d_model, self.max_len, self.p = d_model, max_len, dropout

    def forward(self, x):
        _, t, _ = x.shape
        if t > self.max_len:
            raise ValueError(f"{t} positions, but max_len is {self.max_len}")
        table = sinusoidal_encoding(t, self.d_model).to(dtype=x.dtype, device=x.device)
        return nn.functional.dropout(x + table, self.p, self.training)
