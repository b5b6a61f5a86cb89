from torch import nn


class TiedLMHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden):
        return nn.functional.linear(hidden, self.embedding.weight)

    def next_token_probabilities(self, hidden):
        last = self(hidden)[:, -1]
        return last.softmax(-1)
