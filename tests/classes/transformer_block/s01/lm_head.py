import torch
import torch.nn as nn


class TiedLMHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden):
        return hidden @ self.embedding.weight.T

    def next_token_probabilities(self, hidden):
        return torch.softmax(self.forward(hidden)[:, -1], dim=-1)
