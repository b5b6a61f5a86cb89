"""Hidden tests of layers."""

import layers
import torch
from torch import nn


def test_same_as_torch():
    """a network with the same weights as one of torch's layers"""
    torch.manual_seed(1)
    theirs = nn.Sequential(nn.Linear(4, 6), nn.Softplus(), nn.Linear(6, 2))
    mine = layers.Network(4, 6, 2)
    with torch.no_grad():
        mine.first.weight.copy_(theirs[0].weight)
        mine.first.bias.copy_(theirs[0].bias)
        mine.second.weight.copy_(theirs[2].weight)
        mine.second.bias.copy_(theirs[2].bias)
    x = torch.randn(3, 5, 4)
    torch.testing.assert_close(mine(x), theirs(x))


def test_gradients_of_the_loss():
    """the gradients that reach the logits are torch's"""
    torch.manual_seed(2)
    ours = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    theirs = ours.detach().clone().requires_grad_()
    labels = torch.tensor([0, 1, 2, 3, 0, 1])
    layers.cross_entropy(ours, labels).backward()
    nn.functional.cross_entropy(theirs, labels).backward()
    torch.testing.assert_close(ours.grad, theirs.grad)
    assert ours.grad.dtype == torch.float64


def test_state():
    """the state has the names of the parameters, and a start without bias"""
    model = layers.Network(2, 3, 1)
    assert sorted(model.state_dict()) == [
        "first.bias",
        "first.weight",
        "second.bias",
        "second.weight",
    ]
    assert torch.equal(model.first.bias, torch.zeros(3))
    assert sum(parameter.numel() for parameter in model.parameters()) == 13


def test_dropout():
    """in training some of the hidden numbers are dropped, in evaluation none"""
    torch.manual_seed(3)
    model = layers.Network(4, 50, 1, dropout=0.5)
    x = torch.randn(1, 4)
    model.eval()
    assert torch.equal(model(x), model(x))
    model.train()
    assert not torch.equal(model(x), model(x))


def test_step():
    """parameters without a gradient stay"""
    first = torch.tensor([1.0, 2.0], requires_grad=True)
    other = torch.tensor([5.0], requires_grad=True)
    (first * torch.tensor([3.0, -1.0])).sum().backward()
    layers.step([first, other], rate=0.5)
    torch.testing.assert_close(first.detach(), torch.tensor([-0.5, 2.5]))
    assert other.item() == 5 and first.grad is None


def test_two_losses():
    """gradients of two losses add up"""
    x = torch.tensor([0.5], requires_grad=True)
    (layers.softplus(x) + 2 * layers.softplus(-x)).backward()
    expected = torch.sigmoid(torch.tensor([0.5])) - 2 * torch.sigmoid(torch.tensor([-0.5]))
    torch.testing.assert_close(x.grad, expected)
