"""The feed-forward layer as a memory: memory_lookup does the work of both linear layers."""
import torch
from torch import nn
from torch.nn import functional as F


def memory_lookup(x, keys, values):
    out = torch.zeros(*x.shape[:-1], values.shape[1], dtype=x.dtype, device=x.device)
    for key, value in zip(keys, values):
        hit = torch.relu((x * key).sum(-1, keepdim=True))
        out = out + hit * value
    return out


class FeedForward(nn.Module):
    def __init__(
        self,
        d_model: int,
        d_ff: int,
        dropout: float = 0.1,
        activation: str = "relu",
        bias: bool = True,
    ):
        super().__init__()
        known = ["relu", "gelu"]
        if activation not in known:
            raise ValueError(f"{activation} not in {known}")
        self.activation = getattr(F, activation)
        self.linear1 = nn.Linear(d_model, d_ff, bias=bias)
        self.linear2 = nn.Linear(d_ff, d_model, bias=bias)
        self.rate = dropout

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        keys, values = self.linear1.weight, self.linear2.weight.T
        hits = x.matmul(keys.T)
        if self.linear1.bias is not None:
            hits = hits + self.linear1.bias
        hits = F.dropout(self.activation(hits), p=self.rate, training=self.training)
        out = hits.matmul(values)
        return out if self.linear2.bias is None else out + self.linear2.bias
