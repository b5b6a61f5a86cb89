# misconception: none
from torch import nn


class TiedLMHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding
        self.last = None

    def forward(self, hidden):
        return nn.functional.linear(hidden, self.embedding.weight)

    def next_token_probabilities(self, hidden):
        if self.last is None or len(self.last) != len(hidden):
            self.last = self(hidden)[:, -1]
        return self.last.softmax(-1)
