"""The transformer block: attention, then feed-forward, each added to the residual stream.

Source: session, knowledge point 5; slides, pages 2 to 5 and 19 to 21; walkthrough.
"""

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import Tensor, nn


class TransformerBlock(nn.Module):
    """Two sublayers on a residual stream, with layer normalisation before or after them, or none.

    Parameters, by their `state_dict` keys:
        attention.*: those of `MultiHeadAttention`.
        feed_forward.*: those of `FeedForward`.
        norm1.*, norm2.*: those of `LayerNorm`, absent with `norm="none"`.

    Source: session, knowledge point 5.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        norm: str = "pre",
        activation: str = "relu",
        bias: bool = True,
    ) -> None:
        """Make the sublayers and the norms.

        Args:
            d_model: number of features of a token, D.
            num_heads: number of attention heads, H; it must divide D.
            d_ff: number of features inside the feed-forward layer, F.
            dropout: probability of dropping an element of a sublayer's output in training;
                the feed-forward layer gets the same probability.
            norm: where to normalise: "pre", "post" or "none".
            activation: activation of the feed-forward layer, "relu" or "gelu".
            bias: whether the linear layers of both sublayers have a bias.

        Raises:
            ValueError: if `norm` or `activation` is unknown.
            ValueError or AssertionError: if `num_heads` does not divide D, as in component 4.
        """
        super().__init__()
        # Your code here.
        raise NotImplementedError

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Pass `x` (B, T, D) through both sublayers.

        With norm "pre":  x becomes x + dropout(attention(norm1(x))),
                          then     x + dropout(feed_forward(norm2(x))).
        With norm "post": x becomes norm1(x + dropout(attention(x))),
                          then     norm2(x + dropout(feed_forward(x))).
        With norm "none": like "pre", without the norms.

        Args:
            x: floating-point tensor of shape (B, T, D).
            mask: boolean tensor of shape (T, T) or (B, T, T), True where the query may attend to
                the key; None allows every pair.

        Returns:
            Tensor with the shape, dtype and device of `x`.

        Source: session, knowledge point 5 (block variants).
        """
        # Your code here.
        raise NotImplementedError
