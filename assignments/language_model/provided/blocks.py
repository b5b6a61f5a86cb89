"""The parts of a transformer, finished: thin classes over torch's own modules.

Names, shapes and `state_dict` keys are those of the first assignment. Masks are boolean, True where
a query may attend to a key.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU}


def causal_mask(seq_len: int, device: torch.device | str | None = None) -> Tensor:
    """Make the mask (T, T) that lets every position attend to itself and to earlier positions."""
    below = nn.Transformer.generate_square_subsequent_mask(seq_len, device=device)
    return below == 0


def padding_mask(token_ids: Tensor, pad_id: int) -> Tensor:
    """Make the mask (B, T, T) that hides the padding of token_ids (B, T) from every query."""
    return (token_ids != pad_id)[:, None, :].expand(-1, token_ids.shape[1], -1)


class MultiHeadAttention(nn.Module):
    """Multi-head self-attention.

    Parameters, by their `state_dict` keys:
        q_linear.*, k_linear.*, v_linear.*, out_proj.*: weight (D, D), and bias (D) with `bias`.
    """

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        """Make the four projections.

        Raises:
            ValueError: `num_heads` does not divide `d_model`.
        """
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} cannot be divided by num_heads {num_heads}")
        self.num_heads = num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend within x (B, T, D); mask (T, T) or (B, T, T) is the same for every head.

        Returns:
            The pair (output, weights): (B, T, D) and (B, H, T, T).

        Raises:
            RuntimeError: the mask is on another device than x.
        """
        if mask is not None and mask.device != x.device:
            raise RuntimeError(f"the mask is on {mask.device}, and x on {x.device}")
        inputs = (self.q_linear, self.k_linear, self.v_linear)
        biases = [layer.bias for layer in inputs if layer.bias is not None]
        if mask is not None and mask.ndim > 2:
            mask = mask.repeat_interleave(self.num_heads, dim=0)
        sequence_first = x.transpose(0, 1)
        output, weights = F.multi_head_attention_forward(
            sequence_first,
            sequence_first,
            sequence_first,
            x.shape[-1],
            self.num_heads,
            None,
            torch.cat(biases) if biases else None,
            None,
            None,
            False,
            0.0,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            attn_mask=None if mask is None else ~mask,
            use_separate_proj_weight=True,
            q_proj_weight=self.q_linear.weight,
            k_proj_weight=self.k_linear.weight,
            v_proj_weight=self.v_linear.weight,
            average_attn_weights=False,
        )
        return output.transpose(0, 1), weights


class FeedForward(nn.Sequential):
    """Two linear layers with an activation and dropout between them.

    Parameters, by their `state_dict` keys:
        linear1.*: weight (F, D), bias (F); linear2.*: weight (D, F), bias (D).
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        dropout: float = 0.1,
        activation: str = "relu",
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.add_module("linear1", nn.Linear(d_model, d_ff, bias=bias))
        self.add_module("activation", _ACTIVATIONS[activation]())
        self.add_module("dropout", nn.Dropout(dropout))
        self.add_module("linear2", nn.Linear(d_ff, d_model, bias=bias))


class TransformerBlock(nn.Module):
    """Attention and feed-forward on a residual stream, with layer normalisation.

    Parameters, by their `state_dict` keys:
        attention.*, feed_forward.*: as above; norm1.*, norm2.*: weight (D), bias (D).
    """

    def __init__(
        self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1, norm: str = "pre"
    ) -> None:
        """Make the sublayers and the norms.

        Raises:
            ValueError: `norm` is neither "pre" nor "post", or `num_heads` does not divide D.
        """
        super().__init__()
        if norm not in ("pre", "post"):
            raise ValueError(f'norm must be "pre" or "post", not {norm!r}')
        self.norm = norm
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Pass x (B, T, D) through both sublayers; mask is (T, T) or (B, T, T)."""
        if self.norm == "pre":
            x = x + self.dropout(self.attention(self.norm1(x), mask)[0])
            return x + self.dropout(self.feed_forward(self.norm2(x)))
        x = self.norm1(x + self.dropout(self.attention(x, mask)[0]))
        return self.norm2(x + self.dropout(self.feed_forward(x)))
