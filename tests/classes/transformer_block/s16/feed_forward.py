import torch
import torch.nn as nn
import torch.nn.functional as F


def memory_lookup(x, keys, values):
    # how strongly does x fire every key
    fire = F.relu(torch.matmul(x, torch.transpose(keys, 0, 1)))
    # add up the values of the keys that fired
    return torch.matmul(fire, values)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1, activation="relu", bias=True):
        super(FeedForward, self).__init__()
        # expand
        self.linear1 = nn.Linear(d_model, d_ff, bias=bias)
        # contract
        self.linear2 = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)
        if activation not in ["relu", "gelu"]
            raise ValueError("this activation is not supported: " + repr(activation))
        self.activation = activation

    def forward(self, x):
        hidden = self.linear1(x)
        # switch on
        if self.activation == "relu":
            hidden = F.relu(hidden)
        if self.activation == "gelu":
            hidden = F.gelu(hidden)
        # drop out some of the hidden neurons
        hidden = self.dropout(hidden)
        # back to d_model
        return self.linear2(hidden)
