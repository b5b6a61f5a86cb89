# Positional encoding. The sinus is in the even columns and the cosinus is in the odd ones.
"""Positional encoding, step by step."""

import torch
import torch.nn as nn


def sinusoidal_encoding(seq_len, d_model):
    """Make the table of waves with size (seq_len, d_model)."""
    is_odd = d_model % 2 == 1
    if is_odd:
        raise ValueError("d_model must be even because sin and cos are a pair")
    number_of_pairs = d_model // 2

    # column of positions, we copy it for every pair
    positions = torch.arange(0, seq_len, dtype=torch.float64)
    positions = positions.reshape(seq_len, 1)
    positions = positions.expand(seq_len, number_of_pairs)

    # row of divisors, we copy it for every position
    divisors = []
    for i in range(number_of_pairs):
        power = 2 * i / d_model
        divisor = 10000**power
        divisors.append(divisor)
    divisors = torch.tensor(divisors, dtype=torch.float64)
    divisors = divisors.reshape(1, number_of_pairs)
    divisors = divisors.expand(seq_len, number_of_pairs)

    angles = torch.div(positions, divisors)
    assert angles.shape == (seq_len, number_of_pairs)
    sinus = torch.sin(angles)
    cosinus = torch.cos(angles)

    # now put it alternating, one column after the other column
    columns = []
    for i in range(number_of_pairs):
        columns.append(sinus[:, i])
        columns.append(cosinus[:, i])
    table = torch.stack(columns, dim=1)
    assert table.shape == (seq_len, d_model)
    table = table.to(torch.float32)
    return table


class PositionalEncoding(nn.Module):
    """Adds the waves on the embeddings."""

    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.d_model = d_model
        self.max_len = max_len
        self.dropout = nn.Dropout(p=dropout)
        table = sinusoidal_encoding(max_len, d_model)
        # persistent False because it must not be in state dict
        self.register_buffer("table", table, persistent=False)

    def forward(self, x):
        """Add the encoding of the positions, dropout is after the sum."""
        batch_size, seq_len, d_model = x.shape
        assert d_model == self.d_model, "wrong size of features"
        if seq_len > self.max_len:
            raise ValueError("the sentence is too much long")
        encoding = self.table[0:seq_len, :]
        encoding = encoding.to(x.device)
        encoding = encoding.to(x.dtype)
        encoding = encoding.unsqueeze(0)
        encoding = encoding.expand(batch_size, seq_len, d_model)
        total = torch.add(x, encoding)
        total = self.dropout(total)
        assert total.shape == x.shape
        return total


if __name__ == "__main__":
    print(sinusoidal_encoding(2, 4))
    cat = torch.tensor([[[0.0, 0.0, 0.0, 0.0], [0.5, 0.3, -0.2, 0.8]]])
    print("the second row should be 1.341 0.840 -0.190 1.800:")
    print(PositionalEncoding(4)(cat))
