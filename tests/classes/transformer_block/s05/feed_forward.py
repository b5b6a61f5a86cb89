"""Feed forward network = key-value memory."""
import torch
import torch.nn as nn

from utils import ModelConfig, complain, log

print("feed_forward.py is being imported")


def memory_lookup(x, keys, values):
    log("memory_lookup", tuple(x.shape), tuple(keys.shape), tuple(values.shape))
    scores = torch.matmul(x, keys.t())       # how well does x match every key
    scores = torch.nn.functional.relu(scores)
    return torch.matmul(scores, values)      # mixture of the values


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1, activation="relu", bias=True):
        super().__init__()
        self.config = ModelConfig(d_model=d_model, d_ff=d_ff, dropout=dropout, bias=bias,
                                  extras={"activation": activation})
        # First linear layer: expand
        self.linear1 = nn.Linear(d_model, d_ff, bias=bias)
        # Activation
        choices = {"relu": nn.ReLU, "gelu": nn.GELU}
        try:
            self.activation = choices[activation]()
        except KeyError:
            raise ValueError("I don't know the activation %r" % (activation,)) from None
        # Dropout
        self.dropout = nn.Dropout(dropout)
        # Second linear layer: contract
        self.linear2 = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x):
        complain("FeedForward.forward was called")
        for name, layer in [("linear1", self.linear1), ("activation", self.activation),
                            ("dropout", self.dropout), ("linear2", self.linear2)]:
            x = layer(x)
            log("after", name, "the shape is", tuple(x.shape))
        return x


if __name__ == "__main__":
    ff = FeedForward(64, 256)
    print(ff)
    print(ff(torch.randn(16, 10, 64)).shape)
