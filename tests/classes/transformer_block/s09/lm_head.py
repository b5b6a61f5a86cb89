from torch import nn


class TiedLMHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden):
        return hidden @ self.embedding.weight.t()

    def next_token_probabilities(self, hidden):
        return self(hidden)[:, -1].softmax(-1)
