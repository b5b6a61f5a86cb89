"""Multi-head attention: several parallel attentions, each on its own part of the features.

Source: session, knowledge point 4; walkthrough, attention.
"""

from attention import scaled_dot_product_attention
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """Self-attention with H heads of D / H features each, joined by an output projection.

    Parameters, by their `state_dict` keys:
        q_linear.weight, k_linear.weight, v_linear.weight, out_proj.weight: (D, D).
        q_linear.bias, k_linear.bias, v_linear.bias, out_proj.bias: (D,), absent with `bias=False`.

    Source: session, knowledge point 4.
    """

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        """Make the four projections of `d_model` features.

        Args:
            d_model: number of features of a token, D.
            num_heads: number of heads, H; it must divide D.
            bias: whether the projections have a bias.

        Raises:
            ValueError or AssertionError: if `d_model` is not divisible by `num_heads`.
        """
        super().__init__()
        # Your code here.
        raise NotImplementedError

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Apply attention to `x` (B, T, D), in every head separately.

        Args:
            x: floating-point tensor of shape (B, T, D).
            mask: boolean tensor of shape (T, T) or (B, T, T), True where the query may attend to
                the key, the same for every head; None allows every pair.

        Returns:
            The pair (output (B, T, D), weights (B, H, T, T)). Head h, counted from 0, works on the
            features h * D / H to (h + 1) * D / H - 1 of every projection, and its scores are
            divided by sqrt(D / H).

        Source: session, knowledge point 4.
        """
        # Your code here.
        raise NotImplementedError
