import torch
import torch.nn as nn
import torch.nn.functional as F


class TiedLMHead(nn.Module):
    def __init__(self, embedding):
        super(TiedLMHead, self).__init__()
        self.embedding = embedding

    def forward(self, hidden):
        unembedding = torch.transpose(self.embedding.weight, 0, 1)
        return torch.matmul(hidden, unembedding)

    def next_token_probabilities(self, hidden):
        logits = self.forward(hidden)
        last = logits[:, -1, :]
        return F.softmax(last, dim=-1)
