"""Multi-head attention: Head objects that know their share of the features."""

from dataclasses import dataclass

import torch
from attention import DotProductAttention, QueryKeyValue
from torch import Tensor


@dataclass(frozen=True)
class Head:
    """Head number `index`, `width` features wide; has no parameters and is not a module."""

    index: int
    width: int

    @property
    def share(self) -> slice:
        """The features of this head."""
        return slice(self.index * self.width, (self.index + 1) * self.width)

    def __call__(
        self, projections: tuple[Tensor, ...], mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Attend with this head's share only."""
        return DotProductAttention(*(p[..., self.share] for p in projections), mask)()


class MultiHeadAttention(QueryKeyValue):
    """Asks all heads and mixes their answers."""

    _more = ("out_proj",)

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        width, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"{num_heads} heads cannot share {d_model} features")
        super().__init__(d_model, bias)
        self._heads = tuple(Head(index, width) for index in range(num_heads))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Project, let every head attend, mix."""
        projections = self.project(x)
        answers, weights = zip(*(head(projections, mask) for head in self._heads), strict=True)
        return self._mix(answers), torch.stack(weights, dim=1)

    def _mix(self, answers: tuple[Tensor, ...]) -> Tensor:
        (mixed,) = self.apply_linears(torch.cat(answers, dim=-1), "out_proj")
        return mixed
