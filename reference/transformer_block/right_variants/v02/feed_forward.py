# Feed forward. First make it big, then activation, then dropout, then make it small again.
"""Feed-forward layer, step by step."""

import torch
import torch.nn as nn


def memory_lookup(x, keys, values):
    """Search in the memory with x."""
    number_of_keys, d_model = keys.shape
    assert x.shape[-1] == d_model, "x and the keys must have same features"
    assert values.shape[0] == number_of_keys, "every key needs his value"
    keys_transposed = keys.permute(1, 0)
    matches = torch.matmul(x, keys_transposed)
    # only the positive matches are counting
    activations = nn.functional.relu(matches)
    result = torch.matmul(activations, values)
    return result


class FeedForward(nn.Module):
    """Two linear layers with something in between."""

    def __init__(self, d_model, d_ff, dropout=0.1, activation="relu", bias=True):
        super().__init__()
        self.d_model = d_model
        self.d_ff = d_ff
        self.activation_name = activation
        self.linear1 = nn.Linear(in_features=d_model, out_features=d_ff, bias=bias)
        self.dropout = nn.Dropout(p=dropout)
        self.linear2 = nn.Linear(in_features=d_ff, out_features=d_model, bias=bias)

    def forward(self, x):
        """Do all of the steps after each other."""
        assert x.shape[-1] == self.d_model, "wrong size of features"
        hidden = self.linear1(x)
        assert hidden.shape[-1] == self.d_ff
        if self.activation_name == "relu":
            activated = nn.functional.relu(hidden)
        elif self.activation_name == "gelu":
            activated = nn.functional.gelu(hidden)
        else:
            raise ValueError("this activation is not existing: " + str(self.activation_name))
        dropped = self.dropout(activated)
        output = self.linear2(dropped)
        assert output.shape == x.shape
        return output


if __name__ == "__main__":
    print(FeedForward(64, 256)(torch.randn(16, 10, 64)).shape)
    token = torch.tensor([0.7, 0.4, 0.5, 0.2])
    my_keys = torch.tensor([[0.8, 0.1, 0.9, -0.1], [0.1, 0.8, -0.2, 0.3]])
    print("should be 1.03 and 0.35:", memory_lookup(token, my_keys, torch.eye(2)))
