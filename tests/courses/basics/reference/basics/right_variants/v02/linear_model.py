"""A linear model with torch's own loss and optimiser."""

import torch
import torch.nn.functional as F
from torch import nn


class LinearModel(nn.Module):
    """F.linear with one output, squeezed."""

    def __init__(self, features):
        super().__init__()
        for name, shape in (("weight", (features,)), ("bias", ())):
            self.register_parameter(name, nn.Parameter(torch.zeros(shape)))

    def forward(self, x):
        """Map (N, F) to (N,)."""
        return F.linear(x, self.weight[None], self.bias[None]).squeeze(1)


def mean_squared_error(prediction, target):
    """Call torch's, for equal shapes."""
    if prediction.shape != target.shape:
        raise ValueError("broadcasting is not wanted here")
    return F.mse_loss(prediction, target)


def train(model, inputs, targets, steps, rate):
    """Let torch.optim.SGD take the steps."""
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)

    def step():
        optimizer.zero_grad()
        loss = mean_squared_error(model(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss.item()

    return [step() for _ in range(steps)]


def split(count, share):
    """Sort random keys."""
    size = int(count * share)
    return tuple(torch.rand(count).argsort().split([size, count - size]))
