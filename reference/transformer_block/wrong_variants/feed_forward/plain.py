import torch
import torch.nn as nn
import torch.nn.functional as F


def memory_lookup(x, keys, values):
    scores = torch.matmul(x, keys.transpose(0, 1))
    scores = F.relu(scores)
    result = torch.matmul(scores, values)
    return result


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1, activation="relu", bias=True):
        super(FeedForward, self).__init__()
        self.linear1 = nn.Linear(d_model, d_ff, bias=bias)
        self.linear2 = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)
        if activation == "relu":
            self.act = nn.ReLU()
        elif activation == "gelu":
            self.act = nn.GELU()
        else:
            raise ValueError("unknown activation: " + str(activation))

    def forward(self, x):
        x = self.linear1(x)
        x = self.act(x)
        x = self.dropout(x)
        x = self.linear2(x)
        return x
