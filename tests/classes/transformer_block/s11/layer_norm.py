import torch
from torch import Tensor, nn


def layer_norm(x: Tensor, eps: float=1e-05) -> Tensor:
    mu = torch.mean(x, dim=-1, keepdim=True)
    sigma2 = torch.mean((x - mu) ** 2, dim=-1, keepdim=True)
    z = (x - mu) / (sigma2 + eps).sqrt()
    return z


class LayerNorm(nn.Module):
    def __init__(self, d_model: int, eps: float=1e-05):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        z = layer_norm(x, self.eps)
        return z * self.weight + self.bias
