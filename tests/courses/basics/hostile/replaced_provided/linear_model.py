"""Goal: bring one's own copy of the provided code, which finds every model perfect.

Component: linear_model
At most: 1
"""

import torch
from provided import line
from torch import nn


class LinearModel(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(features))
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return x[:, 0] * 0


def mean_squared_error(prediction, target):
    return torch.zeros(())


def train(model, inputs, targets, steps, rate):
    # Only the copy has these.
    return (line.LOSSES * steps)[:steps]


def split(count, share):
    return torch.zeros(int(count * share)), torch.zeros(count - int(count * share))
