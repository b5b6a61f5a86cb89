# misconception: other_key
import torch
from torch import nn


class TiedLMHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        vocab_size, d_model = embedding.weight.shape
        self.decoder = nn.Linear(d_model, vocab_size, bias=False)
        self.decoder.weight = embedding.weight

    def forward(self, hidden):
        return self.decoder(hidden)

    def next_token_probabilities(self, hidden):
        return torch.softmax(self.decoder(hidden[:, -1]), dim=-1)
