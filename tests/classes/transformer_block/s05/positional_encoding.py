import math

import torch
import torch.nn as nn

from utils import complain, log

print("positional_encoding.py is being imported")


def sinusoidal_encoding(seq_len, d_model):
    if d_model % 2 != 0:
        print("ERROR: odd d_model", d_model)
        raise ValueError("d_model must be an even number but it is %d" % d_model)
    position = torch.arange(0, seq_len, dtype=torch.float64).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(10000.0) / d_model))
    encoding = torch.zeros(seq_len, d_model, dtype=torch.float64)
    encoding[:, 0::2] = torch.sin(position * div_term)   # even columns
    encoding[:, 1::2] = torch.cos(position * div_term)   # odd columns
    log("sinusoidal_encoding", seq_len, d_model, "->", tuple(encoding.shape))
    return encoding


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.d_model = d_model
        self.max_len = max_len
        self.dropout = nn.Dropout(dropout)
        self.cache = {}   # (dtype, device) -> encoding, a plain dict: it is not in the state_dict
        self.table = sinusoidal_encoding(max_len, d_model)

    def forward(self, x):
        batch_size, seq_len, d_model = x.shape
        if seq_len > self.max_len:
            complain("sequence too long")
            raise ValueError("sequence length %d is more than max_len %d" % (seq_len, self.max_len))
        which = (x.dtype, str(x.device))
        if which not in self.cache:
            log("cache miss for", which)
            self.cache[which] = self.table.to(dtype=x.dtype, device=x.device)
        return self.dropout(x + self.cache[which][:seq_len])


if __name__ == "__main__":
    # slide 25
    print(sinusoidal_encoding(3, 4))
    pe = PositionalEncoding(4)
    print(pe(torch.zeros(1, 3, 4)))
    print("state_dict:", pe.state_dict())
