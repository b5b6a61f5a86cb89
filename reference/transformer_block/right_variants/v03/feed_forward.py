"""Feed-forward layer: a memory object, activation classes and a pipeline."""

from dataclasses import dataclass
from typing import ClassVar

from base import Pipeline, WithChoice, WithLinears
from torch import Tensor, nn


class Relu:
    """max(x, 0)."""

    def __call__(self, x: Tensor) -> Tensor:
        """Activate x."""
        return nn.functional.relu(x)


class Gelu:
    """Exact form."""

    def __call__(self, x: Tensor) -> Tensor:
        """Activate x."""
        return nn.functional.gelu(x, approximate="none")


@dataclass(frozen=True)
class Memory:
    """Keys and their values."""

    keys: Tensor
    values: Tensor

    def __getitem__(self, x: Tensor) -> Tensor:
        return Relu()(x.matmul(self.keys.t())).matmul(self.values)


def memory_lookup(x: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """See Memory."""
    return Memory(keys, values)[x]


class FeedForward(Pipeline, WithLinears, WithChoice):
    """Expand, activate, drop, contract."""

    _activations: ClassVar = {"relu": Relu, "gelu": Gelu}

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        dropout: float = 0.1,
        activation: str = "relu",
        bias: bool = True,
    ) -> None:
        super().__init__()
        self._activate = self.choose(self._activations, activation)()
        self.add_linears({"linear1": (d_model, d_ff), "linear2": (d_ff, d_model)}, bias)
        self.drop = nn.Dropout(dropout)

    @property
    def stages(self):
        """In the order of the formula."""
        return self.linear1, self._activate, self.drop, self.linear2
