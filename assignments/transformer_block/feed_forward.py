"""The feed-forward layer: the memory of a transformer, applied to every position separately.

Source: session, knowledge point 1; slides, pages 9 and 16 to 21.
"""

import torch
from torch import Tensor, nn


def memory_lookup(x: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Look `x` up in a key-value memory: every key that matches adds its value to the result.

    Args:
        x: floating-point tensor of shape (..., D).
        keys: tensor of shape (F, D), one pattern per row.
        values: tensor of shape (F, Dv), one value per key.

    Returns:
        relu(x · keysᵀ) · values, of shape (..., Dv), with the dtype and device of `x`.

    Source: slides, pages 20 and 21.
    """
    # Your code here.
    raise NotImplementedError


class FeedForward(nn.Module):
    """Expand every token to `d_ff` features, apply the activation, and contract to `d_model`.

    Parameters, by their `state_dict` keys:
        linear1.weight: (F, D); linear1.bias: (F,), absent with `bias=False`.
        linear2.weight: (D, F); linear2.bias: (D,), absent with `bias=False`.

    Source: session, knowledge point 1.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        dropout: float = 0.1,
        activation: str = "relu",
        bias: bool = True,
    ) -> None:
        """Make the two linear layers.

        Args:
            d_model: number of features of a token, D.
            d_ff: number of features between the two layers, F.
            dropout: probability of dropping an activated feature in training.
            activation: "relu", or "gelu" in its exact form.
            bias: whether the two linear layers have a bias.

        Raises:
            ValueError: if `activation` is neither "relu" nor "gelu".
        """
        super().__init__()
        # Your code here.
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Apply linear1, the activation, dropout and linear2, in this order, to `x` (..., D).

        Returns:
            Tensor with the shape, dtype and device of `x`.

        Source: session, knowledge point 1.
        """
        # Your code here.
        raise NotImplementedError
