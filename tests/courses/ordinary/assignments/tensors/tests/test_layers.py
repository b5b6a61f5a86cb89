"""Public tests of layers."""

import pytest
import torch
from layers import Affine, Network, cross_entropy, softplus
from torch.nn import functional as F


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Network(3, 8, 2)


def test_softplus():
    """the same as torch's own"""
    x = torch.linspace(-30, 30, 61)
    torch.testing.assert_close(softplus(x), F.softplus(x))


def test_softplus_gradient():
    """its derivative is the sigmoid"""
    x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    softplus(x).sum().backward()
    assert torch.allclose(x.grad, torch.sigmoid(x.detach()))


def test_affine():
    """a layer with known weights"""
    layer = Affine(2, 3)
    assert isinstance(layer, torch.nn.Module)
    assert {name: p.shape for name, p in layer.named_parameters()} == {
        "weight": (3, 2),
        "bias": (3,),
    }
    layer.load_state_dict({"weight": torch.ones(3, 2), "bias": torch.tensor([0.0, 1.0, 2.0])})
    found = layer(torch.tensor([[1.0, 2.0]]))
    torch.testing.assert_close(found, torch.tensor([[3.0, 4.0, 5.0]]))


def test_gradients(model):
    """all parameters get a gradient"""
    loss = model(torch.randn(5, 3)).square().mean()
    loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def test_training(model):
    """the loss becomes smaller"""
    x = torch.randn(20, 3)
    labels = (x[:, 0] > 0).long()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_cross_entropy():
    """the same as torch's own"""
    logits = torch.tensor([[2.0, -1.0, 0.5], [100.0, 0.0, -100.0]])
    labels = torch.tensor([2, 0])
    assert cross_entropy(logits, labels).item() == pytest.approx(
        F.cross_entropy(logits, labels).item()
    )
