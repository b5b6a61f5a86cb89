"""Public checks of multi_head_attention.py. The walkthrough's numbers are in walkthrough.json."""

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

WALKTHROUGH = json.loads((Path(__file__).parent / "walkthrough.json").read_text("utf-8"))
SEEDS = st.integers(0, 10_000)
SMALL = st.integers(2, 3)
LAYERS = ("q_linear", "k_linear", "v_linear", "out_proj")


def walkthrough(key):
    """Read one of the walkthrough's tables."""
    return torch.tensor(WALKTHROUGH[key])


def walkthrough_attention(component, **changed):
    """Build the walkthrough's attention: two features, two heads, no biases, not in training."""
    keys = {f"{layer}.weight": f"attention.{layer}.weight" for layer in LAYERS}
    state = {own: torch.tensor(WALKTHROUGH["weights"][key]) for own, key in keys.items()}
    state |= {key.replace("_weight", ".weight"): value for key, value in changed.items()}
    built = component.build("MultiHeadAttention", 2, 2, bias=False).load(state)
    return built.train(False)


def drawn_state(make, features, seed):
    """Make a random tensor for every parameter."""
    shapes = {f"{layer}.weight": (features, features) for layer in LAYERS}
    return make.state(shapes | {f"{layer}.bias": (features,) for layer in LAYERS}, seed=seed)


def drawn_attention(component, make, features, heads, seed):
    """Build MultiHeadAttention with random parameters, in evaluation mode."""
    built = component.build("MultiHeadAttention", features, heads)
    return built.load(drawn_state(make, features, seed)).train(False)


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
        ends.append(expect.shape(end, cotangent.shape, "the output"))
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


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 4")
def test_session_shapes(component, expect, make):
    """MultiHeadAttention(64, 4) maps (2, 5, 64) to (2, 5, 64) and weights (2, 4, 5, 5)"""
    attention = component.build("MultiHeadAttention", 64, 4)
    output, weights = attention(make.normal(2, 5, 64, seed=1)).tensors("output", "weights")
    expect.shape(output, (2, 5, 64), "the output", names="B T D")
    expect.shape(weights, (2, 4, 5, 5), "the matrix of weights", names="B H T T")


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 4")
def test_parameters(component, expect):
    """MultiHeadAttention has four (D, D) projections, each with a bias unless bias=False"""
    weights, biases = [f"{layer}.weight" for layer in LAYERS], [f"{layer}.bias" for layer in LAYERS]
    state = component.build("MultiHeadAttention", 6, 2).state()
    expect.keys(
        list(state.entries),
        weights + biases,
        "the keys of the state_dict",
        learned=state.parameters,
    )
    expect.keys(
        list(state.parameters), weights + biases, "the parameters", learned=state.parameters
    )
    for name in weights:
        expect.shape(state.entries[name], (6, 6), name, names="D D")
    bare = component.build("MultiHeadAttention", 6, 2, bias=False).state()
    expect.keys(
        list(bare.entries),
        weights,
        "the keys of the state_dict with bias=False",
        learned=bare.parameters,
    )


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 4")
def test_indivisible(component, expect, make):
    """a d_model that num_heads does not divide raises ValueError or AssertionError"""
    answer = component.build("MultiHeadAttention", 10, 3)(make.normal(1, 2, 10, seed=1))
    expect.raises(answer, "ValueError", "AssertionError")


@pytest.mark.criterion(points=0.5, source="walkthrough, attention, step 1")
def test_walkthrough_weights(component, expect):
    """CLS has the walkthrough's attention weights in both heads

    The page prints five digits, the last of which can be off by one.
    """
    answer = walkthrough_attention(component)(walkthrough("x"), walkthrough("mask"))
    weights = expect.shape(
        answer.tensors("output", "weights")[1],
        (2, 2, 5, 5),
        "the matrix of weights",
        names="B H T T",
    )
    first = [[0, 0.4998208, 0.4998208, 0.00035828611, 0]]
    first += [[0, 4.518023e-6, 0.4998186, 0.4998186, 0.00035828448]]
    expect.close(weights[:, 0, 0], first, "the row of CLS in the first head", names="B T")
    second = [[0, 0.0038669142, 0.0038669142, 0.9922661, 0]]
    second += [[0, 0.9995931, 1.573791e-6, 1.573791e-6, 0.00040384146]]
    expect.close(weights[:, 1, 0], second, "the row of CLS in the second head", names="B T")
    expect.close(
        weights, walkthrough("attention_weights"), "the matrix of weights", names="B H T T"
    )


