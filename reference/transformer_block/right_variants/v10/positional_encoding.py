"""Positional encoding by turning: position p + 1 is position p, every pair turned a bit further."""

import torch


def sinusoidal_encoding(seq_len, d_model):
    """Angles by a cumulative sum, in float64 so that nothing adds up."""
    if d_model % 2:
        raise ValueError(f"expected an even d_model, got {d_model}")
    steps = 10000.0 ** -torch.linspace(0, 1, d_model // 2 + 1, dtype=torch.float64)[:-1]
    angles = steps.repeat(seq_len, 1).cumsum(0) - steps
    return torch.cat((angles.sin()[..., None], angles.cos()[..., None]), -1).view(seq_len, d_model)


class PositionalEncoding(torch.nn.Module):
    """Add, then drop."""

    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.register_buffer("table", sinusoidal_encoding(max_len, d_model), persistent=False)
        self.drop = torch.nn.Dropout(dropout)

    def _apply(self, fn, recurse=True):
        # .to(bfloat16) must not round the table: only the device is followed
        super()._apply(fn, recurse)
        if self.table.dtype != torch.float64:
            device = self.table.device
            self.table = sinusoidal_encoding(*self.table.shape).to(device)
        return self

    def forward(self, x):
        """Use the first T rows."""
        if x.shape[1] > self.table.shape[0]:
            raise ValueError(f"sequence of {x.shape[1]}, table of {self.table.shape[0]}")
        return self.drop(x + self.table[: x.shape[1]].to(x))
