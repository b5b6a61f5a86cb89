"""Public checks of attention.py. The walkthrough's numbers are in walkthrough.json."""

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

WALKTHROUGH = json.loads((Path(__file__).parent / "walkthrough.json").read_text("utf-8"))
SEEDS = st.integers(0, 10_000)
LEADING = st.lists(st.integers(1, 3), max_size=2)
LENGTH = st.integers(1, 5)
KEYS = ("q_linear.weight", "k_linear.weight", "v_linear.weight")
BIASES = ("q_linear.bias", "k_linear.bias", "v_linear.bias")


def walkthrough(key):
    """Read one of the walkthrough's tables."""
    return torch.tensor(WALKTHROUGH[key])


def self_attention(component, make, features, seed):
    """Build SelfAttention with random parameters, in evaluation mode."""
    shapes = dict.fromkeys(KEYS, (features, features)) | dict.fromkeys(BIASES, (features,))
    built = component.build("SelfAttention", features).load(make.state(shapes, seed=seed))
    return built.train(False)


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


@pytest.mark.criterion(points=0.5, source="session, knowledge point 3")
def test_scale(component, expect):
    """the scores are divided by the square root of d_k

    The query fits the first key with a score of 4 / sqrt(4) = 2, the second with 0. With three
    features that is 3 / sqrt(3), which is no whole number.
    """
    query, key = torch.ones(1, 4), torch.tensor([[1.0] * 4, [0.0] * 4])
    value = torch.tensor([[1.0, 0.0], [0.0, 10.0]])
    answer = component.call("scaled_dot_product_attention", query, key, value)
    output, weights = answer.tensors("output", "weights")
    expect.close(weights, [[0.8807971, 0.1192029]], "the matrix of weights", names="Tq Tk")
    expect.close(output, [[0.8807971, 1.1920292]], "the output", names="Tq d_v")
    answer = component.call("scaled_dot_product_attention", query[:, :3], key[:, :3], value)
    what = "the matrix of weights with three features"
    expect.close(answer.tensors("output", "weights")[1], [[0.8496746, 0.1503254]], what)


@pytest.mark.criterion(points=0.5, source="walkthrough, attention, step 1")
def test_walkthrough_one_query(component, expect):
    """in "aac", the first head of CLS has the walkthrough's weights (masked ones exactly 0)"""
    query, key, value = (walkthrough(name)[0, 0] for name in ("query", "key", "value"))
    mask = walkthrough("mask")[0, :1]
    answer = component.call("scaled_dot_product_attention", query[:1], key, value, mask)
    weights = answer.tensors("output", "weights")[1]
    expect.close(
        weights,
        [[0.0, 0.4998208, 0.4998208, 0.00035828611, 0.0]],
        "the matrix of weights",
        names="Tq Tk",
    )
    what = "the masked part of the weights"
    expect.equal(weights.masked_fill(mask, 0.0), torch.zeros_like(weights), what, names="Tq Tk")


@pytest.mark.criterion(points=1, source="walkthrough, attention, steps 1 and 2")
def test_walkthrough_all_queries(component, expect):
    """weights and attention values are the walkthrough's, for both sequences and heads"""
    query, key, value = (walkthrough(name) for name in ("query", "key", "value"))
    mask = walkthrough("mask").unsqueeze(1)
    output, weights = component.call(
        "scaled_dot_product_attention", query, key, value, mask
    ).tensors("output", "weights")
    expect.close(
        weights, walkthrough("attention_weights"), "the matrix of weights", names="B H Tq Tk"
    )
    # The table puts the heads' values side by side: (2, 5, 2) instead of (2, 2, 5, 1).
    right = walkthrough("attention_values").transpose(1, 2).unsqueeze(-1)
    expect.close(output, right, "the output", names="B H Tq d_v")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 3", examples=2)
