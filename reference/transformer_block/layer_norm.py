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
    ### BEGIN SOLUTION
    mean = x.mean(dim=-1, keepdim=True)  # (..., 1)
    deviation = x - mean  # (..., D)
    variance = deviation.square().mean(dim=-1, keepdim=True)  # (..., 1)
    return deviation / torch.sqrt(variance + eps)  # (..., D)
    ### END SOLUTION


class LayerNorm(nn.Module):
    """Layer normalisation with a learned scale and shift for every feature.

    Parameters, by their `state_dict` keys:
        weight: (D,), ones at the start.
        bias: (D,), zeros at the start.

    Source: slides, pages 4 and 8.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        """Make the parameters for vectors of `d_model` features; `eps` goes to `layer_norm`."""
        super().__init__()
        ### BEGIN SOLUTION
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))  # (D,)
        self.bias = nn.Parameter(torch.zeros(d_model))  # (D,)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Normalise `x` (..., D), then multiply by `weight` and add `bias`.

        Returns:
            Tensor with the shape, dtype and device of `x`.
        """
        ### BEGIN SOLUTION
        return layer_norm(x, self.eps) * self.weight + self.bias  # (..., D)
        ### END SOLUTION
