"""Public checks of relative_positions.py."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
ATTEND = "relative_attention"
PAIR = ("output", "weights")
SLOPE = (
    "the gradients do not match how the output changes after a small step: look for .detach(), "
    ".data, .item(), numpy, no_grad or random numbers in the computation"
)


def table(component, weight):
    """Build RelativePositionBias with this table (2 * max_distance + 1, H)."""
    rows, heads = weight.shape
    return component.build("RelativePositionBias", heads, rows // 2).load({"weight": weight})


@pytest.mark.criterion(points=0.5, source="slides, page 27")
def test_distances(component, expect):
    """relative_distances(5, 2) is the handout's table: j - i, clipped to -2 ... 2"""
    right = [
        [0, 1, 2, 2, 2],
        [-1, 0, 1, 2, 2],
        [-2, -1, 0, 1, 2],
        [-2, -2, -1, 0, 1],
        [-2, -2, -2, -1, 0],
    ]
    distances = component.call("relative_distances", 5, 2).output
    expect.close(distances, right, "the table of distances", names="T T")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_whole_numbers(component, expect):
    """relative_distances returns int64"""
    for length in (1, 4):
        distances = component.call("relative_distances", length, 3).output
        expect.shape(distances, (length, length), "the table of distances", names="T T")
        fact = f"the table of distances has dtype {distances.dtype}, expected torch.int64"
        hint = "torch.arange makes int64 by itself; look at dtype=, .int(), .float() and .to(...)"
        expect.that(distances.dtype == torch.int64, fact, hint=hint)


@pytest.mark.criterion(points=1, source="slides, page 27")
def test_bias_by_hand(component, expect):
    """the handout's table for two heads gives the handout's biases for three tokens

    The same holds after another module, with other sizes, was made and called.
    """
    weight = torch.tensor([[0.1, -0.4], [0.2, -0.5], [0.3, -0.6]])
    right = [
        [[0.2, 0.3, 0.3], [0.1, 0.2, 0.3], [0.1, 0.1, 0.2]],
        [[-0.5, -0.6, -0.6], [-0.4, -0.5, -0.6], [-0.4, -0.4, -0.5]],
    ]
    module = table(component, weight)
    expect.close(module(3).output, right, "the bias", names="H T T")
    expect.that(table(component, torch.ones(7, 1))(4))
    what = "the bias of a second call, after a call of another module,"
    expect.close(module(3).output, right, what, names="H T T")


@pytest.mark.criterion(points=0.5, form=True, source="slides, page 27")
def test_parameters(component, expect):
    """the only parameter and state_dict entry is weight (2 * max_distance + 1, H)"""
    state = component.build("RelativePositionBias", 2, 3).state()
    expect.keys(
        list(state.entries), ["weight"], "the keys of the state_dict", learned=state.parameters
    )
    expect.keys(list(state.parameters), ["weight"], "the parameters", learned=state.parameters)
    names = "2*max_distance+1 H"
    expect.shape(state.parameters["weight"], (7, 2), "weight", names=names)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_start(component, expect):
    """the initial numbers have mean 0 and standard deviation 0.02 and are independent"""
    weight = component.build("RelativePositionBias", 40, 127).state().entries.get("weight")
    expect.that(weight is not None, 'the state_dict has no "weight"')
    weight = expect.shape(weight, (255, 40), "weight", names="2*max_distance+1 H").double()
    # 10,200 numbers: the bounds are ten standard errors away and more.
    mean, deviation = float(weight.mean()), float(weight.std())
    expect.that(
        0.018 < deviation < 0.022,
        f"the standard deviation of weight is {deviation:.3g}, expected about 0.02",
    )
    expect.that(abs(mean) < 0.002, f"the mean of weight is {mean:.3g}, expected about 0")
    different = len(weight.unique(dim=0)) == 255 and len(weight.unique(dim=1).T) == 40
    expect.that(
        different, "some rows or columns of weight are equal, expected independent random numbers"
    )
    # The deviation of a row of 40 is off by 11 % or so, that of a column by 4 %.
    for dim, what in ((0, "columns"), (1, "rows")):
        size = weight.std(dim=dim)
        fact = f"some {what} of weight have far smaller or larger numbers than others"
        drawn = bool(((size > 0.005) & (size < 0.04)).all())
        expect.that(drawn, fact, hint="draw every number from the same distribution")


