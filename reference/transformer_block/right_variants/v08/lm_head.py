"""Language modelling head: the embedding itself, with another forward."""

from toolbox import F, last_softmax, nn


class TiedLMHead(nn.ModuleDict):
    """A dictionary with one module in it."""

    def __init__(self, embedding):
        super().__init__({"embedding": embedding})

    def forward(self, hidden):
        """Score the words."""
        return F.linear(hidden, self["embedding"].weight)

    def next_token_probabilities(self, hidden):
        """Softmax of the last scores."""
        return last_softmax(self(hidden))
