"""A linear model, the error that it makes, and its training by gradient descent.

Source: handout, section 3.
"""

import torch
from torch import Tensor, nn


class LinearModel(nn.Module):
    """The weighted sum of the features, plus a bias.

    Parameters, by their `state_dict` keys:
        weight: (F,), zeros at the start.
        bias: (), zero at the start.
    """

    def __init__(self, features: int) -> None:
        """Make the parameters for inputs of so many features."""
        super().__init__()
        ### BEGIN SOLUTION
        self.weight = nn.Parameter(torch.zeros(features))  # (F,)
        self.bias = nn.Parameter(torch.zeros(()))  # ()
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Map x (N, F) to (N,)."""
        ### BEGIN SOLUTION
        return x @ self.weight + self.bias  # (N,)
        ### END SOLUTION


def mean_squared_error(prediction: Tensor, target: Tensor) -> Tensor:
    """Return the mean of the squared differences, a tensor of shape ().

    Raises:
        ValueError: the two do not have the same shape.
    """
    ### BEGIN SOLUTION
    if prediction.shape != target.shape:
        raise ValueError(f"shapes differ: {tuple(prediction.shape)} and {tuple(target.shape)}")
    # equivalent: the square has no sign
    return (prediction - target).square().mean()
    ### END SOLUTION


def train(
    model: nn.Module, inputs: Tensor, targets: Tensor, steps: int, rate: float
) -> list[float]:
    """Train a model by plain gradient descent on the mean squared error.

    Every step takes `rate` times its gradient from every parameter of the model. The gradients
    come from autograd, and the model is changed in place.

    Args:
        model: any module that maps `inputs` to predictions of the shape of `targets`.
        inputs: (N, ...).
        targets: (N,).
        steps: the number of steps.
        rate: the learning rate.

    Returns:
        The loss before each step, as floats; so many as there are steps.
    """
    ### BEGIN SOLUTION
    losses = []
    parameters = list(model.parameters())
    for _ in range(steps):
        # equivalent: the error is the same both ways round
        loss = mean_squared_error(model(inputs), targets)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            # equivalent: there is a gradient for each
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter -= rate * gradient
        losses.append(loss.item())
    return losses
    ### END SOLUTION


def split(count: int, share: float) -> tuple[Tensor, Tensor]:
    """Divide the numbers 0 to `count` - 1 at random, for training and for validation.

    Returns:
        Two integer tensors; the first has int(count * share) numbers, the second the others.
        The numbers are drawn with torch's generator, each is in one of the two, once.
    """
    ### BEGIN SOLUTION
    order = torch.randperm(count)
    size = int(count * share)
    return order[:size], order[size:]
    ### END SOLUTION
