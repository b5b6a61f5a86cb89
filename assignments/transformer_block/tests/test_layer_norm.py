"""Public checks of layer_norm.py. Source of the numbers: slides, pages 4 to 8."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
LEADING = st.lists(st.integers(1, 4), max_size=3)
FEATURES = st.integers(4, 9)

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


@pytest.mark.criterion(points=1, source="slides, page 8")
def test_worked_example(component, expect):
    """layer_norm turns [2, 4, 6, 8] into [-1.34, -0.45, 0.45, 1.34]

    The page puts eps inside the root and then divides by sqrt(5) alone; the numbers here keep
    eps. The two differ by 1.3e-6.
    """
    answer = component.call("layer_norm", torch.tensor([2.0, 4.0, 6.0, 8.0]))
    expect.close(answer.output, [-1.3416394, -0.4472131, 0.4472131, 1.3416394], names="D")


@pytest.mark.criterion(points=1, source="slides, page 8")
def test_population_variance(component, expect):
    """the variance is the mean of the squared deviations: the divisor is D, not D - 1"""
    # Two features: n - 1 would shrink the result by sqrt(2).
    answer = component.call("layer_norm", torch.tensor([[1.0, 3.0], [-5.0, 5.0]]), eps=0.0)
    expect.close(answer.output, [[-1.0, 1.0], [-1.0, 1.0]], names="... D")


@pytest.mark.criterion(points=1, source="slides, page 8")
def test_eps_inside_the_root(component, expect):
    """eps is added to the variance, inside the square root"""
    # The deviations are -1 and 1, so the answer is 1 / sqrt(1 + 3) with eps = 3.
    answer = component.call("layer_norm", torch.tensor([4.0, 6.0]), eps=3.0)
    expect.close(answer.output, [-0.5, 0.5], names="D")


@pytest.mark.criterion(points=1, source="slides, page 8", examples=2)
@given(seed=SEEDS, leading=LEADING, features=FEATURES)
def test_mean_and_variance(component, expect, make, seed, leading, features):
    """every feature vector of the result has mean 0 and variance 1"""
    x = make.normal(*leading, features, seed=seed, mean=2.0, deviation=3.0)
    # One value is far from the others and must stay so (nothing is clipped).
    far = torch.zeros(1, 401)
    far[0, seed % 401] = 1000.0
    for values in (x, far):
        answer = component.call("layer_norm", values, eps=0.0)
        result = expect.shape(answer.output, values.shape, names="... D")
        right = torch.zeros(values.shape[:-1])
        expect.close(result.mean(-1), right, "the mean of the result", names="...")
        variance, what = result.var(-1, correction=0), "the variance of the result"
        expect.close(variance, right + 1, what, scale=5, names="...")


@pytest.mark.criterion(points=1, form=True, source="slides, page 8", examples=2)
@given(seed=SEEDS, shift=st.integers(-8, 8), factor=st.sampled_from([0.5, 2.0, 4.0]))
def test_shift_and_scale(component, expect, make, seed, shift, factor):
    """shifting x, or scaling it by a positive factor, does not change the result (eps=0)"""
    x = make.normal(3, 6, seed=seed)
    plain = component.call("layer_norm", x, eps=0.0).output
    moved = component.call("layer_norm", x * factor + shift, eps=0.0).output
    expect.close(
        moved, plain, "the result for the shifted and scaled input", scale=5, names="... D"
    )


@pytest.mark.criterion(points=1, form=True, source="handout")
def test_parameters(component, expect):
    """LayerNorm's state_dict holds a weight of ones, a bias of zeros and nothing else"""
    state = component.build("LayerNorm", 5).state()
    expect.keys(
        list(state.entries),
        ["weight", "bias"],
        "the keys of the state_dict",
        learned=state.parameters,
    )
    expect.keys(
        list(state.parameters), ["weight", "bias"], "the parameters", learned=state.parameters
    )
    expect.close(state.entries["weight"], torch.ones(5), "weight", names="D")
    expect.close(state.entries["bias"], torch.zeros(5), "bias", names="D")


