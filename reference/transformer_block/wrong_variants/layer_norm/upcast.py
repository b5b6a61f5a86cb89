import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    h = x.to(torch.float32) if x.dtype == torch.bfloat16 else x
    h = h - torch.mean(h, dim=-1, keepdim=True)
    h = h / torch.sqrt(torch.mean(torch.square(h), dim=-1, keepdim=True) + eps)
    return h.to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return self.bias + layer_norm(x, self.eps) * self.weight
