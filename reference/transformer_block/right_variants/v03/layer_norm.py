"""Layer normalisation as a pipeline of an affine and a standardising object."""

from dataclasses import dataclass

import torch
from base import Pipeline
from torch import Tensor, nn


@dataclass(frozen=True)
class Moments:
    """Mean and variance of the last dimension; not a module."""

    mean: Tensor
    variance: Tensor

    @classmethod
    def of(cls, x: Tensor) -> "Moments":
        """Measure x."""
        return cls(x.mean(dim=-1, keepdim=True), x.var(dim=-1, correction=0, keepdim=True))


@dataclass(frozen=True)
class Standardiser:
    """Callable that standardises the last dimension; not a module."""

    eps: float = 1e-5

    def __call__(self, x: Tensor) -> Tensor:
        """Standardise x."""
        moments = Moments.of(x)
        return (x - moments.mean) / (moments.variance + self.eps).sqrt()


def layer_norm(x: Tensor, eps: float = 1e-5) -> Tensor:
    """Standardise the last dimension."""
    return Standardiser(eps)(x)


class LayerNorm(Pipeline):
    """Standardise, then scale and shift."""

    _start_values = (("weight", 1.0), ("bias", 0.0))

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self._standardise = Standardiser(eps)
        for name, value in self._start_values:
            self.register_parameter(name, nn.Parameter(torch.full((d_model,), value)))

    @property
    def stages(self):
        """Standardise, scale, shift."""
        return self._standardise, self._scale, self._shift

    def _scale(self, z: Tensor) -> Tensor:
        return z * self.get_parameter("weight")

    def _shift(self, z: Tensor) -> Tensor:
        return z + self.get_parameter("bias")
