import torch
import torch.nn as nn


def sinusoidal_encoding(seq_len, d_model):
    # every sin needs a cos
    if d_model % 2 == 1:
        raise ValueError("d_model should be even")
    encoding = torch.zeros(seq_len, d_model, dtype=torch.float64)
    positions = torch.arange(seq_len, dtype=torch.float64)
    for i in range(d_model // 2):
        # slow waves for the later columns
        wave = positions / (10000 ** (2 * i / d_model))
        encoding[:, 2 * i] = torch.sin(wave)
        encoding[:, 2 * i + 1] = torch.cos(wave)
    return encoding


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.0):
        super(PositionalEncoding, self).__init__()
        self.max_len = max_len
        # no parameters here! the encoding is never learned
        encoding = sinusoidal_encoding(max_len, d_model)
        self.encoding = encoding
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        number_of_tokens = x.shape[1]
        if number_of_tokens > self.max_len:
            raise ValueError("more tokens than max_len")
        # only the first T rows, in the same dtype and on the same device as x
        encoding = self.encoding[0:number_of_tokens]
        encoding = encoding.type(x.dtype).to(x.device)
        # (B, T, D) + (T, D) is broadcast
        return self.dropout(x + encoding)
