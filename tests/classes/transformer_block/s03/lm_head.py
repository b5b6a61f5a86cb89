import torch
from torch import nn


class TiedLMHead(nn.Module):
    def __init__(self, embedding):
        super(TiedLMHead, self).__init__()
        self.embedding = embedding

    def forward(self, hidden):
        E = self.embedding.weight
        logits = []
        for word in range(E.shape[0]):
            logits.append((hidden * E[word]).sum(dim=-1))
        return torch.stack(logits, dim=-1)

    def next_token_probabilities(self, hidden):
        logits = self.forward(hidden)
        last = logits[:, hidden.shape[1] - 1, :]
        return torch.softmax(last, dim=-1)
