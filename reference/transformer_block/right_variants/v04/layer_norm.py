"""Layer normalisation with the Euclidean length of the centred vector."""

import torch
from torch import Tensor, nn


def layer_norm(x: Tensor, eps: float = 1e-5) -> Tensor:
    """variance = |x - mean|^2 / D."""
    d = x.shape[-1]
    centred = x - x.sum(dim=-1, keepdim=True) / d
    length = torch.linalg.vector_norm(centred, dim=-1, keepdim=True)
    return centred * (length.pow(2) / d + eps).pow(-0.5)


class LayerNorm(nn.Module):
    """Layer norm with gain and shift."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.empty(d_model).fill_(1.0))
        self.bias = nn.Parameter(torch.empty(d_model).fill_(0.0))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise, then weight and bias."""
        z = layer_norm(x, eps=self.eps)
        return torch.mul(z, self.weight).add(self.bias)
