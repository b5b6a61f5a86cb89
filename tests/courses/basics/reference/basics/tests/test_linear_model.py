"""Hidden checks of linear_model.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
PARAMETERS = ("weight", "bias")


def module(source, make, features, seed):
    """Build a model with drawn parameters."""
    state = make.state({"weight": (features,), "bias": ()}, seed=seed, dtype=torch.float64)
    return source.build("LinearModel", features).to(torch.float64).load(state)


@pytest.mark.criterion(points=1, source="handout, section 3")
@given(seed=SEEDS, count=st.integers(1, 5), features=st.integers(1, 4))
def test_gradients(component, reference, expect, make, seed, count, features):
    """results and gradients of the model are right"""
    x = make.normal(count, features, seed=seed, dtype=torch.float64)
    cotangent = make.normal(count, seed=seed + 1, dtype=torch.float64)
    right = module(reference, make, features, seed).asking(cotangent=cotangent)(x)
    actual = module(component, make, features, seed).asking(cotangent=cotangent)(x)
    expect.close(actual.output, right.output, names="N")
    for name in PARAMETERS:
        expect.close(
            actual.parameter_gradients.get(name),
            right.parameter_gradients[name],
            f"the gradient of {name}",
        )


@pytest.mark.criterion(points=0.5, form=True, source="handout, section 3")
def test_shapes(component, expect, make):
    """a prediction (N, 1) for a target (N,) is a ValueError, and no matrix of differences"""
    column, row = make.normal(4, 1, seed=1), make.normal(4, seed=2)
    expect.raises(component.call("mean_squared_error", column, row), "ValueError")
    expect.raises(component.call("mean_squared_error", row, column), "ValueError")


@pytest.mark.criterion(points=1.5, source="handout, section 3")
@given(seed=SEEDS, steps=st.integers(3, 6), rate=st.sampled_from([0.02, 0.1]))
def test_steps(component, reference, expect, make, seed, steps, rate):
    """losses and parameters are right after every step, also in a second training"""
    x = make.normal(8, 3, seed=seed, dtype=torch.float64)
    y = make.normal(8, seed=seed + 1, dtype=torch.float64, mean=2.0)
    right, actual = (module(source, make, 3, seed + 2) for source in (reference, component))
    for count in (1, steps):
        losses = reference.call("train", right, x, y, count, rate).numbers(count)
        answer = component.call("train", actual, x, y, count, rate)
        expect.same(answer.numbers(count), losses, "the losses")
        for name, value in right.state().entries.items():
            expect.close(actual.state().entries.get(name), value, name)


@pytest.mark.criterion(points=1, source="handout, section 3")
def test_line(component, reference, expect):
    """the model comes near the line of the provided data"""
    distances = []
    for source in (reference, component):
        provided = source.provided("line")
        model = source.build("LinearModel", 1)
        data = (provided.make("inputs", 7, 40), provided.make("targets", 7, 40))
        expect.that(source.call("train", model, *data, 60, 0.2))
        distances.append(provided.call("distance", model).number)
    expect.same(distances[1], distances[0], "the distance from the line", scale=10)


@pytest.mark.criterion(points=0.5, source="handout, section 3")
def test_other_model(component, reference, expect, make):
    """train changes all parameters of a model of another class"""
    x = make.normal(6, 1, seed=4)
    y = x[:, 0] ** 2 * 2 + 1
    found = []
    for source in (reference, component):
        parabola = source.provided("line").make("Parabola")
        losses = source.call("train", parabola, x, y, 5, 0.05).numbers(5)
        found.append([losses, *(parabola.get(name).output for name in ("curvature", "height"))])
    for name, actual, right in zip(
        ("the losses", "curvature", "height"), found[1], found[0], strict=True
    ):
        expect.same(actual, right, name, scale=10)


@pytest.mark.criterion(points=0.5, form=True, source="handout, section 3")
def test_random_split(component, expect):
    """other seeds of torch's generator divide otherwise, the same seed alike"""
    parts = [
        component.asking(seed=seed).call("split", 30, 0.5).tensors("first", "second")[0].tolist()
        for seed in (1, 2, 1)
    ]
    expect.that(parts[0] != parts[1], "two seeds divide in the same way")
    expect.same(parts[2], parts[0], "the first part for the same seed")
