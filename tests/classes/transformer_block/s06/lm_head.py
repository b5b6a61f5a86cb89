from torch import nn


class TiedLMHead(nn.Module):
    def __init__(self, embedding):
        assert embedding.weight.dim() == 2
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden):
        logits = hidden.float() @ self.embedding.weight.float().T
        return logits.to(hidden.dtype)

    def next_token_probabilities(self, hidden):
        logits = hidden[:, -1].float() @ self.embedding.weight.float().T
        return logits.softmax(dim=-1).to(hidden.dtype)
