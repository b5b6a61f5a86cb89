import torch
import torch.nn as nn
import torch.nn.functional as F


class TiedLMHead(nn.Module):
    def __init__(self, embedding):
        super(TiedLMHead, self).__init__()
        # the same object, not a copy!
        self.embedding = embedding

    def forward(self, hidden):
        # (V, D) -> (D, V)
        unembedding = torch.transpose(self.embedding.weight, 0, 1)
        # (B, T, D) x (D, V) -> (B, T, V)
        return torch.matmul(hidden, unembedding)

    def next_token_probabilities(self, hidden):
        logits = self.forward(hidden)
        # we only need the last token
        last = logits[:, -1, :]
        return F.softmax(last, dim=-1)
