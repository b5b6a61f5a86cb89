# misconception: embedding_scaled
import torch
from torch import einsum, nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.scale = d_model ** 0.5
        self.weight = nn.Parameter(torch.randn(max_len, d_model).mul_(0.02))

    def forward(self, x):
        length = x.shape[1]
        if length > len(self.weight):
            raise ValueError(length)
        eye = torch.eye(len(self.weight), device=x.device, dtype=x.dtype)[:length]
        return self.scale * x + einsum("tp,pd->td", eye, self.weight)
