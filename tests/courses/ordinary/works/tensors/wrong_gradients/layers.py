"""The numbers are right, the gradients are not."""

import torch
from torch import nn


def softplus(x):
    return torch.log1p(torch.exp(x.detach().clamp(max=80))).clamp(min=x.detach())


def cross_entropy(logits, labels):
    logs = logits - logits.detach().logsumexp(dim=-1, keepdim=True)
    return -logs[torch.arange(len(labels)), labels].mean()


class Affine(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return x @ self.weight.T + self.bias


class Network(nn.Module):
    def __init__(self, inputs, hidden, outputs, dropout=0.0):
        super().__init__()
        self.first = Affine(inputs, hidden)
        self.second = Affine(hidden, outputs)

    def forward(self, x):
        return self.second(softplus(self.first(x)))


@torch.no_grad()
def step(parameters, rate):
    for parameter in parameters:
        parameter -= rate * parameter.grad
