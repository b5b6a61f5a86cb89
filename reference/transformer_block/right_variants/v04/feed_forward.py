"""Feed-forward layer with handmade layers and activations."""

from pieces import Dense, drop, gelu, relu
from torch import Tensor, nn


def memory_lookup(x: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Sum of values, each as strong as its key matches."""
    strength = relu(x @ keys.transpose(-1, -2))
    return strength @ values


class FeedForward(nn.Module):
    """Dense, activation, dropout, Dense."""

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        dropout: float = 0.1,
        activation: str = "relu",
        bias: bool = True,
    ) -> None:
        super().__init__()
        if activation == "relu":
            self.activation = relu
        elif activation == "gelu":
            self.activation = gelu
        else:
            raise ValueError(f"{activation} is neither relu nor gelu")
        self.linear1 = Dense(d_model, d_ff, bias)
        self.linear2 = Dense(d_ff, d_model, bias)
        self.p = dropout

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)."""
        hidden = self.activation(self.linear1(x))
        return self.linear2(drop(hidden, self.p, self.training))
