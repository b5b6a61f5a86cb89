# misconception: eps_outside_root
from torch import nn, ones, zeros


def layer_norm(x, eps=1e-5):
    def mean(v):
        return sum(v.unbind(-1)).unsqueeze(-1) / v.shape[-1]

    def deviation(v):
        return mean((v - mean(v)) ** 2) ** 0.5

    return (x - mean(x)) / (deviation(x) + eps)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight, self.bias = nn.Parameter(ones(d_model)), nn.Parameter(zeros(d_model))
        self.norm = lambda x: layer_norm(x, eps)

    def forward(self, x):
        return self.norm(x) * self.weight + self.bias
