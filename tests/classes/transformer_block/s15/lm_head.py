import torch as th
from torch import nn


class TiedLMHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        v, d = embedding.weight.shape
        self.embedding = nn.Embedding(v, d)
        with th.no_grad():
            self.embedding.weight.copy_(embedding.weight)

    def forward(self, hidden):
        return hidden @ self.embedding.weight.t()

    def next_token_probabilities(self, hidden):
        return self(hidden)[:, -1].softmax(-1)