@pytest.mark.criterion(points=0.5, form=True, source="slides, page 27", examples=2)
@given(seed=SEEDS, heads=st.integers(1, 3), far=st.integers(1, 4), length=st.integers(2, 9))
def test_distance_alone_matters(component, expect, make, seed, heads, far, length):
    """the bias depends only on the distance between query and key

    Moving query and key by one position does not change the bias, and one more token does not
    change the bias of the earlier tokens.
    """
    module = table(component, make.normal(2 * far + 1, heads, seed=seed))
    bias = expect.shape(module(length).output, (heads, length, length), "the bias", names="H T T")
    moved = bias[:, 1:, 1:]
    expect.close(moved, bias[:, :-1, :-1], "the bias one position further on", names="H T T")
    longer = module(length + 1).output
    expect.shape(longer, (heads, length + 1, length + 1), "the bias", names="H T T")
    what = "the bias among the first tokens of a longer sequence"
    expect.close(longer[:, :length, :length], bias, what, names="H T T")


@pytest.mark.criterion(points=1, source="slides, page 27")
def test_bias_alone(component, expect):
    """if all scores are 0, the biases ln 1, ln 2, ln 3 give weights in the proportion 1 : 2 : 3"""
    zeros, value = torch.zeros(1, 1, 3, 2), torch.tensor([[[[12.0], [24.0], [48.0]]]])
    counts = torch.tensor([[[2.0, 3.0, 3.0], [1.0, 2.0, 3.0], [1.0, 1.0, 2.0]]])
    answer = component.call(ATTEND, zeros, zeros, value, counts.log())
    output, weights = answer.tensors(*PAIR)
    right = [[0.25, 0.375, 0.375], [1 / 6, 1 / 3, 0.5], [0.25, 0.25, 0.5]]
    expect.close(weights, [[right]], "the matrix of weights", names="B H T T")
    expect.close(output, [[[[30.0], [34.0], [33.0]]]], "the output", names="B H T d_v")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 3; slides, page 27")
def test_scale(component, expect):
    """the scores are divided by sqrt(d_k) before the bias is added

    The queries of either head fit the keys with scores of 4 / sqrt(4) = 2 and 0, and of 1 and 0.
    With the first head's bias they are 2 and 2, ln 3 and 0, with the second's 3 and 3, 0 and ln 3.
    """
    query = torch.tensor([[[[1.0] * 4, [0.5] * 4]] * 2])
    key = torch.tensor([[[[1.0] * 4, [0.0] * 4]] * 2])
    third = math.log(3)
    bias = torch.tensor([[[0.0, 2.0], [third - 1, 0.0]], [[1.0, 3.0], [-1.0, third]]])
    value = torch.tensor([[[[1.0], [3.0]]] * 2])
    weights = component.call(ATTEND, query, key, value, bias).tensors(*PAIR)[1]
    right = [[[[0.5, 0.5], [0.75, 0.25]], [[0.5, 0.5], [0.25, 0.75]]]]
    expect.close(weights, right, "the matrix of weights", names="B H T T")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 3", examples=2)
@given(seed=SEEDS, batch=st.integers(1, 3), heads=st.integers(1, 3), length=st.integers(3, 5))
def test_masked_weights(component, expect, make, seed, batch, heads, length):
    """weights are 0 where the mask is False and positive elsewhere; every row sums to 1"""
    query, key, value = (make.normal(batch, heads, length, 4, seed=seed + k) for k in range(3))
    bias = make.normal(heads, length, length, seed=seed + 3)
    for mask in (make.mask(batch, length, length, seed=seed), make.mask(length, length, seed=seed)):
        # Something is masked in every example.
        mask[..., 0, :] = torch.arange(length) == 1
        weights = component.call(ATTEND, query, key, value, bias, mask).tensors(*PAIR)[1]
        shape = (batch, heads, length, length)
        expect.shape(weights, shape, "the matrix of weights", names="B H T T")
        allowed = (mask if mask.dim() == 2 else mask.unsqueeze(1)).expand(shape)
        expect.that(bool((weights[~allowed] == 0).all()), "a masked weight is not exactly 0")
        expect.that(bool((weights[allowed] > 0).all()), "the weight of an allowed key is 0")
        sums = weights.sum(-1)
        expect.close(sums, torch.ones(shape[:3]), "the sum of a query's weights", names="B H T")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 3; slides, page 27")
