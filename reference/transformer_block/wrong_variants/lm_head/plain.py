import torch
import torch.nn as nn
import torch.nn.functional as F


class TiedLMHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden):
        logits = F.linear(hidden, self.embedding.weight)
        return logits

    def next_token_probabilities(self, hidden):
        logits = self.forward(hidden)
        last = logits[:, -1, :]
        probs = F.softmax(last, dim=-1)
        return probs
