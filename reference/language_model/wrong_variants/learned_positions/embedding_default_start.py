# misconception: start_too_wide
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Embedding):
    """An nn.Embedding whose words are positions."""

    def __init__(self, max_len: int, d_model: int):
        super().__init__(max_len, d_model)

    def forward(self, x):
        if x.shape[1] > self.num_embeddings:
            raise ValueError(f"{x.shape[1]} > {self.num_embeddings}")
        ids = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
        return x + super().forward(ids)
