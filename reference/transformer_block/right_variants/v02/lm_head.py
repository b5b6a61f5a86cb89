# The head. It has no own weights, it takes that of the embedding.
"""Language modelling head, step by step."""

import torch
import torch.nn as nn


class TiedLMHead(nn.Module):
    """Embedding backwards."""

    def __init__(self, embedding):
        super().__init__()
        assert isinstance(embedding, nn.Embedding), "I want a embedding"
        self.embedding = embedding

    def forward(self, hidden):
        """Give the logits of all the words."""
        batch_size, seq_len, d_model = hidden.shape
        vocabulary_size = self.embedding.weight.shape[0]
        table = self.embedding.weight.permute(1, 0)
        # same table for every sentence, bmm wants it so
        table = table.unsqueeze(0).expand(batch_size, d_model, vocabulary_size)
        logits = torch.bmm(hidden, table)
        assert logits.shape == (batch_size, seq_len, vocabulary_size)
        return logits

    def next_token_probabilities(self, hidden):
        """Give the probability of every word to be the next."""
        logits = self.forward(hidden)
        last_index = logits.shape[1] - 1
        last_logits = logits[:, last_index, :]
        # softmax by hand, the maximum is away so that exp is not too big
        maximum = torch.max(last_logits, dim=1, keepdim=True)[0]
        exponentials = torch.exp(last_logits - maximum)
        total = torch.sum(exponentials, dim=1, keepdim=True)
        probabilities = exponentials / total
        return probabilities


if __name__ == "__main__":
    head = TiedLMHead(nn.Embedding(10, 4))
    print(head(torch.randn(2, 3, 4)).shape)
    print("should be 1:", head.next_token_probabilities(torch.randn(2, 3, 4)).sum(dim=1))