@given(seed=SEEDS, leading=LEADING, queries=LENGTH, keys=LENGTH, masked=st.booleans())
def test_rows_sum_to_one(component, expect, make, seed, leading, queries, keys, masked):
    """the weights of every query sum to 1, with and without a mask"""
    query = make.normal(*leading, queries, 3, seed=seed)
    key = make.normal(*leading, keys, 3, seed=seed + 1)
    value = make.normal(*leading, keys, 2, seed=seed + 2)
    mask = make.mask(queries, keys, seed=seed) if masked else None
    weights = component.call("scaled_dot_product_attention", query, key, value, mask).tensors(
        "output", "weights"
    )[1]
    expect.shape(weights, (*leading, queries, keys), "the matrix of weights", names="... Tq Tk")
    expect.close(
        weights.sum(-1),
        torch.ones(*leading, queries),
        "the sum of a query's weights",
        names="... Tq",
    )


@pytest.mark.criterion(points=0.5, source="walkthrough, attention, step 1", examples=2)
@given(seed=SEEDS, batch=st.integers(1, 3), queries=LENGTH, keys=LENGTH)
def test_masked_weights(component, expect, make, seed, batch, queries, keys):
    """a weight is exactly 0 if the mask is False and above 0 if the mask is True"""
    query = make.normal(batch, queries, 4, seed=seed)
    key, value = make.normal(batch, keys, 4, seed=seed + 1), make.normal(batch, keys, 2, seed=seed)
    mask = make.mask(batch, queries, keys, seed=seed)
    weights = component.call("scaled_dot_product_attention", query, key, value, mask).tensors(
        "output", "weights"
    )[1]
    expect.shape(weights, mask.shape, "the matrix of weights", names="B Tq Tk")
    what = "the masked part of the weights"
    expect.equal(weights.masked_fill(mask, 0.0), torch.zeros_like(weights), what, names="B Tq Tk")
    expect.that(not bool(weights.isnan().any()), "the weight of an allowed key is NaN")
    expect.that(bool((weights[mask] > 0).all()), "the weight of an allowed key is 0")


@pytest.mark.criterion(points=0.5, source="walkthrough, attention, step 1")
def test_mask_beats_every_score(component, expect):
    """a masked weight is 0, even if all allowed keys have much lower scores

    The allowed keys score -30000, the masked one 30000. A finite number in place of the masked
    score would work for smaller scores only. The tolerance allows for rounding at such scores.
    """
    query, key = torch.tensor([[100.0]]), torch.tensor([[-300.0], [-300.0], [300.0]])
    value, mask = torch.tensor([[2.0], [4.0], [50.0]]), torch.tensor([[True, True, False]])
    output, weights = component.call(
        "scaled_dot_product_attention", query, key, value, mask
    ).tensors("output", "weights")
    expect.close(weights, [[0.5, 0.5, 0.0]], "the matrix of weights", names="Tq Tk", scale=100)
    expect.close(output, [[3.0]], "the output", names="Tq d_v", scale=100)


