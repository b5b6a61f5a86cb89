"""A linear model with one mistake in it, or several; with none in force it is right."""

import copy

import torch
from torch import nn

# Name: what to tell the student, and where the course treats it.
MISCONCEPTIONS = {
    "random_start": (
        "your weight is drawn at random; it starts at zero",
        "handout, section 3",
    ),
    "bias_not_trained": (
        "your bias is a buffer, so no training reaches it; make it a Parameter",
        "handout, section 3",
    ),
    "column": (
        "your model returns a column (N, 1); it should return (N,)",
        "handout, section 3",
    ),
    "bias_subtracted": (
        "you subtracted the bias; it is added",
        "handout, section 3",
    ),
    "sum_of_squares": (
        "your error is the sum of the squared differences; it is their mean",
        "handout, section 3",
    ),
    "half": (
        "you divided the error by 2 as some books do; here it is the mean alone",
        "handout, section 3",
    ),
    "broadcast": (
        "a prediction (N, 1) and a target (N,) broadcast to all N * N differences; different "
        "shapes are a ValueError",
        "handout, section 3",
    ),
    "gradients_add_up": (
        "you never set the gradients back to zero, so each step takes those of all steps before",
        "handout, section 3",
    ),
    "uphill": (
        "you added the gradient; the loss falls against it",
        "handout, section 3",
    ),
    "loss_afterwards": (
        "you listed the loss after each step; the loss before the step is asked for",
        "handout, section 3",
    ),
    "own_copy": (
        "you trained a copy, and the model that was given is as it was; change it in place",
        "handout, section 3",
    ),
    "by_name": (
        "you changed weight and bias by name; train is for any model, so go through its "
        "parameters()",
        "handout, section 3",
    ),
    "in_order": (
        "your split takes the numbers in order; they are drawn at random",
        "handout, section 3",
    ),
    "drawn_again": (
        "your split may draw a number twice and leave another out; each is in one part, once",
        "handout, section 3",
    ),
}
# The mistakes in force.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Tell whether this mistake is in force."""
    return name in WRONG


class LinearModel(nn.Module):
    """The weighted sum of the features, plus a bias."""

    def __init__(self, features):
        super().__init__()
        start = torch.randn(features) if wrong("random_start") else torch.zeros(features)
        self.weight = nn.Parameter(start)  # (F,)
        if wrong("bias_not_trained"):
            self.register_buffer("bias", torch.zeros(()))
        else:
            self.bias = nn.Parameter(torch.zeros(()))  # ()

    def forward(self, x):
        """Map x (N, F) to (N,)."""
        bias = -self.bias if wrong("bias_subtracted") else self.bias
        result = x @ self.weight + bias  # (N,)
        return result.unsqueeze(1) if wrong("column") else result


def mean_squared_error(prediction, target):
    """Return the mean of the squared differences."""
    if prediction.shape != target.shape and not wrong("broadcast"):
        raise ValueError("prediction and target have different shapes")
    squares = (prediction - target) ** 2
    error = squares.sum() if wrong("sum_of_squares") else squares.mean()
    return error / 2 if wrong("half") else error


def train(model, inputs, targets, steps, rate):
    """Train a model by plain gradient descent on the mean squared error."""
    if wrong("own_copy"):
        model = copy.deepcopy(model)
    losses = []
    model.zero_grad()
    for _ in range(steps):
        loss = mean_squared_error(model(inputs), targets)
        if not wrong("gradients_add_up"):
            model.zero_grad()
        loss.backward()
        parameters = [model.weight, model.bias] if wrong("by_name") else list(model.parameters())
        with torch.no_grad():
            for parameter in parameters:
                step = rate * parameter.grad
                parameter += step if wrong("uphill") else -step
            if wrong("loss_afterwards"):
                loss = mean_squared_error(model(inputs), targets)
        losses.append(loss.item())
    return losses


def split(count, share):
    """Divide the numbers 0 to `count` - 1 at random."""
    order = torch.randperm(count)
    if wrong("in_order"):
        order = torch.arange(count)
    if wrong("drawn_again"):
        order = torch.randint(0, count, (count,))
    size = int(count * share)
    return order[:size], order[size:]
