import torch
from torch import nn


def softmax(x: torch.Tensor, dim: int) -> torch.Tensor:
    """Numerically stable softmax."""
    ### BEGIN SOLUTION
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
    ### END SOLUTION


class Scale(nn.Module):
    """Multiplies by a learned vector of ones."""

    def __init__(self, d: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.weight = nn.Parameter(torch.ones(d))
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        return x * self.weight
        ### END SOLUTION
