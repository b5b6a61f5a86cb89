"""Language model head with tied weights."""
import torch
import torch.nn as nn

from utils import complain, log

print("lm_head.py is being imported")


class SharedWeight(nn.Module):
    """Only holds the Parameter, so that its name is embedding.weight"""

    def __init__(self, weight):
        super().__init__()
        self.weight = weight


class TiedLMHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.embedding = SharedWeight(embedding.weight)
        log("vocabulary size", embedding.weight.shape[0])

    def forward(self, hidden):
        complain("TiedLMHead.forward was called")
        return torch.matmul(hidden, self.embedding.weight.transpose(0, 1))

    def next_token_probabilities(self, hidden):
        logits = self.forward(hidden)
        last_logits = logits[:, -1, :]
        probabilities = torch.softmax(last_logits, dim=1)
        log("probabilities", tuple(probabilities.shape))
        return probabilities


if __name__ == "__main__":
    emb = nn.Embedding(10, 4)
    head = TiedLMHead(emb)
    assert head.embedding.weight is emb.weight
    print(head.next_token_probabilities(torch.randn(2, 3, 4)).sum(dim=1))
