"""Noisy points on a line, how far a model is from that line, and a model of another kind."""

import torch
from torch import Tensor, nn

SLOPE = 3.0
OFFSET = -1.0


def inputs(seed: int, count: int) -> Tensor:
    """Return inputs (count, 1) between -1 and 1."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(count, 1, generator=generator) * 2 - 1


def targets(seed: int, count: int) -> Tensor:
    """Return the targets (count,) that belong to the inputs of the same seed."""
    generator = torch.Generator().manual_seed(seed + 1)
    noise = torch.randn(count, generator=generator) * 0.1
    return inputs(seed, count)[:, 0] * SLOPE + OFFSET + noise


def distance(model: nn.Module) -> float:
    """Return the greatest distance between the model and the line for inputs from -1 to 1."""
    x = torch.linspace(-1, 1, 11).unsqueeze(1)  # (11, 1)
    with torch.no_grad():
        return float((model(x) - (x[:, 0] * SLOPE + OFFSET)).abs().max())


class Parabola(nn.Module):
    """curvature * x² + height for inputs (N, 1); both parameters are 0 at the start."""

    def __init__(self) -> None:
        super().__init__()
        self.curvature = nn.Parameter(torch.zeros(()))
        self.height = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """Map x (N, 1) to (N,)."""
        return self.curvature * x[:, 0] ** 2 + self.height
