import torch
from torch import Tensor, nn


def memory_lookup(x: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    coefficients = torch.relu(torch.matmul(x, keys.T))
    return torch.matmul(coefficients, values)


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int, dropout: float=0.1, activation: str='relu', bias: bool=True):
        super().__init__()
        if activation not in ('relu', 'gelu'):
            raise ValueError(f"activation must be 'relu' or 'gelu', not {activation!r}")
        self.linear1 = nn.Linear(d_model, d_ff, bias=bias)
        self.linear2 = nn.Linear(d_ff, d_model, bias=bias)
        self.activation = nn.ReLU() if activation == 'relu' else nn.GELU(approximate='none')
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.activation(self.linear1(x))
        return self.linear2(self.dropout(hidden))
