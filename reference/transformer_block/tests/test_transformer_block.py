"""Hidden checks of transformer_block.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
# B, T, F, then H with D / H. Few examples are drawn and the first takes the first of every list: a
# telling one. D is at least 6, since a norm of very few features magnifies every rounding.
SIZES = st.tuples(
    *(st.sampled_from(n) for n in ([2, 3, 1], [3, 4, 2, 1], [5, 8, 1])),
    st.sampled_from([(2, 3), (3, 2), (2, 4), (1, 6)]),
)
MASKS = st.sampled_from(["(B, T, T)", "(T, T)", "none"])
ACTIVATIONS = st.sampled_from(["relu", "gelu"])
NORMS = st.sampled_from(["pre", "post", "none"])
LAYERS = tuple(f"attention.{name}" for name in ("q_linear", "k_linear", "v_linear", "out_proj"))


def parameter_shapes(features, hidden, norm, bias=True):
    """Name the parameters of a block, with their shapes."""
    shapes = {f"{layer}.weight": (features, features) for layer in LAYERS}
    shapes["feed_forward.linear1.weight"] = (hidden, features)
    shapes["feed_forward.linear2.weight"] = (features, hidden)
    if bias:
        shapes |= {f"{layer}.bias": (features,) for layer in LAYERS}
        shapes["feed_forward.linear1.bias"] = (hidden,)
        shapes["feed_forward.linear2.bias"] = (features,)
    if norm != "none":
        for layer in ("norm1", "norm2"):
            shapes |= {f"{layer}.weight": (features,), f"{layer}.bias": (features,)}
    return shapes


def block(source, make, sizes, seed, dtype, dropout=0.0, **options):
    """Build TransformerBlock with drawn parameters; `options` are norm, activation and bias."""
    hidden, (heads, size) = sizes[2:]
    features, norm, bias = heads * size, options.get("norm", "pre"), options.get("bias", True)
    built = source.build("TransformerBlock", features, heads, hidden, dropout, **options)
    # Everything is rounded to bfloat16, so that every dtype holds the same numbers.
    state = make.state(
        parameter_shapes(features, hidden, norm, bias), seed=seed, dtype=torch.bfloat16
    )
    if norm != "none":
        # Around 1, as they are in a trained block.
        state |= {f"norm{i}.weight": state[f"norm{i}.weight"] + 1 for i in (1, 2)}
    return built.to(dtype).load(state)


def draw_input(make, sizes, seed):
    """Draw x (B, T, D) in numbers that every dtype holds exactly."""
    batch, length, _, (heads, size) = sizes
    return make.normal(batch, length, heads * size, seed=seed, dtype=torch.bfloat16)


def draw_mask(make, kind, batch, length, seed):
    """Draw a mask of this kind, or None."""
    if kind == "none":
        return None
    return make.mask(*([batch] if "B" in kind else []), length, length, seed=seed)


def sublayer_output(component, norm, options, **values):
    """Return what a block in training makes of zeros, when only these parameters are not 0.

    The result has 64 sequences of 4 tokens with 16 features: 4096 values.
    """
    state = {key: torch.zeros(shape) for key, shape in parameter_shapes(16, 1, norm).items()}
    state |= {key: torch.ones_like(state[key]) for key in state if key.startswith("norm")}
    state |= {f"norm{i}.bias": torch.zeros(16) for i in (1, 2) if norm != "none"}
    for key, value in values.items():
        name = key.replace("__", ".")
        state[name] = torch.full_like(state[name], value)
    built = component.build("TransformerBlock", 16, 1, 1, norm=norm, **options)
    return built.load(state).train().asking(seed=11)(torch.zeros(64, 4, 16)).output


def expect_dropped(expect, result, norm, dropout, what):
    """Expect about this share of values to be dropped, and the others to be scaled up for it."""
    result = expect.shape(result, (64, 4, 16), names="B T D")
    # The post norm makes what was kept positive and what was dropped negative.
    share = float((result < (0.0 if norm == "post" else 0.5)).to(torch.float64).mean())
    words = (
        f"with norm={norm!r} and dropout={dropout}, {share:.1%} of {what} is dropped in training"
    )
    # 4096 draws of p = 0.5 have a standard deviation of 0.008.
    expect.that(abs(share - dropout) < 0.06, words)
    if norm != "post":
        mean = float(result.mean())
        words = f"dropout must keep the mean of {what}: it is {mean:.2f} instead of 1"
        expect.that(abs(mean - 1) < 0.12, words)


@pytest.mark.criterion(points=1, source="session, knowledge point 5")
@given(seed=SEEDS, sizes=SIZES, kind=MASKS, activation=ACTIVATIONS)
def test_pre(component, reference, expect, make, seed, sizes, kind, activation):
    """norm="pre" is right for random parameters, inputs and masks, and keeps float64"""
    x = draw_input(make, sizes, seed).to(torch.float64)
    mask = draw_mask(make, kind, *sizes[:2], seed)
    options = {"norm": "pre", "activation": activation}
    right = block(reference, make, sizes, seed, x.dtype, **options)(x, mask).output
    actual = block(component, make, sizes, seed, x.dtype, **options)(x, mask).output
    expect.close(actual, right, like=x, scale=10, names="B T D")


@pytest.mark.criterion(points=1, source="session, knowledge point 5")
@given(seed=SEEDS, sizes=SIZES, kind=MASKS, activation=ACTIVATIONS)
def test_post(component, reference, expect, make, seed, sizes, kind, activation):
    """norm="post" is right for random parameters, inputs and masks, and keeps float64"""
    x = draw_input(make, sizes, seed).to(torch.float64)
    mask = draw_mask(make, kind, *sizes[:2], seed)
    options = {"norm": "post", "activation": activation}
    right = block(reference, make, sizes, seed, x.dtype, **options)(x, mask).output
    actual = block(component, make, sizes, seed, x.dtype, **options)(x, mask).output
    expect.close(actual, right, like=x, scale=10, names="B T D")


@pytest.mark.criterion(points=0.5, source="walkthrough, attention and feed_forward")
@given(seed=SEEDS, sizes=SIZES, kind=MASKS, activation=ACTIVATIONS, bias=st.booleans())
def test_none(component, reference, expect, make, seed, sizes, kind, activation, bias):
    """norm="none" is right for random parameters, inputs and masks, with bias and without"""
    x = draw_input(make, sizes, seed).to(torch.float32)
    mask = draw_mask(make, kind, *sizes[:2], seed)
    options = {"norm": "none", "activation": activation, "bias": bias}
    right = block(reference, make, sizes, seed, x.dtype, **options)(x, mask).output
    actual = block(component, make, sizes, seed, x.dtype, **options)(x, mask).output
    expect.close(actual, right, like=x, scale=10, names="B T D")


@pytest.mark.criterion(points=0.5, source="walkthrough, attention and feed_forward")
@given(seed=SEEDS, activation=ACTIVATIONS, bias=st.booleans(), norm=NORMS)
def test_arguments(component, reference, expect, make, seed, activation, bias, norm):
    """norm, activation and bias reach the sublayers, and have the right defaults"""
    sizes = (2, 3, 8, (2, 3))
    x = draw_input(make, sizes, seed).to(torch.float32)
    options = {"norm": norm, "activation": activation, "bias": bias}
    right = block(reference, make, sizes, seed, x.dtype, **options)(x).output
    told = {key: value for key, value in options.items() if value not in ("pre", "relu", True)}
    own = block(component, make, sizes, seed, x.dtype, **told)
    names = list(parameter_shapes(6, 8, norm, bias))
    expect.keys(list(own.state().parameters), names, f"the parameters with {norm=}, {bias=}")
    expect.close(own(x).output, right, scale=10, names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 5")
@given(seed=SEEDS, sizes=SIZES, kind=MASKS, norm=NORMS)
def test_bfloat16(component, reference, expect, make, seed, sizes, kind, norm):
    """bfloat16 in, bfloat16 out"""
    x, mask = draw_input(make, sizes, seed), draw_mask(make, kind, *sizes[:2], seed)
    exact = block(reference, make, sizes, seed, torch.float64, norm=norm)
    right = exact(x.to(torch.float64), mask).output
    actual = block(component, make, sizes, seed, x.dtype, norm=norm)(x, mask).output
    expect.close(actual, right, like=x, scale=4, names="B T D")


@pytest.mark.criterion(points=1, source="session, knowledge point 5")
@given(seed=SEEDS, sizes=SIZES, kind=MASKS, norm=NORMS)
def test_gradients(component, reference, expect, make, seed, sizes, kind, norm):
    """gradients flow back to the input and to every parameter"""
    x = draw_input(make, sizes, seed).to(torch.float64)
    cotangent = draw_input(make, sizes, seed + 1).to(torch.float64)
    mask = draw_mask(make, kind, *sizes[:2], seed)
    built = block(reference, make, sizes, seed, x.dtype, norm=norm, activation="gelu")
    right = built.asking(cotangent=cotangent)(x, mask)
    built = block(component, make, sizes, seed, x.dtype, norm=norm, activation="gelu")
    actual = built.asking(cotangent=cotangent)(x, mask)
    expect.close(
        actual.gradients[0], right.gradients[0], "the input's gradient", scale=50, names="B T D"
    )
    for name, gradient in right.parameter_gradients.items():
        found = actual.parameter_gradients.get(name)
        expect.close(found, gradient, f"the gradient of {name}", scale=50)


@pytest.mark.criterion(points=0.5, source="session, knowledge points 1 and 5")
@given(seed=SEEDS, sizes=SIZES, norm=NORMS)
def test_random_evaluation(component, reference, expect, make, seed, sizes, norm):
    """in evaluation, and with dropout=0.0 in training, nothing is dropped"""
    x = draw_input(make, sizes, seed).to(torch.float32)
    right = block(reference, make, sizes, seed, x.dtype, norm=norm)(x).output
    idle = block(component, make, sizes, seed, x.dtype, norm=norm).train()
    expect.close(
        idle(x).output, right, "the result with dropout=0.0 in training", scale=10, names="B T D"
    )
    own = block(component, make, sizes, seed, x.dtype, dropout=0.5, norm=norm).train().train(False)
    expect.close(
        own(x).output, right, "the result with dropout=0.5 in evaluation", scale=10, names="B T D"
    )


@pytest.mark.criterion(points=0.5, source="session, knowledge point 5; walkthrough, introduction")
def test_dropout_after_attention(component, expect):
    """in training, dropout acts on what attention adds; 0.1 of it unless told otherwise"""
    for norm in ("pre", "post", "none"):
        options = {"dropout": 0.5}
        result = sublayer_output(component, norm, options, attention__out_proj__bias=1.0)
        expect_dropped(expect, result, norm, 0.5, "what attention adds")
    result = sublayer_output(component, "pre", {}, attention__out_proj__bias=1.0)
    expect_dropped(expect, result, "pre", 0.1, "what attention adds")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 5; walkthrough, feed_forward")
def test_dropout_after_feed_forward(component, expect):
    """in training, dropout acts on what the feed-forward layer adds"""
    for norm in ("pre", "post", "none"):
        options = {"dropout": 0.3}
        result = sublayer_output(component, norm, options, feed_forward__linear2__bias=1.0)
        expect_dropped(expect, result, norm, 0.3, "what the feed-forward layer adds")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_dropout_inside_feed_forward(component, expect):
    """the block's dropout is also that of its feed-forward layer

    The layer has a single feature inside: where that is dropped, nothing is added to the token.
    """
    values = {"feed_forward__linear1__bias": 1.0, "feed_forward__linear2__weight": 1.0}
    for norm in ("pre", "none"):
        result = sublayer_output(component, norm, {"dropout": 0.5}, **values)
        expect.shape(result, (64, 4, 16), names="B T D")
        share = float((result == 0).all(dim=-1).to(torch.float64).mean())
        # 256 draws of p = 0.5 have a standard deviation of 0.03.
        expect.that(
            abs(share - 0.5) < 0.22,
            f"with norm={norm!r} and dropout=0.5, the inside of the feed-forward layer is dropped "
            f"for {share:.1%} of the tokens",
        )


@pytest.mark.criterion(points=0.5, source="slides, pages 4 and 5; session, knowledge point 5")
@given(seed=SEEDS, norm=NORMS)
def test_stream_is_never_dropped(component, reference, expect, make, seed, norm):
    """dropout acts on what is added to the stream, never on the stream itself"""
    x = make.normal(2, 4, 6, seed=seed)
    silent = ("attention.out_proj", "feed_forward.linear2")
    shapes = parameter_shapes(6, 5, norm)
    state = make.state(shapes, seed=seed)
    state |= {key: torch.zeros(shapes[key]) for key in shapes if key.startswith(silent)}
    exact = reference.build("TransformerBlock", 6, 2, 5, 0.0, norm).load(state)
    right = exact(x).output
    own = component.build("TransformerBlock", 6, 2, 5, 0.5, norm).load(state).train()
    expect.close(
        own.asking(seed=seed)(x).output,
        right,
        "the stream to which nothing is added",
        scale=5,
        names="B T D",
    )


@pytest.mark.criterion(points=0.5, source="session, knowledge point 5")
def test_inputs_untouched(component, expect, make):
    """the input and the mask are left as they were"""
    x, mask = make.normal(2, 3, 4, seed=1), make.mask(2, 3, 3, seed=2)
    for norm in ("pre", "post", "none"):
        expect.unchanged(
            component.build("TransformerBlock", 4, 2, 5, norm=norm).asking(keep_inputs=True)(
                x, mask
            ),
            x,
            mask,
        )


@pytest.mark.criterion(points=0.5, source="session, knowledge point 5")
@given(seed=SEEDS, norm=NORMS)
def test_non_contiguous(component, reference, expect, make, seed, norm):
    """a transposed, strided or expanded input gives the same result as a contiguous one"""
    x, sizes = make.normal(3, 6, 6, seed=seed), (3, 6, 5, (2, 3))
    own = block(component, make, sizes, seed, torch.float32, norm=norm)
    exact = block(reference, make, sizes, seed, torch.float32, norm=norm)
    for view in (x.transpose(0, 1), x[:, ::2], x[:1].expand(2, 6, 6)):
        right = exact(view).output
        expect.close(own(view).output, right, scale=10, names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 5")
def test_device(component, expect):
    """no device is written into the code"""
    x = torch.empty(2, 3, 4, device="meta")
    mask = torch.empty(3, 3, dtype=torch.bool, device="meta")
    for norm in ("pre", "post", "none"):
        built = component.build("TransformerBlock", 4, 2, 5, norm=norm).to(device="meta")
        expect.follows_device(built(x, mask), (2, 3, 4), names=("B T D",))
