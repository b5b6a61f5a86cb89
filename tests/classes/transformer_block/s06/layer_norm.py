import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    # statistics in single precision, then back to what we were given
    x32 = x.to(torch.float32)
    var, mean = torch.var_mean(x32, dim=-1, correction=0, keepdim=True)
    return ((x32 - mean) * torch.rsqrt(var + eps)).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        y = layer_norm(x.float(), self.eps)
        y = y * self.weight.float() + self.bias.float()
        return y.type_as(x)
