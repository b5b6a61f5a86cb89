# misconception: sequential_keys
import torch
from torch import nn


def memory_lookup(x, keys, values):
    return torch.relu(x @ keys.T) @ values


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1, activation="relu", bias=True):
        super().__init__()
        activations = {"relu": nn.ReLU(), "gelu": nn.GELU()}
        if activation not in activations:
            raise ValueError("activation")
        self.net = nn.Sequential(
            nn.Linear(d_model, d_ff, bias=bias),
            activations[activation],
            nn.Dropout(dropout),
            nn.Linear(d_ff, d_model, bias=bias),
        )

    def forward(self, x):
        return self.net(x)
