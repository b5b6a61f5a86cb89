"""Public checks of linear_model.py. Source: handout, section 3."""

import pytest
import torch


@pytest.mark.criterion(points=1, form=True, source="handout, section 3")
def test_parameters(component, expect):
    """the parameters are weight and bias, zero at the start"""
    state = component.build("LinearModel", 3).state()
    expect.keys(list(state.parameters), ["weight", "bias"], "the parameters")
    expect.close(state.parameters["weight"], torch.zeros(3), "weight", names="F")
    expect.close(state.parameters["bias"], torch.tensor(0.0), "bias")


@pytest.mark.criterion(points=1, source="handout, section 3")
def test_forward(component, expect):
    """with the weight [1, 2] and the bias 0.5, [3, 4] gives 11.5"""
    model = component.build("LinearModel", 2)
    model.load({"weight": torch.tensor([1.0, 2.0]), "bias": torch.tensor(0.5)})
    answer = model(torch.tensor([[3.0, 4.0], [0.0, -1.0], [0.0, 0.0]]))
    expect.close(answer.output, [11.5, -1.5, 0.5], names="N")


@pytest.mark.criterion(points=1, source="handout, section 3")
@pytest.mark.parametrize(
    "prediction, target, right",
    [([1.0, 2.0], [1.0, 4.0], 2.0), ([3.0], [0.0], 9.0), ([0.0, 0.0, 0.0, 2.0], [1.0] * 4, 1.0)],
)
def test_error(component, expect, prediction, target, right):
    """the error is the mean of the squared differences, and nothing it is given changes"""
    given = (torch.tensor(prediction), torch.tensor(target))
    answer = component.asking(keep_inputs=True).call("mean_squared_error", *given)
    expect.close(answer.output, torch.tensor(right), "the error")
    expect.unchanged(answer, *given)


@pytest.mark.criterion(points=1, source="handout, section 3")
def test_train(component, expect):
    """three steps for the points (1, 2) and (2, 4) have the losses 10, 1.06 and 0.1732"""
    model = component.build("LinearModel", 1)
    data = (torch.tensor([[1.0], [2.0]]), torch.tensor([2.0, 4.0]))
    losses = component.call("train", model, *data, steps=3, rate=0.1)
    expect.same(losses.numbers(3), [10.0, 1.06, 0.1732], "the losses")
    state = model.state()
    expect.close(state.entries["weight"], [1.426], "the weight after training", names="F")
    expect.close(state.entries["bias"], torch.tensor(0.828), "the bias after training")


@pytest.mark.criterion(points=1, source="handout, section 3")
@pytest.mark.parametrize("count, share, size", [(10, 0.8, 8), (7, 0.5, 3), (4, 1.0, 4)])
def test_split(component, expect, count, share, size):
    """every number is in one of the two parts, once"""
    first, second = component.asking(seed=3).call("split", count, share).tensors("one", "other")
    expect.shape(first, (size,), "the first part")
    expect.shape(second, (count - size,), "the second part")
    found = sorted(first.tolist() + second.tolist())
    expect.same(found, list(range(count)), "the numbers of both parts")
