"""Learned positions, with everything checked and the sum in double precision."""

import torch
from torch import Tensor, nn


class LearnedPositionalEmbedding(nn.Module):
    """One vector for every position."""

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        if not isinstance(max_len, int) or max_len <= 0:
            raise ValueError(f"max_len must be a positive integer, not {max_len!r}")
        if not isinstance(d_model, int) or d_model <= 0:
            raise ValueError(f"d_model must be a positive integer, not {d_model!r}")
        self.max_len = max_len
        self.d_model = d_model
        generator = torch.Generator()
        generator.manual_seed(42)
        table = torch.randn(max_len, d_model, generator=generator, dtype=torch.float64)
        self.weight = nn.Parameter((0.02 * table).to(torch.get_default_dtype()))

    def forward(self, x: Tensor) -> Tensor:
        """Add them."""
        if x.dim() != 3:
            raise ValueError(f"x must be (B, T, D), not {tuple(x.shape)}")
        _, seq_len, features = x.shape
        if features != self.d_model:
            raise ValueError(f"x must have {self.d_model} features, not {features}")
        if seq_len > self.max_len:
            raise ValueError(f"sequence length {seq_len} exceeds max_len {self.max_len}")
        vectors = self.weight[0:seq_len, :].to(device=x.device, dtype=torch.float64)
        return (x.to(torch.float64) + vectors).to(x.dtype)
