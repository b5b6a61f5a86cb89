"""Public checks of feed_forward.py. Sources of the numbers: slides, pages 20 and 21; session."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
SLOTS = st.integers(1, 6)
BIASES = ["linear1.bias", "linear2.bias"]
WEIGHTS = ["linear1.weight", "linear2.weight"]
HINT = "apply dropout once, between the activation and linear2"


def see_through(component, features, activation="gelu", **settings):
    """Build FeedForward whose result is the activated features, dropped or not, plus 3."""
    built = component.build("FeedForward", features, features, activation=activation, **settings)
    identity, zero = torch.eye(features), torch.zeros(features)
    weights = {"linear1.weight": identity, "linear2.weight": identity}
    return built.load(weights | {"linear1.bias": zero, "linear2.bias": zero + 3})


SLOPE = (
    "the gradients do not match how the output changes after a small step: look for .detach(), "
    ".data, .item(), numpy, no_grad or random numbers in the computation"
)


def expect_slope(expect, make, gradients, ask, tensors, cotangent):
    """Expect gradients to predict how a small step from the tensors changes the output.

    `gradients` returns them by name; `ask` returns the output for other tensors.
    """
    drawn = {name: tensor.shape for name, tensor in tensors.items()}
    steps = make.state(drawn, seed=9, dtype=torch.float64)
    ends = []
    for side in (0.004, -0.004):
        end = ask({name: tensor + side * steps[name] for name, tensor in tensors.items()})
        ends.append(expect.shape(end, cotangent.shape, "the result"))
    change = ((ends[0] - ends[1]) * cotangent).sum() / 0.008
    # A message shows the last call, so the gradients come last.
    found, predicted = gradients(), torch.zeros(())
    for name, tensor in tensors.items():
        what = f"the gradient of {name}"
        if found.get(name) is None:
            expect.close(None, tensor, what)
        predicted = predicted + (expect.shape(found[name], tensor.shape, what) * steps[name]).sum()
    what = "the change that the gradients predict for a small step"
    expect.close(predicted, change, what, scale=100, hint=SLOPE)


@pytest.mark.criterion(points=1, source="slides, page 20")
def test_key_layer(component, expect):
    """the activations for "Tower" are 1.03 and 0.35, and 1.2 and 0.4 with a fifth dimension

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


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 1")
def test_session_shapes(component, expect, make):
    """FeedForward(64, 256) maps (16, 10, 64) to (16, 10, 64)"""
    x = make.normal(16, 10, 64, seed=1)
    answer = component.build("FeedForward", 64, 256)(x)
    expect.shape(answer.output, (16, 10, 64), names="B T D")


@pytest.mark.criterion(
    points=0.5, form=True, source="session, knowledge point 1; slides, page 20", examples=2
)
@given(seed=SEEDS, matching=SLOTS, silent=SLOTS)
def test_silent_keys(component, expect, make, seed, matching, silent):
    """negative matches are clipped to 0 (relu): such a key contributes nothing"""
    x = make.normal(5, seed=seed)
    keys = make.normal(matching + silent, 5, seed=seed + 1)
    # Turn the keys so that the first match the input and the others do not.
    match = (keys @ x).sign().unsqueeze(-1)
    keys = torch.cat([(keys * match)[:matching], -(keys * match)[matching:]])
    values = make.normal(matching + silent, 3, seed=seed + 2).abs()
    all_slots = component.call("memory_lookup", x, keys, values).output
    alone = component.call("memory_lookup", x, keys[:matching], values[:matching]).output
    expect.close(all_slots, alone, "the result with and without keys that do not match", names="Dv")
    expect.that(
        bool((all_slots >= 0).all()),
        "the result is negative, although all values are positive: expected relu on the matches",
    )


@pytest.mark.criterion(
    points=0.5, form=True, source="session, knowledge point 1; slides, page 16", examples=2
)
@given(seed=SEEDS, slots=SLOTS)
def test_order_of_the_slots(component, expect, make, seed, slots):
    """reordering keys and values together does not change the result of memory_lookup"""
    x = make.normal(2, 3, 4, seed=seed)
    keys, values = make.normal(slots, 4, seed=seed + 1), make.normal(slots, 3, seed=seed + 2)
    order = make.normal(slots, seed=seed + 3).argsort()
    plain = component.call("memory_lookup", x, keys, values).output
    moved = component.call("memory_lookup", x, keys[order], values[order]).output
    expect.shape(plain, (2, 3, 3), names="B T Dv")
    expect.close(moved, plain, "the result with the slots in another order", names="B T Dv")


