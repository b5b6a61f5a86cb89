"""Public checks of positional_encoding.py. Source of the numbers: slides, page 25."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
PAIRS = st.integers(1, 6)
LENGTHS = st.integers(1, 6)

HINT = "add the encoding to x first, then apply dropout to the sum"


@pytest.mark.criterion(points=1, source="slides, page 25")
def test_position_one(component, expect):
    """with 4 features, the encoding of position 1 is [0.841, 0.540, 0.010, 1.000]

    The page calls i the dimension index, running over 0, 1, 2, 3. It numbers the pairs of a sine
    and a cosine, here 0 and 1, which is how the page itself computes.
    """
    answer = component.call("sinusoidal_encoding", 3, 4)
    table = expect.shape(answer.output, (3, 4), names="T D")
    expect.close(table[1], [0.8414710, 0.5403023, 0.0099998, 0.9999500], "position 1", names="D")


@pytest.mark.criterion(points=0.5, source="slides, page 24")
def test_position_zero(component, expect):
    """positions count from 0, and the encoding of position 0 is [0, 1, 0, 1]"""
    answer = component.call("sinusoidal_encoding", 1, 4)
    expect.close(answer.output, [[0.0, 1.0, 0.0, 1.0]], names="T D")


@pytest.mark.criterion(points=0.5, source="slides, page 25")
def test_cat(component, expect):
    """ "cat" at position 1 becomes [1.341, 0.840, -0.190, 1.800]"""
    the, cat, sat = [0.1, 0.2, 0.3, 0.4], [0.5, 0.3, -0.2, 0.8], [0.0, -0.1, 0.6, 0.2]
    encoding = component.build("PositionalEncoding", 4).train(False)
    answer = encoding(torch.tensor([[the, cat, sat]]))
    result = expect.shape(answer.output, (1, 3, 4), names="B T D")
    expect.close(result[0, 1], [1.3414710, 0.8403023, -0.1900002, 1.7999500], '"cat"', names="D")


@pytest.mark.criterion(points=0.5, source="slides, pages 24 and 25", examples=2)
@given(length=LENGTHS, pairs=PAIRS)
def test_sine_beside_cosine(component, expect, length, pairs):
    """columns 2i and 2i + 1 are sine and cosine of one angle: their squares add up to 1"""
    answer = component.call("sinusoidal_encoding", length, 2 * pairs)
    table = expect.shape(answer.output, (length, 2 * pairs), names="T D")
    sums = table[:, 0::2].square() + table[:, 1::2].square()
    expect.close(sums, torch.ones(length, pairs), "sine² + cosine² of every pair", names="T D/2")


@pytest.mark.criterion(points=0.5, form=True, source="slides, page 24", examples=2)
@given(step=st.integers(1, 4), pairs=PAIRS)
def test_shift_is_a_rotation(component, expect, step, pairs):
    """a shift by k positions rotates each pair by the same angle at every position"""
    answer = component.call("sinusoidal_encoding", 9, 2 * pairs)
    table = expect.shape(answer.output, (9, 2 * pairs), names="T D")
    sine, cosine = table[:, 0::2], table[:, 1::2]
    # Every pair must rotate by the angle between positions 0 and k.
    along = sine[0] * sine[step] + cosine[0] * cosine[step]
    across = cosine[0] * sine[step] - sine[0] * cosine[step]
    turned = sine[:-step] * along + cosine[:-step] * across
    expect.close(
        sine[step:], turned, f"the first column of every pair, {step} positions on", names="T D/2"
    )
    turned = cosine[:-step] * along - sine[:-step] * across
    expect.close(
        cosine[step:],
        turned,
        f"the second column of every pair, {step} positions on",
        names="T D/2",
    )


@pytest.mark.criterion(points=1, form=True, source="slides, pages 23 and 25", examples=2)
@given(seed=SEEDS, batch=st.integers(1, 3), length=LENGTHS, pairs=PAIRS)
def test_encoding_is_added(component, expect, make, seed, batch, length, pairs):
    """PositionalEncoding adds sinusoidal_encoding(T, D) to every sequence of the batch"""
    table = expect.shape(
        component.call("sinusoidal_encoding", length, 2 * pairs).output,
        (length, 2 * pairs),
        names="T D",
    )
    x = make.normal(batch, length, 2 * pairs, seed=seed)
    encoding = component.build("PositionalEncoding", 2 * pairs).train(False)
    # One token, and then all of them.
    expect.shape(encoding(x[:, :1]).output, (batch, 1, 2 * pairs), names="B T D")
    result = expect.shape(encoding(x).output, x.shape, names="B T D")
    expect.close(result - x, table.expand(x.shape), "the result minus the input", names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_nothing_is_learned(component, expect):
    """PositionalEncoding has no parameters, and its state_dict is empty"""
    state = component.build("PositionalEncoding", 4).state()
    expect.keys(list(state.parameters), [], "the parameters", learned=state.parameters)
    expect.keys(list(state.entries), [], "the keys of the state_dict", learned=state.parameters)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_odd_d_model(component, expect):
    """an odd d_model raises ValueError"""
    expect.raises(component.call("sinusoidal_encoding", 3, 5), "ValueError")
    answer = component.build("PositionalEncoding", 5)(torch.zeros(1, 3, 5))
    expect.raises(answer, "ValueError")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_longest_sequence(component, expect):
    """max_len tokens are accepted, max_len + 1 raise ValueError; the default is 512"""
    short = component.build("PositionalEncoding", 6, 4)
    # The short module is called again after the other was made.
    other = component.build("PositionalEncoding", 8)
    for encoding, longest, features in ((short, 4, 6), (other, 512, 8), (short, 4, 6)):
        x = torch.zeros(1, longest, features)
        expect.shape(encoding(x).output, x.shape, names="B T D")
        expect.raises(encoding(torch.zeros(1, longest + 1, features)), "ValueError")


@pytest.mark.criterion(points=1, source="handout")
def test_dropout(component, expect, make):
    """in training, single values of the sum are dropped and the others are scaled up"""
    # At least 2, so that no sum with a sine or a cosine is near 0.
    x = make.normal(2, 64, 64, seed=1).abs() + 2
    plain = component.build("PositionalEncoding", 64, dropout=0.0).train()(x)
    whole = expect.shape(plain.output, x.shape, names="B T D")
    built = [component.build("PositionalEncoding", 64, dropout=rate) for rate in (0.4, 0.6)]
    for encoding in built:
        # Both are made before either is called.
        expect.shape(encoding.train(False)(x).output, x.shape, names="B T D")
    for rate, encoding in zip((0.4, 0.6), built, strict=True):
        answer = encoding.train().asking(seed=2)(x)
        result = expect.shape(answer.output, x.shape, names="B T D")
        dropped = result.abs() < 1e-3
        share = float(dropped.double().mean())
        # 8192 values: the bounds are more than nine standard deviations away.
        near = abs(share - rate) < 0.05
        # Dropout in the wrong place makes few results exactly 0.
        hint = HINT if share < rate else ""
        fact = f"with dropout={rate}, {share:.1%} of the results are 0 in training"
        expect.that(near, f"{fact}, expected about {rate:.0%}", hint=hint)
        single = all(bool(dropped.any(d).all() and (~dropped).any(d).all()) for d in (1, 2))
        expect.that(single, "whole tokens or whole features are dropped, expected single values")
        right = (whole / (1 - rate)).masked_fill(dropped, 0.0)
        expect.close(result, right, "the sum, dropped or scaled up", names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_dropout_off(component, expect, make):
    """nothing is dropped in evaluation mode, nor in training mode with dropout=0.0"""
    x, table = make.normal(2, 32, 16, seed=1), component.call("sinusoidal_encoding", 32, 16)
    right = x + expect.shape(table.output, (32, 16), names="T D")
    answer = component.build("PositionalEncoding", 16, dropout=0.5).train(False).asking(seed=2)(x)
    expect.close(answer.output, right, "the result in evaluation", names="B T D")
    answer = component.build("PositionalEncoding", 16, dropout=0.0).train().asking(seed=3)(x)
    expect.close(answer.output, right, "the result in training with dropout=0.0", names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_default_dropout(component, expect, make):
    """the default of dropout is 0: nothing is dropped in training mode"""
    x, table = make.normal(2, 32, 16, seed=1), component.call("sinusoidal_encoding", 32, 16)
    right = x + expect.shape(table.output, (32, 16), names="T D")
    answer = component.build("PositionalEncoding", 16).train().asking(seed=3)(x)
    expect.close(answer.output, right, "the result in training without a rate", names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_dtypes(component, expect, make):
    """the result has the input's dtype and the right values, also beyond position 256"""
    x = make.normal(1, 300, 8, seed=1)  # bfloat16 cannot count beyond 256
    module = component.build("PositionalEncoding", 8).train(False)
    right = module(x).output
    # After bfloat16, float64 must have its full precision again.
    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        same, what = x.to(dtype), f"the result for {dtype}"
        # float32 knows the angle of position p to about p * 1e-7.
        scale = 7.0 if dtype == torch.float64 else 1.0
        expect.close(module(same).output, right, what, like=same, scale=scale, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_non_contiguous(component, expect, make):
    """a transposed, strided or expanded input gives the same result as a contiguous one"""
    x, module = make.normal(4, 6, 4, seed=1), component.build("PositionalEncoding", 4).train(False)
    for view in (x.transpose(0, 1), x[:, ::2], x[:1].expand(2, 6, 4)):
        right = module(view.contiguous()).output
        expect.close(module(view).output, right, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_gradients_flow(component, expect, make):
    """the gradient reaches the input unchanged, because the encoding is only added"""
    x, cotangent = (make.normal(2, 3, 6, seed=seed, dtype=torch.float64) for seed in (1, 2))
    module = component.build("PositionalEncoding", 6).train(False)
    found = module.asking(cotangent=cotangent)(x).gradients[0]
    expect.close(found, cotangent, "the gradient of the input", names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_input_untouched(component, expect, make):
    """the input tensor is not modified"""
    x = make.normal(2, 3, 4, seed=3)
    expect.unchanged(
        component.build("PositionalEncoding", 4).train(False).asking(keep_inputs=True)(x), x
    )


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_device(component, expect):
    """results are on the input's device (no hard-coded device)"""
    x = torch.empty(2, 3, 4, device="meta")
    module = component.build("PositionalEncoding", 4).train(False).to(device="meta")
    expect.follows_device(module(x))
