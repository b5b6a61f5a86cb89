from torch import einsum, nn
from torch.nn import functional as F


def memory_lookup(x, keys, values):
    match = F.relu(einsum("...d,fd->...f", x, keys))
    return einsum("...f,fe->...e", match, values)


ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu}


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1, activation: str = "relu", bias: bool = True):
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation {activation!r}: only {sorted(ACTIVATIONS)}")
        self.f = ACTIVATIONS[activation]
        self.linear1 = nn.Linear(d_model, d_ff, bias)
        self.linear2 = nn.Linear(d_ff, d_model, bias)
        self.p = dropout

    def forward(self, x):
        h = einsum("...d,fd->...f", x, self.linear1.weight)
        if self.linear1.bias is not None:
            h = h + self.linear1.bias
        h = F.dropout(self.f(h), p=self.p, training=self.training)
        y = einsum("...f,df->...d", h, self.linear2.weight)
        if self.linear2.bias is not None:
            y = y + self.linear2.bias
        return y