@pytest.mark.criterion(points=0.5, form=True, source="slides, page 17", examples=2)
@given(seed=SEEDS, length=st.integers(2, 5))
def test_positions_apart(component, expect, make, seed, length):
    """FeedForward treats every position separately: other tokens do not change the result"""
    x = make.normal(2, length, 4, seed=seed)
    module = component.build("FeedForward", 4, 6, dropout=0.0).train(False)
    together = expect.shape(module(x).output, x.shape, names="B T D")
    alone = module(x[1:, -1:]).output
    expect.close(alone, together[1:, -1:], "the last position on its own", names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_relu_between_the_layers(component, expect):
    """FeedForward applies linear1, then relu, then linear2, with weights and biases"""
    module = component.build("FeedForward", 2, 3, dropout=0.0)
    module.load(
        {
            "linear1.weight": torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
            "linear1.bias": torch.tensor([0.0, 0.0, 2.0]),
            "linear2.weight": torch.tensor([[1.0, 1.0, 1.0], [2.0, 1.0, -1.0]]),
            "linear2.bias": torch.tensor([-5.0, 0.5]),
        }
    )
    # linear1 gives [2, -3, 1], relu [2, 0, 1], linear2 [3, 3] plus its bias.
    for mode, on in (("evaluation", False), ("training", True)):
        answer = module.train(on)(torch.tensor([[[2.0, -3.0]]]))
        expect.close(answer.output, [[[-2.0, 3.5]]], f"the result in {mode}", names="B T D")


@pytest.mark.criterion(points=0.5, source="handout")
def test_exact_gelu(component, expect):
    """with activation="gelu", 1 becomes 0.841345 and -1 becomes -0.158655

    That is x times the share of the normal distribution below x. The approximation with tanh
    gives 0.841192 and -0.158808.
    """
    state = {"linear1.weight": torch.eye(2), "linear2.weight": torch.eye(2)}
    module, other = (
        component.build("FeedForward", 2, 2, dropout=0.0, activation=name, bias=False)
        .train(False)
        .load(state)
        for name in ("gelu", "relu")
    )
    x = torch.tensor([[[1.0, -1.0], [0.0, 2.0]]])
    right = [[[0.8413447, -0.1586553], [0.0, 1.9544997]]]
    expect.close(module(x).output, right, names="B T D")
    expect.shape(other(x).output, x.shape, names="B T D")
    what = 'the result with activation="gelu", after a FeedForward with "relu" was made,'
    expect.close(module(x).output, right, what, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 1")
def test_parameters(component, expect):
    """linear1 and linear2 have a weight each, and a bias unless bias=False"""
    for bias, names in ((True, WEIGHTS + BIASES), (False, WEIGHTS)):
        state = component.build("FeedForward", 3, 5, bias=bias).state()
        expect.keys(
            list(state.entries),
            names,
            f"the keys of the state_dict with bias={bias}",
            learned=state.parameters,
        )
        expect.keys(
            list(state.parameters),
            names,
            f"the parameters with bias={bias}",
            learned=state.parameters,
        )
        expect.shape(state.entries["linear1.weight"], (5, 3), "linear1.weight", names="F D")
        expect.shape(state.entries["linear2.weight"], (3, 5), "linear2.weight", names="D F")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_unknown_activation(component, expect):
    """an activation other than "relu" and "gelu" raises ValueError"""
    for name in ("swish", "", "GELU"):
        module = component.build("FeedForward", 2, 3, activation=name)
        expect.raises(module(torch.zeros(1, 1, 2)), "ValueError")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_dropout(component, expect, make):
    """in training, activations are dropped before linear2 and the others are scaled up"""
    # At least 1, so that no activated feature is near 0.
    x = make.normal(2, 64, 64, seed=1).abs() + 1
    plain = see_through(component, 64, dropout=0.0).train()(x)
    activated = expect.shape(plain.output, x.shape, names="B T D") - 3
    built = [see_through(component, 64, dropout=rate) for rate in (0.4, 0.6)]
    for module in built:
        # Both are made before either is called.
        expect.shape(module.train(False)(x).output, x.shape, names="B T D")
    for rate, module in zip((0.4, 0.6), built, strict=True):
        answer = module.train().asking(seed=2)(x)
        result = expect.shape(answer.output, x.shape, names="B T D")
        dropped = (result - 3).abs() < 1e-3
        share = float(dropped.double().mean())
        # 8192 values: the bounds are more than nine standard deviations away.
        near = abs(share - rate) < 0.05
        # Dropout in the wrong place makes few values exactly 0.
        hint = HINT if 0.01 < share < rate else ""
        # It is seen in the result alone, in which something else may be wrong.
        fact = f"with dropout={rate}, {share:.1%} of linear2's inputs seem to be 0"
        expect.that(near, f"{fact}, expected about {rate:.0%}", hint=hint)
        single = all(bool(dropped.any(d).all() and (~dropped).any(d).all()) for d in (1, 2))
        expect.that(single, "whole tokens or whole features are dropped, expected single values")
        right = (activated / (1 - rate)).masked_fill(dropped, 0.0) + 3
        expect.close(result, right, "the result with features dropped or scaled up", names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_dropout_off(component, expect, make):
    """nothing is dropped in evaluation mode, nor in training mode with dropout=0"""
    x = make.normal(4, 64, 32, seed=1).abs() + 1
    right = x + 3  # relu does not change positive values
    answer = see_through(component, 32, "relu", dropout=0.5).train(False).asking(seed=2)(x)
    expect.close(answer.output, right, "the result in evaluation", names="B T D")
    answer = see_through(component, 32, "relu", dropout=0.0).train().asking(seed=3)(x)
    expect.close(answer.output, right, "the result in training with dropout=0", names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_default_dropout(component, expect, make):
    """the default of dropout is 0.1"""
    x = make.normal(4, 64, 32, seed=1).abs() + 1
    answer = see_through(component, 32).train().asking(seed=4)(x)
    result = expect.shape(answer.output, x.shape, names="B T D")
    # No activated feature is below 0.8. 8192 values: the bounds are nine deviations away.
    share = float(((result - 3).abs() < 1e-3).double().mean())
    fact = f"by default, {share:.1%} of linear2's inputs seem to be 0 in training"
    hint = HINT if 0.01 < share < 0.1 else ""
    expect.that(abs(share - 0.1) < 0.03, f"{fact}, expected about 10%", hint=hint)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_dtypes(component, expect, make):
    """the result has the input's dtype: float32, float64 or bfloat16"""
    x = make.normal(2, 3, 6, seed=1)
    memory = (make.normal(5, 6, seed=2, deviation=0.5), make.normal(5, 2, seed=3))
    built = component.build("FeedForward", 6, 9, 0.0).train(False)
    found, right = component.call("memory_lookup", x, *memory).output, built(x).output
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        same, keys, values = x.to(dtype), memory[0].to(dtype), memory[1].to(dtype)
        actual = component.call("memory_lookup", same, keys, values).output
        what = f"memory_lookup for {dtype}"
        expect.close(actual, found, what, like=same, scale=2, names="B T Dv")
        actual = built.to(dtype)(same).output
        expect.close(actual, right, f"FeedForward for {dtype}", like=same, scale=2, names="B T D")


@pytest.mark.criterion(points=0.5, source="handout")
def test_gradients_flow(component, expect, make):
    """gradients reach the inputs and every weight and bias

    They must predict the effect of a small step in a random direction.
    """
    names, cotangent = ("x", "keys", "values"), make.normal(2, 3, dtype=torch.float64, seed=3)
    shapes = zip((95, 96, 97), ((2, 3), (4, 3), (4, 3)), strict=True)
    # No match of x and keys is so near 0 that a step changes its sign.
    drawn = [make.normal(*shape, seed=seed, dtype=torch.float64) for seed, shape in shapes]
    asked = component.asking(cotangent=cotangent)
    expect_slope(
        expect,
        make,
        lambda: dict(zip(names, asked.call("memory_lookup", *drawn).gradients, strict=False)),
        lambda tensors: component.call("memory_lookup", *tensors.values()).output,
        dict(zip(names, drawn, strict=True)),
        cotangent,
    )
    shapes = {"linear1.weight": (4, 3), "linear1.bias": (4,)}
    shapes |= {"linear2.weight": (3, 4), "linear2.bias": (3,)}
    state = make.state(shapes, seed=4, dtype=torch.float64)
    # The exact gelu has no corner that a step could cross.
    built = component.build("FeedForward", 3, 4, 0.0, "gelu").to(torch.float64)

    def gradients():
        answer = built.load(state).asking(cotangent=cotangent)(drawn[0])
        return {"x": answer.gradients[0]} | answer.parameter_gradients

    def output(tensors):
        return built.load({name: tensors[name] for name in state})(tensors["x"]).output

    expect_slope(expect, make, gradients, output, {"x": drawn[0]} | state, cotangent)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_non_contiguous(component, expect, make):
    """a transposed, strided or expanded input gives the same result as a contiguous one"""
    x, built = make.normal(3, 4, 4, seed=1), component.build("FeedForward", 4, 5, 0.0).train(False)
    for view in (x.transpose(1, 2), x[:, ::2], x[:1].expand(2, 4, 4)):
        right = built(view.contiguous()).output
        expect.close(built(view).output, right, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_input_untouched(component, expect, make):
    """the input tensors are not modified"""
    x, keys, values = make.normal(2, 3, 4, seed=3), make.normal(5, 4, seed=4), torch.ones(5, 2)
    expect.unchanged(
        component.asking(keep_inputs=True).call("memory_lookup", x, keys, values), x, keys, values
    )
    expect.unchanged(component.build("FeedForward", 4, 5, 0.0).asking(keep_inputs=True)(x), x)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_device(component, expect):
    """results are on the input's device (no hard-coded device)"""
    x, keys = torch.empty(2, 3, 4, device="meta"), torch.empty(5, 4, device="meta")
    values = torch.empty(5, 2, device="meta")
    expect.follows_device(component.call("memory_lookup", x, keys, values))
    built = component.build("FeedForward", 4, 5).train(False).to(device="meta")
    expect.follows_device(built(x))
