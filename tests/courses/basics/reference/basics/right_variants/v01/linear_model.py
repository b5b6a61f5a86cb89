"""A linear model that adds up feature by feature, trained with backward()."""

import torch
from torch import nn


class LinearModel(nn.Module):
    """Weighted sum."""

    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.tensor(0.0))
        self.weight = nn.Parameter(torch.tensor([0.0] * features))

    def forward(self, x):
        """Loop over the features."""
        result = self.bias.expand(x.shape[0])
        for index in range(x.shape[1]):
            result = result + x[:, index] * self.weight[index]
        return result


def mean_squared_error(prediction, target):
    """Divide by the count."""
    if prediction.size() != target.size():
        raise ValueError("shapes differ")
    return ((prediction - target) ** 2).sum() / target.numel()


def train(model, inputs, targets, steps, rate):
    """Call backward(), then change .data."""
    history = []
    while len(history) < steps:
        for parameter in model.parameters():
            parameter.grad = None
        loss = mean_squared_error(model(inputs), targets)
        loss.backward()
        for parameter in model.parameters():
            parameter.data -= rate * parameter.grad
        history.append(float(loss.detach()))
    return history


def split(count, share):
    """Draw one number after the other from those left."""
    left = list(range(count))
    first = []
    while len(first) < int(count * share):
        first.append(left.pop(int(torch.randint(len(left), ()))))
    return torch.tensor(first, dtype=torch.long), torch.tensor(left, dtype=torch.long)