@pytest.mark.criterion(points=1, source="handout")
def test_scale_and_shift(component, expect):
    """LayerNorm multiplies by the weight, then adds the bias, feature by feature"""
    weight, bias = torch.tensor([1.0, 2.0, 3.0, -1.0]), torch.tensor([0.0, 10.0, 0.0, 1.0])
    norm = component.build("LayerNorm", 4).load({"weight": weight, "bias": bias})
    x = torch.tensor([[[2.0, 4.0, 6.0, 8.0]]])
    right = [[[-1.3416394, 9.1055738, 1.3416394, -0.3416394]]]
    expect.close(norm(x).output, right, names="B T D")
    # Evaluation mode gives the same result, and no statistics of earlier calls are used.
    answer = norm.train(False)(x + 10)
    expect.close(answer.output, right, "the result in evaluation", names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 8")
def test_default_eps(component, expect):
    """the default of eps is 1e-5

    The variance is 1e-4, so the answer is 0.01 / sqrt(1e-4 + 1e-5).
    """
    x, right = torch.tensor([[[0.0, 0.02]]]), [[[-0.9534626, 0.9534626]]]
    expect.close(component.call("layer_norm", x).output, right, names="... D")
    answer = component.build("LayerNorm", 2)(x)
    expect.close(answer.output, right, "LayerNorm's result", names="... D")


@pytest.mark.criterion(points=0.5, source="slides, page 8")
def test_given_eps(component, expect):
    """LayerNorm uses the given eps, also if it is 0.0"""
    # As in the check of eps inside the root, but by the module.
    x, built = torch.tensor([[[4.0, 6.0]]]), component.build("LayerNorm", 2, 3.0)
    expect.close(built(x).output, [[[-0.5, 0.5]]], names="... D")
    # As in the check of the default, where 1e-5 would show.
    answer = component.build("LayerNorm", 2, 0.0)(torch.tensor([[[0.0, 0.02]]]))
    expect.close(answer.output, [[[-1.0, 1.0]]], "the result with an eps of 0.0", names="... D")
    what = "the result of the first LayerNorm, after another was made,"
    expect.close(built(x).output, [[[-0.5, 0.5]]], what, names="... D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_constant_vector(component, expect):
    """a constant vector, or one with a single feature, becomes zeros, not NaN"""
    for features in (4, 1):
        answer = component.call("layer_norm", torch.full((1, 1, features), 3.0))
        expect.close(answer.output, torch.zeros(1, 1, features), names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_dtypes(component, expect):
    """the result has the input's dtype: float32, float64 or bfloat16"""
    x, norm = torch.tensor([[[2.0, 4.0, 6.0, 8.0]]]), component.build("LayerNorm", 4)
    plain = component.call("layer_norm", x).output, norm(x).output
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        same, what = x.to(dtype), f"for {dtype}"
        answer = component.call("layer_norm", same)
        expect.close(answer.output, plain[0], f"layer_norm {what}", like=same, names="B T D")
        answer = norm.to(dtype)(same)
        expect.close(answer.output, plain[1], f"LayerNorm {what}", like=same, names="B T D")


@pytest.mark.criterion(points=0.5, source="handout")
def test_gradients_flow(component, expect, make):
    """gradients reach the input, also through mean and variance, and weight and bias

    They must predict the effect of a small step in a random direction.
    """
    x, cotangent = (make.normal(2, 3, 6, seed=seed, dtype=torch.float64) for seed in (1, 2))
    asked = component.asking(cotangent=cotangent)
    expect_slope(
        expect,
        make,
        lambda: {"x": asked.call("layer_norm", x, 0.1).gradients[0]},
        lambda tensors: component.call("layer_norm", tensors["x"], 0.1).output,
        {"x": x},
        cotangent,
    )
    state = make.state({"weight": (6,), "bias": (6,)}, seed=4, dtype=torch.float64)
    norm = component.build("LayerNorm", 6).to(torch.float64)
    expect_slope(
        expect,
        make,
        lambda: norm.load(state).asking(cotangent=cotangent)(x).parameter_gradients,
        lambda tensors: norm.load(tensors)(x).output,
        state,
        cotangent,
    )


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_non_contiguous(component, expect, make):
    """a transposed, strided or expanded input gives the same result as a contiguous one"""
    x = make.normal(3, 6, 4, seed=1)
    for view in (x.transpose(1, 2), x[:, ::2], x[:1].expand(2, 6, 4)):
        right = component.call("layer_norm", view.contiguous()).output
        expect.close(component.call("layer_norm", view).output, right, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_input_untouched(component, expect, make):
    """the input tensor is not modified"""
    x = make.normal(2, 3, 4, seed=3)
    expect.unchanged(component.asking(keep_inputs=True).call("layer_norm", x), x)
    expect.unchanged(component.build("LayerNorm", 4).asking(keep_inputs=True)(x), x)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_device(component, expect):
    """results are on the input's device (no hard-coded device)"""
    x = torch.empty(2, 3, 4, device="meta")
    expect.follows_device(component.call("layer_norm", x))
    expect.follows_device(component.build("LayerNorm", 4).to(device="meta")(x))
