"""Stand-in: torch's own layers in a row behind the names of the assignment."""

from collections import OrderedDict

from torch import nn

_ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU}


class FeedForward(nn.Sequential):
    """`nn.Sequential` with the parameters asked for."""

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        dropout: float = 0.1,
        activation: str = "relu",
        bias: bool = True,
    ) -> None:
        if activation not in _ACTIVATIONS:
            raise ValueError(f"activation must be relu or gelu, not {activation!r}")
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        layers["linear1"] = nn.Linear(d_model, d_ff, bias=bias)
        layers["activation"] = _ACTIVATIONS[activation]()
        layers["dropout"] = nn.Dropout(dropout)
        layers["linear2"] = nn.Linear(d_ff, d_model, bias=bias)
        super().__init__(layers)
