"""Public checks of feed_forward.py. Sources of the numbers: slides, pages 20 and 21; session."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
SLOTS = st.integers(1, 6)
BIASES = ["linear1.bias", "linear2.bias"]
WEIGHTS = ["linear1.weight", "linear2.weight"]


@pytest.mark.criterion(points=1, source="slides, page 20")
def test_key_layer(component, expect):
    """neurons 2847 and 5432 answer "Tower" with 1.03 and 0.35, or 1.2 and 0.4 in five dimensions

    The page prints 1.2 and 0.4, which include dimensions hidden behind "..."; the four that are
    shown give 1.03 and 0.35. A fifth, in which the input is 1 and the keys are 0.17 and 0.05,
    makes the page's numbers exact.
    """
    x = torch.tensor([0.7, 0.4, 0.5, 0.2, 1.0])
    keys = torch.tensor([[0.8, 0.1, 0.9, -0.1, 0.17], [0.1, 0.8, -0.2, 0.3, 0.05]])
    # With the identity as values, the result is the activations themselves.
    answer = component.call("memory_lookup", x[:4], keys[:, :4], torch.eye(2))
    expect.close(
        answer.output, [1.03, 0.35], "the result for the four dimensions shown", names="Dv"
    )
    answer = component.call("memory_lookup", x, keys, torch.eye(2))
    expect.close(answer.output, [1.2, 0.4], "the result with the fifth dimension", names="Dv")


@pytest.mark.criterion(points=0.5, source="slides, page 21")
def test_value_layer(component, expect):
    """the activations 1.2 and 0.4 add [1.12, 1.24, 0.74] to dimensions 42, 73 and 158"""
    values = torch.tensor([[0.9, 0.8, 0.6], [0.1, 0.7, 0.05]])
    answer = component.call("memory_lookup", torch.tensor([1.2, 0.4]), torch.eye(2), values)
    expect.close(answer.output, [1.12, 1.24, 0.74], names="Dv")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_session_shapes(component, expect, make):
    """FeedForward(64, 256) turns (16, 10, 64) into (16, 10, 64)"""
    x = make.normal(16, 10, 64, seed=1)
    answer = component.build("FeedForward", 64, 256)(x)
    expect.shape(answer.output, (16, 10, 64), names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1; slides, page 20")
@given(seed=SEEDS, matching=SLOTS, silent=SLOTS)
def test_silent_keys(component, expect, make, seed, matching, silent):
    """a key that does not match adds nothing, one that matches never subtracts its value"""
    x = make.normal(5, seed=seed)
    keys = make.normal(matching + silent, 5, seed=seed + 1)
    # Turn the keys so that the first match the input and the others do not.
    match = (keys @ x).sign().unsqueeze(-1)
    keys = torch.cat([(keys * match)[:matching], -(keys * match)[matching:]])
    values = make.normal(matching + silent, 3, seed=seed + 2).abs()
    all_slots = component.call("memory_lookup", x, keys, values).output
    alone = component.call("memory_lookup", x, keys[:matching], values[:matching]).output
    expect.close(all_slots, alone, "the result with and without keys that do not match", names="Dv")
    expect.that(bool((all_slots >= 0).all()), "positive values were subtracted")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1; slides, page 16")
@given(seed=SEEDS, slots=SLOTS)
def test_order_of_the_slots(component, expect, make, seed, slots):
    """a memory has no order: moving keys together with their values changes nothing"""
    x = make.normal(2, 3, 4, seed=seed)
    keys, values = make.normal(slots, 4, seed=seed + 1), make.normal(slots, 3, seed=seed + 2)
    order = make.normal(slots, seed=seed + 3).argsort()
    plain = component.call("memory_lookup", x, keys, values).output
    moved = component.call("memory_lookup", x, keys[order], values[order]).output
    expect.shape(plain, (2, 3, 3), names="B T Dv")
    expect.close(moved, plain, "the result with the slots in another order", names="B T Dv")


@pytest.mark.criterion(points=0.5, source="slides, page 17")
@given(seed=SEEDS, length=st.integers(2, 5))
def test_positions_apart(component, expect, make, seed, length):
    """every position is worked on by itself, without a look at the others"""
    x = make.normal(2, length, 4, seed=seed)
    module = component.build("FeedForward", 4, 6, dropout=0.0).train(False)
    together = expect.shape(module(x).output, x.shape, names="B T D")
    alone = module(x[1:, -1:]).output
    expect.close(alone, together[1:, -1:], "the last position on its own", names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_relu_between_the_layers(component, expect):
    """linear1 comes first, then relu, then linear2, each with its weight and bias"""
    module = component.build("FeedForward", 2, 3, dropout=0.0).train(False)
    module.load(
        {
            "linear1.weight": torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
            "linear1.bias": torch.tensor([0.0, 0.0, 2.0]),
            "linear2.weight": torch.tensor([[1.0, 1.0, 1.0], [2.0, 1.0, -1.0]]),
            "linear2.bias": torch.tensor([-5.0, 0.5]),
        }
    )
    # linear1 gives [2, -3, 1], relu [2, 0, 1], linear2 [3, 3] plus its bias.
    answer = module(torch.tensor([[[2.0, -3.0]]]))
    expect.close(answer.output, [[[-2.0, 3.5]]], names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_exact_gelu(component, expect):
    """with activation="gelu", 1 becomes 0.841345 and -1 becomes -0.158655

    That is x times the share of the normal distribution below x. The approximation with tanh
    gives 0.841192 and -0.158808.
    """
    module = component.build("FeedForward", 2, 2, dropout=0.0, activation="gelu", bias=False)
    module.train(False).load({"linear1.weight": torch.eye(2), "linear2.weight": torch.eye(2)})
    answer = module(torch.tensor([[[1.0, -1.0], [0.0, 2.0]]]))
    expect.close(answer.output, [[[0.8413447, -0.1586553], [0.0, 1.9544997]]], names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_parameters(component, expect):
    """linear1 and linear2 have a weight each, and a bias unless bias=False"""
    for bias, names in ((True, WEIGHTS + BIASES), (False, WEIGHTS)):
        state = component.build("FeedForward", 3, 5, bias=bias).state()
        expect.keys(list(state.entries), names, f"the keys of the state_dict with bias={bias}")
        expect.keys(list(state.parameters), names, f"the parameters with bias={bias}")
        expect.shape(state.entries["linear1.weight"], (5, 3), "linear1.weight", names="F D")
        expect.shape(state.entries["linear2.weight"], (3, 5), "linear2.weight", names="D F")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_unknown_activation(component, expect):
    """an activation other than "relu" and "gelu" is a ValueError"""
    for name in ("swish", ""):
        module = component.build("FeedForward", 2, 3, activation=name)
        expect.raises(module(torch.zeros(1, 1, 2)), "ValueError")
