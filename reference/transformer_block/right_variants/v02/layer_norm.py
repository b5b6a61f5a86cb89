# My layer norm. I make the features to the first dimension because then I understand the broadcast.
"""Layer normalisation, step by step."""

import torch
import torch.nn as nn


def layer_norm(x, eps=1e-5):
    """Return x with mean 0 and variance 1 in last dimension."""
    number_of_dims = x.dim()
    number_of_features = x.shape[-1]

    # features go to the front: (..., D) -> (D, ...)
    order_front = [number_of_dims - 1, *range(number_of_dims - 1)]
    x_front = x.permute(order_front)
    assert x_front.shape[0] == number_of_features

    # the mean
    x_sum = torch.sum(x_front, dim=0)
    x_mean = x_sum / number_of_features
    assert x_mean.shape == x.shape[:-1]

    # the variance (I divide with n and not with n minus 1!!)
    difference = x_front - x_mean
    difference_squared = torch.mul(difference, difference)
    variance = torch.sum(difference_squared, dim=0) / number_of_features

    # eps is into the root
    variance_plus_eps = variance + eps
    standard_deviation = torch.sqrt(variance_plus_eps)
    result_front = torch.div(difference, standard_deviation)

    # features go again to the back
    order_back = [*range(1, number_of_dims), 0]
    result = result_front.permute(order_back)
    assert result.shape == x.shape
    return result


class LayerNorm(nn.Module):
    """Layer norm with the learnable things."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.d_model = d_model
        self.eps = eps
        ones = torch.ones(d_model)
        zeros = torch.zeros(d_model)
        self.weight = nn.Parameter(ones)
        self.bias = nn.Parameter(zeros)

    def forward(self, x):
        """Normalise and then do weight and bias."""
        assert x.shape[-1] == self.d_model, "wrong size of features"
        normalised = layer_norm(x, self.eps)
        weight = self.weight.expand(x.shape)
        bias = self.bias.expand(x.shape)
        scaled = torch.mul(normalised, weight)
        shifted = torch.add(scaled, bias)
        return shifted


if __name__ == "__main__":
    example = torch.tensor([[2.0, 4.0, 6.0, 8.0]])
    print("should be -1.34 -0.45 0.45 1.34:")
    print(layer_norm(example))
    print(LayerNorm(4)(example))