def test_mask_beats_score_and_bias(component, expect):
    """a masked weight is 0, even if allowed keys have much lower scores and biases

    The allowed keys score -20000 with biases of -10000, the masked one 20000 with 10000. A finite
    number in place of the masked score would win. The tolerance allows for rounding.
    """
    query = torch.full((1, 1, 3, 1), 100.0)
    key = torch.tensor([[[[-200.0], [-200.0], [200.0]]]])
    value = torch.tensor([[[[2.0], [4.0], [50.0]]]])
    bias = torch.tensor([-1e4, -1e4, 1e4]).expand(1, 3, 3).contiguous()
    mask = torch.tensor([True, True, False]).expand(3, 3).contiguous()
    for given_mask in (mask, mask.unsqueeze(0)):
        answer = component.call(ATTEND, query, key, value, bias, given_mask)
        output, weights = answer.tensors(*PAIR)
        right = torch.tensor([0.5, 0.5, 0.0]).expand(1, 1, 3, 3)
        expect.close(weights, right, "the matrix of weights", names="B H T T", scale=100)
        expect.close(output, torch.full((1, 1, 3, 1), 3.0), "the output", scale=100)


@pytest.mark.criterion(points=0.5, source="handout")
def test_large_scores(component, expect):
    """large scores and biases give correct weights, not NaN

    The sums are 3600, 3600, 0, then the same from the bias alone, then -3600, -3600, -9000: exp of
    these numbers overflows or is 0. The tolerance allows for rounding.
    """
    query = torch.tensor([[[[60.0], [0.0], [-60.0]]]])
    key, value = torch.tensor([[[[60.0], [60.0], [0.0]]]]), torch.tensor([[[[2.0], [4.0], [50.0]]]])
    bias = torch.tensor([[[0.0, 0.0, 0.0], [3600.0, 3600.0, 0.0], [0.0, 0.0, -9000.0]]])
    output, weights = component.call(ATTEND, query, key, value, bias).tensors(*PAIR)
    right = torch.tensor([0.5, 0.5, 0.0]).expand(1, 1, 3, 3)
    expect.close(weights, right, "the matrix of weights", names="B H T T", scale=100)
    expect.close(output, torch.full((1, 1, 3, 1), 3.0), "the output", scale=100)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_dtypes(component, expect, make):
    """all results have the input's dtype: float32, float64 or bfloat16"""
    x, bias = make.normal(2, 2, 3, 4, seed=1), make.normal(2, 3, 3, seed=2)
    mask, weight = make.mask(2, 3, 3, seed=3), make.normal(5, 2, seed=4)
    module = table(component, weight)
    plain = component.call(ATTEND, x, x, x, bias, mask).tensors(*PAIR)
    found = module(4).output
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        same = x.to(dtype)
        answer = component.call(ATTEND, same, same, same, bias.to(dtype), mask).tensors(*PAIR)
        for name, mine, right in zip(PAIR, answer, plain, strict=True):
            what = f"the attention's {name} for {dtype}"
            expect.dtype(mine, dtype, what)
            # NaN under a mask is the subject of another check.
            mine, right = mine.nan_to_num(), right.nan_to_num()
            expect.close(mine, right, what, like=same, scale=2, names="B H T ...")
        mine = module.to(dtype)(4).output
        expect.close(mine, found, f"the bias for {dtype}", like=same, names="H T T")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_inputs_untouched(component, expect, make):
    """query, key, value, bias and mask are not modified"""
    query, key, value = (make.normal(2, 2, 3, 4, seed=seed) for seed in (1, 2, 3))
    bias = make.normal(2, 3, 3, seed=4)
    for mask in (make.mask(2, 3, 3, seed=5), make.mask(3, 3, seed=5)):
        inputs = (query, key, value, bias, mask)
        expect.unchanged(component.asking(keep_inputs=True).call(ATTEND, *inputs), *inputs)