@pytest.mark.criterion(points=0.5, source="session, knowledge point 3", examples=2)
@given(seed=SEEDS, chosen=st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_one_allowed_key(component, expect, make, seed, chosen):
    """if a query may attend to a single key, the output is that key's value"""
    query, key = make.normal(2, 3, 4, seed=seed), make.normal(2, 4, 4, seed=seed + 1)
    value = make.normal(2, 4, 5, seed=seed + 2)
    mask = torch.tensor(chosen).unsqueeze(-1) == torch.arange(4)
    output = component.call("scaled_dot_product_attention", query, key, value, mask).tensors(
        "output", "weights"
    )[0]
    expect.close(output, value[:, chosen], "the output", names="B Tq d_v")


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 3", examples=2)
@given(seed=SEEDS, order=st.permutations(range(5)))
def test_order_of_keys(component, expect, make, seed, order):
    """permuting keys and values permutes the weights and does not change the output"""
    query, key = make.normal(3, 4, seed=seed), make.normal(5, 4, seed=seed + 1)
    value = make.normal(5, 2, seed=seed + 2)
    output, weights = component.call("scaled_dot_product_attention", query, key, value).tensors(
        "output", "weights"
    )
    expect.shape(output, (3, 2), "the output", names="Tq d_v")
    expect.shape(weights, (3, 5), "the matrix of weights", names="Tq Tk")
    shuffled = component.call(
        "scaled_dot_product_attention", query, key[order], value[order]
    ).tensors("output", "weights")
    expect.close(shuffled[0], output, "the output for the shuffled keys", scale=5, names="Tq d_v")
    expect.close(
        shuffled[1],
        weights[:, order],
        "the matrix of weights for the shuffled keys",
        scale=5,
        names="Tq Tk",
    )


@pytest.mark.criterion(points=0.5, source="session, knowledge point 3")
def test_causal_mask(component, expect):
    """causal_mask lets every position attend to itself and to earlier positions"""
    right = torch.tensor(
        [
            [True, False, False, False],
            [True, True, False, False],
            [True, True, True, False],
            [True, True, True, True],
        ]
    )
    expect.equal(component.call("causal_mask", 4).output, right, "the mask", names="T T")
    expect.equal(
        component.call("causal_mask", 1).output, torch.tensor([[True]]), "the mask", names="T T"
    )


@pytest.mark.criterion(points=0.5, source="handout")
def test_padding_mask(component, expect):
    """padding_mask is False in the columns of padding keys, separately for each sequence"""
    ids = torch.tensor([[5, 6, 9, 9], [7, 0, 8, 9]])
    mask = component.call("padding_mask", ids, 9).output
    expect.shape(mask, (2, 4, 4), "the mask", names="B T T")
    # The rows of padding queries are not checked.
    first, second = (
        torch.tensor([True, True, False, False]),
        torch.tensor([True, True, True, False]),
    )
    what = "in the padding mask of the {} sequence, what its tokens may attend to"
    expect.equal(mask[0, :2], first.expand(2, 4), what.format("first"), names="T T")
    expect.equal(mask[1, :3], second.expand(3, 4), what.format("second"), names="T T")


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 3")
def test_session_shapes(component, expect, make):
    """SelfAttention(64) maps (2, 5, 64) to an output (2, 5, 64) and weights (2, 5, 5)"""
    output, weights = component.build("SelfAttention", 64)(make.normal(2, 5, 64, seed=1)).tensors(
        "output", "weights"
    )
    expect.shape(output, (2, 5, 64), "the output", names="B T D")
    expect.shape(weights, (2, 5, 5), "the matrix of weights", names="B T T")


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 3")
def test_parameters(component, expect):
    """SelfAttention has three (D, D) projections, each with a bias unless bias=False"""
    state = component.build("SelfAttention", 3).state()
    expect.keys(
        list(state.entries), KEYS + BIASES, "the keys of the state_dict", learned=state.parameters
    )
    expect.keys(list(state.parameters), KEYS + BIASES, "the parameters", learned=state.parameters)
    for name in KEYS:
        expect.shape(state.entries[name], (3, 3), name, names="D D")
    bare = component.build("SelfAttention", 3, bias=False).state()
    expect.keys(
        list(bare.entries),
        KEYS,
        "the keys of the state_dict with bias=False",
        learned=bare.parameters,
    )


@pytest.mark.criterion(points=0.5, source="session, knowledge point 3")
def test_self_attention_by_hand(component, expect):
    """SelfAttention projects x three times, divides by sqrt(d_model) and applies the mask

    Queries are half of x, keys hold twice its second feature four times, and values are x times
    1, 2, 3, 4. The scores of the first token are 4 / sqrt(4) = 2 and 0, those of the second
    1 / sqrt(4) = 0.5 and 0. The module is called in both modes, with two masks and without a mask,
    and a second module is called in between.
    """
    state = {"v_linear.weight": torch.diag(torch.tensor([1.0, 2.0, 3.0, 4.0]))}
    state |= {"q_linear.weight": torch.eye(4) / 2, "k_linear.weight": torch.zeros(4, 4)}
    state["k_linear.weight"][:, 1] = 2
    attention = component.build("SelfAttention", 4, bias=False).load(state)
    other = component.build("SelfAttention", 2, bias=False).load(dict.fromkeys(KEYS, torch.eye(2)))
    x = torch.tensor([[[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0]]])
    both = ([0.8807971, 0.1192029], [1.0, 1.7615942, 2.6423912, 3.5231883])
    both_of_second = ([0.6224593, 0.3775407], [1.0, 1.2449187, 1.8673780, 2.4898373])
    first, second = ([1.0, 0.0], [1.0, 2.0, 3.0, 4.0]), ([0.0, 1.0], [1.0, 0.0, 0.0, 0.0])
    upper, lower = (
        torch.tensor([[True, True], [False, True]]),
        torch.tensor([[True, False], [True] * 2]),
    )
    for on, mask, right, kind in (
        (True, upper, (both, second), "a mask, in training"),
        (False, lower, (first, both_of_second), "another mask, in evaluation"),
        (True, None, (both, both_of_second), "no mask, in training"),
    ):
        output, weights = attention.train(on)(x, mask).tensors("output", "weights")
        rows, mixed = zip(*right, strict=True)
        expect.close(weights, [list(rows)], f"the matrix of weights with {kind},", names="B T T")
        expect.close(output, [list(mixed)], f"the output with {kind},", names="B T D")
        expect.that(other(torch.ones(1, 1, 2)))


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 3", examples=2)
@given(seed=SEEDS, length=st.integers(2, 5))
def test_no_look_ahead(component, expect, make, seed, length):
    """with a causal mask, changing the last token leaves SelfAttention's earlier outputs alone"""
    x = make.normal(2, length, 4, seed=seed)
    changed = torch.cat([x[:, :-1], make.normal(2, 1, 4, seed=seed + 1)], dim=1)
    attention = self_attention(component, make, 4, seed)
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


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 3", examples=2)
@given(seed=SEEDS, batch=st.integers(1, 3), length=LENGTH)
def test_one_mask_for_all(component, expect, make, seed, batch, length):
    """a (T, T) mask applies to every sequence, like the same mask repeated to (B, T, T)"""
    x, mask = make.normal(batch, length, 4, seed=seed), make.mask(length, length, seed=seed)
    attention = self_attention(component, make, 4, seed)
    output, weights = attention(x, mask.expand(batch, length, length)).tensors("output", "weights")
    expect.shape(output, x.shape, "the output with a mask (B, T, T)", names="B T D")
    expect.shape(
        weights,
        (batch, length, length),
        "the matrix of weights with a mask (B, T, T)",
        names="B T T",
    )
    shared = attention(x, mask).tensors("output", "weights")
    expect.close(shared[0], output, "the output with a mask (T, T)", names="B T D")
    expect.close(shared[1], weights, "the matrix of weights with a mask (T, T)", names="B T T")


@pytest.mark.criterion(points=0.5, source="handout")
def test_large_scores(component, expect):
    """large scores give correct weights, not NaN

    The scores are 3600, 3600 and 0: e to the power of 3600 overflows in every dtype. Those of
    the second query are -3600, -3600 and 0. The tolerance allows for rounding at such scores.
    """
    query, key = torch.tensor([[60.0], [-60.0]]), torch.tensor([[60.0], [60.0], [0.0]])
    value = torch.tensor([[2.0], [4.0], [50.0]])
    output, weights = component.call("scaled_dot_product_attention", query, key, value).tensors(
        "output", "weights"
    )
    right = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    expect.close(weights, right, "the matrix of weights", names="Tq Tk", scale=100)
    expect.close(output, [[3.0], [50.0]], "the output", names="Tq d_v", scale=100)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_dtypes(component, expect, make):
    """output and weights have the input's dtype: float32, float64 or bfloat16"""
    x, mask = make.normal(2, 3, 4, seed=1), make.mask(2, 3, 3, seed=2)
    attention = self_attention(component, make, 4, 3)
    names = ("output", "weights")
    plain = component.call("scaled_dot_product_attention", x, x, x, mask).tensors(*names)
    plain += attention(x, mask).tensors(*names)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        same = x.to(dtype)
        found = component.call("scaled_dot_product_attention", same, same, same, mask)
        of_function = found.tensors(*names)
        for number, answer in enumerate(of_function):
            what = f"the attention's {names[number]} for {dtype}"
            expect.dtype(answer, dtype, what)
            # NaN under a mask is the subject of another check.
            right = plain[number].nan_to_num()
            expect.close(answer.nan_to_num(), right, what, like=same, scale=2)
        found = attention.to(dtype)(same, mask).tensors(*names)
        for number, answer in enumerate(found):
            what = f"SelfAttention's {names[number]} for {dtype}"
            expect.dtype(answer, dtype, what)
            right = plain[2 + number].nan_to_num()
            expect.close(answer.nan_to_num(), right, what, like=same, scale=2)


@pytest.mark.criterion(points=0.5, source="handout")
def test_gradients_flow(component, expect, make):
    """gradients flow from the output to query, key, value and every projection

    They must predict the effect of a small step in a random direction.
    """
    names, mask = ("query", "key", "value"), make.mask(2, 3, 3, seed=1)
    inputs = make.state(dict.fromkeys(names, (2, 3, 4)), seed=2, dtype=torch.float64, deviation=1.0)
    cotangent = make.normal(2, 3, 4, seed=5, dtype=torch.float64)
    asked, attend = component.asking(cotangent=cotangent), "scaled_dot_product_attention"

    def output(answer):
        return answer.tensors("output", "weights")[0]

    expect_slope(
        expect,
        make,
        lambda: dict(
            zip(names, asked.call(attend, *inputs.values(), mask).gradients, strict=False)
        ),
        lambda tensors: output(component.call(attend, *tensors.values(), mask)),
        inputs,
        cotangent,
    )
    x = inputs["query"]
    shapes = dict.fromkeys(KEYS, (4, 4)) | dict.fromkeys(BIASES, (4,))
    state = make.state(shapes, seed=6, dtype=torch.float64)
    attention = component.build("SelfAttention", 4).to(torch.float64).train(False)
    expect_slope(
        expect,
        make,
        lambda: attention.load(state).asking(cotangent=cotangent)(x, mask).parameter_gradients,
        lambda tensors: output(attention.load(tensors)(x, mask)),
        state,
        cotangent,
    )


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_non_contiguous(component, expect, make):
    """transposed, strided and expanded inputs give the same result as contiguous ones"""
    names = ("output", "weights")
    query, key = make.normal(3, 4, 2, seed=1).transpose(1, 2), make.normal(3, 10, 4, seed=2)[:, ::2]
    value = make.normal(1, 5, 6, seed=3).expand(3, 5, 6)
    views = (query, key, value, make.mask(5, 2, seed=4).T | torch.eye(2, 5, dtype=torch.bool))
    plain = [view.contiguous() for view in views]
    right = component.call("scaled_dot_product_attention", *plain).tensors(*names)
    found = component.call("scaled_dot_product_attention", *views).tensors(*names)
    expect.shape(found[0], (3, 2, 6), "the output", names="B Tq d_v")
    expect.shape(found[1], (3, 2, 5), "the matrix of weights", names="B Tq Tk")
    for name, mine, theirs in zip(names, found, right, strict=True):
        # NaN under a mask is the subject of another check.
        expect.close(mine.nan_to_num(), theirs.nan_to_num(), f"the {name}", scale=2)
    x, attention = (
        make.normal(5, 2, 6, seed=5).transpose(0, 1),
        self_attention(component, make, 6, 6),
    )
    right = attention(x.contiguous()).tensors(*names)[0]
    expect.close(attention(x).tensors(*names)[0], right, "SelfAttention's output", names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_inputs_untouched(component, expect, make):
    """query, key, value, mask, token ids and x are not modified"""
    query, key, value = (make.normal(2, 3, 4, seed=seed) for seed in (1, 2, 3))
    mask = make.mask(2, 3, 3, seed=2)
    answer = component.asking(keep_inputs=True).call(
        "scaled_dot_product_attention", query, key, value, mask
    )
    expect.unchanged(answer, query, key, value, mask)
    expect.unchanged(
        component.build("SelfAttention", 4).asking(keep_inputs=True)(query, mask), query, mask
    )
    ids = make.integers(2, 3, seed=3, below=3)
    expect.unchanged(component.asking(keep_inputs=True).call("padding_mask", ids, 2), ids)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_device(component, expect):
    """results are on the input's device (no hard-coded device)"""
    x = torch.empty(2, 3, 4, device="meta")
    mask = torch.empty(2, 3, 3, dtype=torch.bool, device="meta")
    expect.follows_device(component.call("scaled_dot_product_attention", x, x, x, mask))
    expect.follows_device(component.build("SelfAttention", 4).to(device="meta")(x, mask))
    ids = torch.empty(2, 3, dtype=torch.int64, device="meta")
    expect.follows_device(component.call("padding_mask", ids, 0))
