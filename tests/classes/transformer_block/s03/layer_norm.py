import torch
from torch import nn

# I do everything one vector at a time, it is slow but I can check it by hand.


def normalise_vector(v, eps):
    n = len(v)
    mean = v.sum() / n
    total = 0.0
    for i in range(n):
        total = total + (v[i] - mean) ** 2
    variance = total / n   # population: n, not n - 1
    return (v - mean) / (variance + eps) ** 0.5


def layer_norm(x, eps=1e-5):
    d = x.shape[-1]
    vectors = x.reshape(-1, d)
    result = []
    for j in range(vectors.shape[0]):
        result.append(normalise_vector(vectors[j], eps))
    return torch.stack(result).reshape(x.shape)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super(LayerNorm, self).__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        out = layer_norm(x, self.eps)
        out = out * self.weight
        out = out + self.bias
        return out