@pytest.mark.criterion(points=0.5, source="walkthrough, attention, step 2")
def test_walkthrough_values(component, expect):
    """with an identity output projection, the output is the heads' results side by side

    The first head's value for CLS is nearly the same in both sequences.
    """
    attention = walkthrough_attention(component, out_proj_weight=torch.eye(2))
    output = attention(walkthrough("x"), walkthrough("mask")).tensors("output", "weights")[0]
    what = "the output with the identity as output projection"
    expect.close(output, walkthrough("attention_values"), what, scale=2, names="B T D")


@pytest.mark.criterion(points=0.5, source="walkthrough, attention, step 3")
def test_walkthrough_output(component, expect):
    """the output is the walkthrough's, in evaluation and in training: attention has no dropout"""
    attention = walkthrough_attention(component)
    for on, what in ((False, "the output"), (True, "the output in training")):
        answer = attention.train(on)(walkthrough("x"), walkthrough("mask"))
        output = answer.tensors("output", "weights")[0]
        expect.close(output, walkthrough("attention_output"), what, scale=2, names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 4")
def test_scale(component, expect):
    """the scores are divided by the square root of D / H, not of D

    Queries and keys are x itself. Each of the two heads sees four ones, so the scores of the first
    token are 4 / sqrt(4) = 2 and 0. The module is called again after one with eight heads was made.
    """
    state = {f"{layer}.weight": torch.eye(8) for layer in LAYERS}
    attention, other = (
        component.build("MultiHeadAttention", 8, heads, bias=False).load(state).train(False)
        for heads in (2, 8)
    )
    x, right = torch.tensor([[[1.0] * 8, [0.0] * 8]]), [[0.8807971, 0.1192029], [0.5, 0.5]]
    for what in ("", ", after another module was made,"):
        weights = attention(x).tensors("output", "weights")[1]
        expect.close(weights, [[right] * 2], f"the matrix of weights{what}", names="B H T T")
        expect.that(other(x))


@pytest.mark.criterion(points=1, source="session, knowledge point 4", examples=2)
@given(seed=SEEDS, heads=SMALL, size=SMALL, head=st.integers(0, 1))
def test_features_of_a_head(component, expect, make, seed, heads, size, head):
    """head h owns the features h·D/H to (h+1)·D/H - 1 of every projection

    The rows of q_linear are 0 for one head, so only this head gives all four tokens equal weights.
    """
    state = drawn_state(make, heads * size, seed)
    for name in ("q_linear.weight", "q_linear.bias"):
        state[name][head * size : (head + 1) * size] = 0
    attention = component.build("MultiHeadAttention", heads * size, heads).load(state).train(False)
    weights = attention(make.normal(2, 4, heads * size, seed=seed)).tensors("output", "weights")[1]
    expect.shape(weights, (2, heads, 4, 4), "the matrix of weights", names="B H T T")
    alike = torch.full((2, 4, 4), 0.25)
    expect.close(
        weights[:, head], alike, "the weights of the head whose q_linear is 0", names="B T T"
    )
    spread = float((weights[:, 1 - head] - 0.25).abs().max())
    expect.that(
        spread > 1e-4,
        "zeroing the queries of one head made the weights of another head uniform, too",
    )


@pytest.mark.criterion(points=0.5, source="slides, page 15; session, knowledge point 4", examples=2)
@given(seed=SEEDS, heads=SMALL, size=SMALL)
def test_sum_over_heads(component, expect, make, seed, heads, size):
    """the output is the bias plus a sum over the heads, each times its own columns of out_proj

    Page 15 adds the heads to the stream; the session concatenates them and multiplies by out_proj.
    """
    features = heads * size
    state = drawn_state(make, features, seed)
    x = make.normal(2, 4, features, seed=seed + 1)
    q, k, v = (x @ state[f"{one}.weight"].T + state[f"{one}.bias"] for one in LAYERS[:3])
    right = state["out_proj.bias"].expand(2, 4, features)
    for head in range(heads):
        own = slice(head * size, (head + 1) * size)
        weights = (q[..., own] @ k[..., own].transpose(1, 2) / size**0.5).softmax(-1)
        right = right + weights @ v[..., own] @ state["out_proj.weight"][:, own].T
    output = drawn_attention(component, make, features, heads, seed)(x).tensors("output", "weights")
    expect.close(output[0], right, "the output", scale=10, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 4", examples=2)
@given(seed=SEEDS, order=st.permutations(range(4)))
def test_order_of_tokens(component, expect, make, seed, order):
    """permuting the tokens permutes the outputs in the same way"""
    x = make.normal(2, 4, 6, seed=seed)
    attention = drawn_attention(component, make, 6, 3, seed)
    output = expect.shape(
        attention(x).tensors("output", "weights")[0], x.shape, "the output", names="B T D"
    )
    shuffled = attention(x[:, order]).tensors("output", "weights")[0]
    expect.close(
        shuffled, output[:, order], "the output for the shuffled tokens", scale=5, names="B T D"
    )


@pytest.mark.criterion(points=0.5, source="session, knowledge point 4", examples=2)
@given(seed=SEEDS, heads=st.integers(1, 3), length=st.integers(1, 5), masked=st.booleans())
def test_rows_sum_to_one(component, expect, make, seed, heads, length, masked):
    """in every head, the weights of a query sum to 1, with and without a mask"""
    mask = make.mask(length, length, seed=seed) if masked else None
    attention = drawn_attention(component, make, 6, heads, seed)
    weights = attention(make.normal(2, length, 6, seed=seed), mask).tensors("output", "weights")[1]
    expect.shape(weights, (2, heads, length, length), "the matrix of weights", names="B H T T")
    expect.close(
        weights.sum(-1), torch.ones(2, heads, length), "the sum of a query's weights", names="B H T"
    )


@pytest.mark.criterion(points=1, source="walkthrough, attention, step 1", examples=2)
@given(seed=SEEDS, heads=SMALL, batch=SMALL, length=SMALL)
def test_mask_of_each_sequence(component, expect, make, seed, heads, batch, length):
    """a (B, T, T) mask is applied per sequence, in every head

    B, H and T may be equal; the mask must be broadcast in the same way then.
    """
    mask = make.mask(batch, length, length, seed=seed)
    attention = drawn_attention(component, make, heads * 2, heads, seed)
    x, shape = make.normal(batch, length, heads * 2, seed=seed), (batch, heads, length, length)
    for on, mode in ((True, "training"), (False, "evaluation")):
        weights = attention.train(on)(x, mask).tensors("output", "weights")[1]
        expect.shape(weights, shape, "the matrix of weights", names="B H T T")
        masks = mask.unsqueeze(1).expand(weights.shape)
        masked, zeros = weights.masked_fill(masks, 0.0), torch.zeros_like(weights)
        what = f"the masked part of the weights in {mode}"
        expect.equal(masked, zeros, what, names="B H T T")
        expect.that(
            bool((weights[masks] > 0).all()), f"the weight of an allowed key is 0 in {mode}"
        )


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 4", examples=2)
@given(seed=SEEDS, heads=SMALL, batch=SMALL, length=SMALL)
def test_one_mask_for_all(component, expect, make, seed, heads, batch, length):
    """a (T, T) mask applies to every sequence and head, like one repeated to (B, T, T)"""
    x, mask = make.normal(batch, length, heads * 2, seed=seed), make.mask(length, length, seed=seed)
    attention = drawn_attention(component, make, heads * 2, heads, seed)
    output, weights = attention(x, mask.expand(batch, length, length)).tensors("output", "weights")
    expect.shape(output, x.shape, "the output with a mask (B, T, T)", names="B T D")
    expect.shape(
        weights,
        (batch, heads, length, length),
        "the matrix of weights with a mask (B, T, T)",
        names="B H T T",
    )
    shared = attention(x, mask).tensors("output", "weights")
    expect.close(shared[0], output, "the output with a mask (T, T)", names="B T D")
    expect.close(shared[1], weights, "the matrix of weights with a mask (T, T)", names="B H T T")


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 3", examples=2)
@given(seed=SEEDS, length=st.integers(2, 5))
def test_no_look_ahead(component, expect, make, seed, length):
    """with a causal mask, changing the last token leaves the earlier outputs unchanged"""
    x = make.normal(2, length, 6, seed=seed)
    changed = torch.cat([x[:, :-1], make.normal(2, 1, 6, seed=seed + 1)], dim=1)
    attention = drawn_attention(component, make, 6, 2, seed)
    mask = torch.ones(length, length, dtype=torch.bool).tril()
    before = expect.shape(
        attention(x, mask).tensors("output", "weights")[0], x.shape, "the output", names="B T D"
    )
    after = expect.shape(
        attention(changed, mask).tensors("output", "weights")[0],
        x.shape,
        "the output",
        names="B T D",
    )
    expect.close(after[:, :-1], before[:, :-1], "the output of the earlier tokens", names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 4")
def test_mask_beats_every_score(component, expect):
    """a masked weight is 0, even if all allowed keys have much lower scores

    The last token scores -42426 with both allowed keys and 1273 with itself. A finite number in
    place of the masked score would work for smaller scores only. The tolerance allows for rounding.
    """
    state = {f"{layer}.weight": torch.eye(2) for layer in LAYERS}
    state["q_linear.weight"] = torch.eye(2) * 100
    attention = component.build("MultiHeadAttention", 2, 1, bias=False).load(state).train(False)
    # The last token's query is 100 times its features, and it may not attend to itself.
    x = torch.tensor([[[-100.0] * 2, [-100.0] * 2, [3.0] * 2]])
    mask = torch.tensor([[True, True, False]]).expand(3, 3)
    weights = attention(x, mask).tensors("output", "weights")[1]
    expect.shape(weights, (1, 1, 3, 3), "the matrix of weights", names="B H T T")
    right = torch.tensor([0.5, 0.5, 0.0]).expand(1, 1, 3)
    expect.close(weights[:, :, 2], right, "the row of the last token", names="B H T", scale=100)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_called_again(component, expect, make):
    """one module gives right results for inputs of different sizes, one call after another"""
    own, names = drawn_attention(component, make, 4, 2, 1), ("output", "weights")
    sizes = ((2, 3, True), (2, 3, False), (3, 4, True), (1, 3, True), (1, 1, True))
    for seed, (batch, length, masked) in enumerate(sizes):
        x = make.normal(batch, length, 4, seed=seed)
        mask = torch.ones(length, length, dtype=torch.bool).tril() if masked else None
        right = drawn_attention(component, make, 4, 2, 1)(x, mask).tensors(*names)
        expect.shape(right[0], x.shape, "the output", names="B T D")
        shape = (batch, 2, length, length)
        expect.shape(right[1], shape, "the matrix of weights", names="B H T T")
        again = own(x, mask).tensors(*names)
        # NaN under a mask is the subject of another check.
        for number, name in enumerate(names):
            found, fresh = again[number].nan_to_num(), right[number].nan_to_num()
            expect.close(found, fresh, f"the {name} of a module that was called before", scale=2)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_dtypes(component, expect, make):
    """output and weights have the input's dtype: float32, float64 or bfloat16"""
    x, mask = make.normal(2, 3, 4, seed=1), make.mask(2, 3, 3, seed=2)
    attention, names = drawn_attention(component, make, 4, 2, 3), ("output", "weights")
    plain = attention(x, mask).tensors(*names)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        same = x.to(dtype)
        found = attention.to(dtype)(same, mask).tensors(*names)
        for name, answer, right in zip(names, found, plain, strict=True):
            what = f"the {name} for {dtype}"
            expect.dtype(answer, dtype, what)
            # NaN under a mask is the subject of another check.
            expect.close(answer.nan_to_num(), right.nan_to_num(), what, like=same, scale=2)


@pytest.mark.criterion(points=0.5, source="handout")
def test_gradients_flow(component, expect, make):
    """gradients flow from the output to the input and to all four projections

    They must predict the effect of a small step in a random direction.
    """
    x, cotangent = (make.normal(2, 3, 4, seed=seed, dtype=torch.float64) for seed in (1, 2))
    state = {key: value.to(torch.float64) for key, value in drawn_state(make, 4, 4).items()}
    attention = component.build("MultiHeadAttention", 4, 2).to(torch.float64).train(False)

    def gradients():
        answer = attention.load(state).asking(cotangent=cotangent)(x)
        return {"x": answer.gradients[0]} | answer.parameter_gradients

    def output(tensors):
        loaded = attention.load({name: tensors[name] for name in state})
        return loaded(tensors["x"]).tensors("output", "weights")[0]

    expect_slope(expect, make, gradients, output, {"x": x} | state, cotangent)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_non_contiguous(component, expect, make):
    """a transposed, strided or expanded input gives the same result as a contiguous one"""
    x, attention = make.normal(3, 6, 4, seed=1), drawn_attention(component, make, 4, 2, 2)
    for view in (x.transpose(0, 1), x[:, ::2], x[:1].expand(2, 6, 4)):
        right = attention(view.contiguous()).tensors("output", "weights")[0]
        found = attention(view).tensors("output", "weights")[0]
        expect.close(found, right, "the output", scale=2, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_inputs_untouched(component, expect, make):
    """the input and the mask are not modified"""
    x = make.normal(2, 3, 4, seed=1)
    for mask in (make.mask(3, 3, seed=2), make.mask(2, 3, 3, seed=2)):
        expect.unchanged(
            component.build("MultiHeadAttention", 4, 2).asking(keep_inputs=True)(x, mask), x, mask
        )


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_device(component, expect):
    """results are on the input's device (no hard-coded device)"""
    x = torch.empty(2, 3, 4, device="meta")
    mask = torch.empty(2, 3, 3, dtype=torch.bool, device="meta")
    attention = component.build("MultiHeadAttention", 4, 2).to(device="meta")
    expect.follows_device(attention(x, mask))
