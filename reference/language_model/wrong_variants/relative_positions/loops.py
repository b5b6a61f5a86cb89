import math

import torch
from torch import nn


def relative_distances(seq_len, max_distance):
    rows = []
    for i in range(seq_len):
        row = []
        for j in range(seq_len):
            d = j - i
            if d > max_distance:
                d = max_distance
            if d < -max_distance:
                d = -max_distance
            row.append(d)
        rows.append(row)
    return torch.tensor(rows)


class RelativePositionBias(nn.Module):
    def __init__(self, num_heads, max_distance):
        super().__init__()
        self.num_heads = num_heads
        self.max_distance = max_distance
        self.weight = nn.Parameter(torch.empty(2 * max_distance + 1, num_heads).normal_(0, 0.02))

    def forward(self, seq_len):
        d = relative_distances(seq_len, self.max_distance)
        heads = []
        for h in range(self.num_heads):
            column = self.weight[:, h]
            heads.append(column[d + self.max_distance])
        return torch.stack(heads)


def relative_attention(query, key, value, bias, mask=None):
    B, H, T, d_k = query.shape
    outs, ws = [], []
    for b in range(B):
        for h in range(H):
            s = query[b, h] @ key[b, h].T / math.sqrt(d_k)
            s = s + bias[h]
            if mask is not None:
                m = mask[b] if mask.dim() == 3 else mask
                s = s.masked_fill(~m, float("-inf"))
            w = torch.softmax(s, dim=1)
            ws.append(w)
            outs.append(w @ value[b, h])
    return torch.stack(outs).view(B, H, T, -1), torch.stack(ws).view(B, H, T, T)
