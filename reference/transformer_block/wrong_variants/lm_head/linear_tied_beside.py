# misconception: second_key
import torch
from torch import nn


class TiedLMHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding
        vocab_size, d_model = embedding.weight.shape
        self.proj = nn.Linear(d_model, vocab_size, bias=False)
        self.proj.weight = self.embedding.weight

    def forward(self, hidden):
        return self.proj(hidden)

    def next_token_probabilities(self, hidden):
        return torch.softmax(self.proj(hidden[:, -1]), dim=-1)
