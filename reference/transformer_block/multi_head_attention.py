"""Multi-head attention: several attentions side by side, each on its own share of the features.

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
        """Make the four projections of `d_model` features, all of them with or without `bias`.

        Args:
            d_model: number of features of a token, D.
            num_heads: number of heads, H; it must divide D.
            bias: whether the projections have a bias.

        Raises:
            ValueError or AssertionError: if `d_model` is not divisible by `num_heads`.
        """
        super().__init__()
        ### BEGIN SOLUTION
        # equivalent: `num_heads < 1 or -> nothing`, `1 -> 0`:
        #   the contract leaves open what fewer heads than one do
        if num_heads < 1 or d_model % num_heads != 0:
            raise ValueError(f"d_model ({d_model}) must be divisible by num_heads ({num_heads})")
        self.num_heads = num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        ### END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Let every token of `x` (B, T, D) gather from the others, once for each head.

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
        ### BEGIN SOLUTION
        batch, seq_len, d_model = x.shape
        heads = (batch, seq_len, self.num_heads, d_model // self.num_heads)
        query = self.q_linear(x).reshape(heads).transpose(1, 2)  # (B, H, T, D/H)
        key = self.k_linear(x).reshape(heads).transpose(1, 2)  # (B, H, T, D/H)
        value = self.v_linear(x).reshape(heads).transpose(1, 2)  # (B, H, T, D/H)
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)  # (B, 1, T, T), the same for every head
        mixed, weights = scaled_dot_product_attention(query, key, value, mask)  # (B, H, T, D/H)
        joined = mixed.transpose(1, 2).reshape(batch, seq_len, d_model)  # (B, T, D)
        return self.out_proj(joined), weights  # (B, T, D), (B, H, T, T)
        ### END SOLUTION