@pytest.mark.criterion(points=0.5, source="handout")
def test_gradients_flow(component, expect, make):
    """gradients flow from the output to query, key, value and bias, and from the bias to weight

    The output's gradients must predict the effect of a small step in a random direction, for each
    of the four. The gradient of a number in weight is the sum over all pairs that use the number.
    """
    names, mask = ("query", "key", "value", "bias"), make.mask(2, 3, 3, seed=1)
    shapes = dict.fromkeys(names, (2, 2, 3, 4)) | {"bias": (2, 3, 3)}
    inputs = make.state(shapes, seed=2, dtype=torch.float64, deviation=1.0)
    steps = make.state(shapes, seed=3, dtype=torch.float64, deviation=0.004)
    cotangent = make.normal(2, 2, 3, 4, seed=4, dtype=torch.float64)
    answer = component.asking(cotangent=cotangent).call(ATTEND, *inputs.values(), mask)
    for name, gradient in zip(names, answer.gradients, strict=False):
        ends = []
        for side in (1, -1):
            moved = inputs | {name: inputs[name] + side * steps[name]}
            output = component.call(ATTEND, *moved.values(), mask).tensors(*PAIR)[0]
            ends.append((expect.shape(output, (2, 2, 3, 4), "the output") * cotangent).sum())
        what = f"the gradient of the {name}"
        if gradient is None:
            expect.close(None, inputs[name], what)
        slope = (expect.shape(gradient, inputs[name].shape, what) * steps[name]).sum() / 0.004
        change = (ends[0] - ends[1]) / 0.008
        said = f"the change that {what} predicts for a small step"
        expect.close(slope, change, said, scale=100, hint=SLOPE)
    cotangent = make.normal(2, 3, 3, seed=5, dtype=torch.float64)
    module = table(component, make.normal(3, 2, seed=6)).to(torch.float64)
    left, right = cotangent.tril(-1), cotangent.triu(1)
    sums = [part.sum(dim=(1, 2)) for part in (left, cotangent - left - right, right)]
    for mode in ("training", "evaluation"):
        answer = module.train(mode == "training").asking(cotangent=cotangent)(3)
        what, names = f"the gradient of weight in {mode} mode", "2*max_distance+1 H"
        found = answer.parameter_gradients.get("weight")
        expect.close(found, torch.stack(sums), what, scale=2, names=names)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_device(component, expect):
    """results are on the input's device (no hard-coded device)"""
    module = component.build("RelativePositionBias", 2, 3).to(device="meta")
    expect.follows_device(module(5), (2, 5, 5), names=("H T T",))
    x, bias = torch.empty(3, 2, 4, 6, device="meta"), torch.empty(2, 4, 4, device="meta")
    mask = torch.empty(3, 4, 4, dtype=torch.bool, device="meta")
    answer = component.call(ATTEND, x, x, x, bias, mask)
    shapes = ((3, 2, 4, 6), (3, 2, 4, 4))
    expect.follows_device(answer, *shapes, names=("B H T d_v", "B H T T"), called=PAIR)


@pytest.mark.criterion(points=0.5, source="session, knowledge point 3", examples=2)
@given(seed=SEEDS, size=st.sampled_from([2, 3]), length=st.sampled_from([3, 4]))
def test_as_many_heads_as_sequences(component, expect, make, seed, size, length):
    """a (B, T, T) mask is applied per sequence, also if B = H

    The queries and the bias are 0, so all allowed keys of a row have the same weight.
    """
    key, value = (make.normal(size, size, length, 4, seed=seed + number) for number in (1, 2))
    mask = make.mask(size, length, length, seed=seed)
    asked = (torch.zeros_like(key), key, value, torch.zeros(size, length, length), mask)
    output, weights = component.call(ATTEND, *asked).tensors(*PAIR)
    shares = mask / mask.sum(dim=-1, keepdim=True)
    right = shares[:, None].expand(size, size, length, length)
    expect.close(weights, right, "the matrix of weights", names="B H T T")
    expect.close(output, right @ value, "the output", names="B H T d_v")
