from torch import einsum, nn


class TiedLMHead(nn.Module):
    def __init__(self, embedding: nn.Embedding):
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden):
        return einsum("...d,vd->...v", hidden, self.embedding.weight)

    def next_token_probabilities(self, hidden):
        last = hidden[:, -1]
        return einsum("bd,vd->bv", last, self.embedding.weight).softmax(-1)
