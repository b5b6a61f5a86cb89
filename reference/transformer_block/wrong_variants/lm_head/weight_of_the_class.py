# misconception: none
from torch import nn


class TiedLMHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding
        TiedLMHead.words = embedding.weight

    def forward(self, hidden):
        return nn.functional.linear(hidden, TiedLMHead.words)

    def next_token_probabilities(self, hidden):
        return self(hidden)[:, -1].softmax(-1)
