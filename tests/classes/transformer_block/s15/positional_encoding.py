import numpy as np
import torch as th


def sinusoidal_encoding(seq_len, d_model):
    if d_model % 2:
        raise ValueError('need an even d_model')
    a = np.outer(np.arange(seq_len), 10000.0 ** (-np.arange(0, d_model, 2) / d_model))
    e = np.zeros((seq_len, d_model))
    e[:, 0::2], e[:, 1::2] = (np.sin(a), np.cos(a))
    return th.tensor(e, dtype=th.float32)


class PositionalEncoding(th.nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.n = max_len
        self.enc = sinusoidal_encoding(max_len, d_model)
        self.drop = th.nn.Dropout(dropout)

    def forward(self, x):
        t = x.size(1)
        if t > self.n:
            raise ValueError('t > max_len')
        return self.drop(x + self.enc[:t].to(x))
