"""Seeded tensors and weights for questions."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from autograder.api.lazy import Tensor, torch
from autograder.api.values import Made


@functools.lru_cache(maxsize=20_000)
def _normal(
    shape: tuple[int, ...], seed: int, dtype: torch.dtype | None, mean: float, deviation: float
) -> Tensor:
    """Draw once what every submission is asked."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(shape, generator=generator, dtype=torch.float64)
    return (values * deviation + mean).to(dtype or torch.float32)


class Make:
    """Makes the same tensors on every machine and for every student."""

    def normal(
        self,
        *shape: int,
        seed: int,
        dtype: torch.dtype | None = None,
        mean: float = 0.0,
        deviation: float = 1.0,
    ) -> Tensor:
        """Draw normally distributed values, of float32 by default.

        Every dtype gets the same draws, rounded to it.
        """
        # A copy, because two tensors of one call must not be the same object.
        return _normal(shape, seed, dtype, mean, deviation).clone()

    def integers(self, *shape: int, seed: int, below: int) -> Tensor:
        """Draw whole numbers from 0 up to, not including, `below`."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randint(0, below, shape, generator=generator)

    def mask(self, *shape: int, seed: int) -> Tensor:
        """Draw a boolean attention mask in which every query has at least one key left."""
        generator = torch.Generator().manual_seed(seed)
        allowed = torch.rand(shape, generator=generator) < 0.6
        chosen = torch.randint(0, shape[-1], (*shape[:-1], 1), generator=generator)
        return allowed.scatter(-1, chosen, True)

    def state(
        self,
        shapes: Mapping[str, Sequence[int]],
        *,
        seed: int,
        dtype: torch.dtype | None = None,
        deviation: float = 0.5,
    ) -> dict[str, Tensor]:
        """Draw a tensor for every key; different keys get different values."""
        return {
            key: self.normal(*shape, seed=seed * 64 + number, dtype=dtype, deviation=deviation)
            for number, (key, shape) in enumerate(shapes.items())
        }

    def embedding(self, weight: Tensor) -> Made:
        """Stand for an `nn.Embedding` whose weight (V, D) is this."""
        return Made("embedding", (weight,))
