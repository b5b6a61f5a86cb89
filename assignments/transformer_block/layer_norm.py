"""Layer normalisation: the z-score of every feature vector, then a learned scale and shift.

Source: slides, pages 7 and 8.
"""

import torch
from torch import Tensor, nn


def layer_norm(x: Tensor, eps: float = 1e-5) -> Tensor:
    """Turn every vector along the last dimension of `x` into its z-score.

    Args:
        x: floating-point tensor of shape (..., D).
        eps: small constant added to the variance, inside the square root.

    Returns:
        (x - mean) / sqrt(variance + eps), with the shape, dtype and device of `x`. The variance
        is the population variance: the squared deviations are divided by D, not by D - 1.

    Source: slides, page 8.
    """
    # Your code here.
    raise NotImplementedError


class LayerNorm(nn.Module):
    """Layer normalisation with a learned scale and shift for every feature.

    Parameters, by their `state_dict` keys:
        weight: (D,), ones at the start.
        bias: (D,), zeros at the start.

    Source: slides, pages 4 and 8.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        """Make the parameters for `d_model` features, and keep `eps` for `layer_norm`."""
        super().__init__()
        # Your code here.
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Normalise `x` (..., D), then multiply by `weight` and add `bias`.

        Returns:
            Tensor with the shape, dtype and device of `x`.
        """
        # Your code here.
        raise NotImplementedError
