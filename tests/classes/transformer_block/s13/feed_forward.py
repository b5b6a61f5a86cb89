import torch
import torch.nn as nn
import torch.nn.functional as F


def memory_lookup(x, keys, values):
    strength = F.relu(torch.matmul(x, torch.transpose(keys, 0, 1)))
    return torch.matmul(strength, values)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1, activation='relu', bias=True):
        super(FeedForward, self).__init__()
        self.linear1 = nn.Linear(d_model, d_ff, bias=bias)
        self.linear2 = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)
        if activation not in ['relu', 'gelu']:
            raise ValueError('this activation is not supported: ' + repr(activation))
        self.activation = activation

    def forward(self, x):
        h = self.linear1(x)
        if self.activation == 'relu':
            h = F.relu(h)
        if self.activation == 'gelu':
            h = F.gelu(h)
        h = self.linear2(h)
        return self.dropout(h)
