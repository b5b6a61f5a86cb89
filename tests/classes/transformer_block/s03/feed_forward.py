import torch
from torch import nn


def memory_lookup(x, keys, values):
    result = 0
    # one memory cell after the other
    for f in range(keys.shape[0]):
        match = torch.relu((x * keys[f]).sum(dim=-1, keepdim=True))
        result = result + match * values[f]
    return result


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1, activation="relu", bias=True):
        super(FeedForward, self).__init__()
        if activation != "relu" and activation != "gelu":
            raise ValueError("activation should be relu or gelu")
        self.activation = activation
        self.linear1 = nn.Linear(d_model, d_ff, bias=bias)
        self.linear2 = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def one_position(self, vector):
        hidden = self.linear1(vector)
        if self.activation == "relu":
            hidden = torch.relu(hidden)
        else:
            hidden = torch.nn.functional.gelu(hidden)
        hidden = self.dropout(hidden)
        return self.linear2(hidden)

    def forward(self, x):
        positions = x.reshape(-1, x.shape[-1])
        results = []
        for position in positions:
            results.append(self.one_position(position))
        return torch.stack(results).reshape(x.shape)
