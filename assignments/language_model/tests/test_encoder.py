"""Public checks of encoder.py."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
ATTENTION = tuple(f"attention.{name}" for name in ("q_linear", "k_linear", "v_linear", "out_proj"))
NORMS = ("pre", "post")
SLOPE = (
    "the gradients do not match how the output changes after a small step of all parameters: look "
    "for .detach(), .data, .item(), numpy, no_grad or random numbers in the computation"
)


def block_shapes(features, hidden):
    """Name the parameters of one block, with their shapes."""
    shapes = {}
    for layer in ATTENTION:
        shapes |= {f"{layer}.weight": (features, features), f"{layer}.bias": (features,)}
    shapes["feed_forward.linear1.weight"] = (hidden, features)
    shapes["feed_forward.linear1.bias"] = (hidden,)
    shapes["feed_forward.linear2.weight"] = (features, hidden)
    shapes["feed_forward.linear2.bias"] = (features,)
    for layer in ("norm1", "norm2"):
        shapes |= {f"{layer}.weight": (features,), f"{layer}.bias": (features,)}
    return shapes


def parameter_shapes(words, longest, features, hidden, blocks, norm="pre"):
    """Name the parameters of an encoder, with their shapes."""
    shapes = {"token_embedding.weight": (words, features), "positions.weight": (longest, features)}
    for number in range(blocks):
        block = block_shapes(features, hidden)
        shapes |= {f"blocks.{number}.{key}": shape for key, shape in block.items()}
    if norm == "pre":
        shapes |= {"final_norm.weight": (features,), "final_norm.bias": (features,)}
    return shapes


def drawn(component, make, seed, blocks=2, norm="pre", dropout=0.0):
    """Build an encoder of 7 words, 6 positions and 6 features with random parameters.

    It is in evaluation mode, so nothing is dropped.
    """
    built = component.build("Encoder", 7, 6, 6, 2, 5, blocks, dropout, norm).train(False)
    return built.load(make.state(parameter_shapes(7, 6, 6, 5, blocks, norm), seed=seed))


def constant(component, features, blocks, values, **options):
    """Build an encoder of 3 words and 8 positions whose parameters are 0, except for these.

    Its norm is "pre", and the final norm has its initial weight and bias.
    """
    built = component.build("Encoder", 3, 8, features, 1, 3, blocks, norm="pre", **options)
    shapes = parameter_shapes(3, 8, features, 3, blocks)
    state = {key: torch.zeros(shape) for key, shape in shapes.items()}
    state["final_norm.weight"] = torch.ones(features)
    return built.load(state | {key: torch.as_tensor(value) for key, value in values.items()})


@pytest.mark.criterion(points=0.5, form=True, source="slides, pages 15, 26 and 31")
@pytest.mark.parametrize("norm", NORMS)
def test_parameters(component, expect, norm):
    """the parameters are those of embeddings, positions and blocks, plus final_norm with "pre" """
    shapes = parameter_shapes(7, 9, 6, 8, 2, norm)
    state = component.build("Encoder", 7, 9, 6, 2, 8, 2, norm=norm).state()
    for names, what in ((state.entries, "the keys"), (state.parameters, "the parameters")):
        expect.keys(list(names), list(shapes), f"{what} with {norm=}", learned=state.parameters)
    for name, shape in shapes.items():
        expect.shape(state.entries[name], shape, name)


@pytest.mark.criterion(points=0.25, form=True, source="handout")
def test_start(component, expect):
    """the token embeddings start with mean 0 and standard deviation 0.02"""
    state = component.build("Encoder", 500, 4, 16, 2, 4, 1).state()
    weight = state.parameters.get("token_embedding.weight")
    if weight is None:
        expect.keys(list(state.parameters), ["token_embedding.weight"], "the parameters")
    weight = expect.shape(weight, (500, 16), "token_embedding.weight").double()
    mean, deviation = float(weight.mean()), float(weight.std())
    # For 8000 numbers, the mean has a standard error of 0.0002, and so has the deviation. Of a
    # larger deviation the mean is further off, too.
    expect.that(
        0.018 < deviation < 0.022,
        f"token_embedding.weight has the deviation {deviation:.4f}, expected about 0.02",
        hint="nn.Embedding draws with a deviation of 1; draw its weight again",
    )
    fact = f"the mean of token_embedding.weight is {mean:.4f}, expected about 0"
    expect.that(abs(mean) < 0.002, fact)


@pytest.mark.criterion(points=0.5, source="slides, pages 5, 19 and 21")
def test_stream_of_tower(component, expect):
    """the stream of "Tower" is the sum of both embeddings, then the result of each block"""
    words, places = torch.zeros(3, 4), torch.zeros(8, 4)
    words[2], places[0] = torch.tensor([0.3, 0.0, 0.2, 0.1]), torch.tensor([0.1, 0.2, 0.0, 0.0])
    values = {
        "token_embedding.weight": words,
        "positions.weight": places,
        "blocks.0.attention.out_proj.bias": [0.3, 0.2, 0.3, 0.1],
        "blocks.1.feed_forward.linear2.bias": [0.1, 0.05, 1.12, 0.3],
    }
    built = constant(component, 4, 2, values).train(False)
    right = [
        [[[0.4, 0.2, 0.2, 0.1]]],
        [[[0.7, 0.4, 0.5, 0.2]]],
        [[[0.8, 0.45, 1.62, 0.5]]],
    ]
    stream = built.call("stream", torch.tensor([[2]])).output
    expect.close(stream, right, "the stream", names="N+1 B T D")


@pytest.mark.criterion(points=0.5, source="handout")
def test_final_norm(component, expect):
    """with norm="pre", the result is final_norm of the last block's result

    The blocks add 0 here. [0.8, 0.45, 1.62, 0.5] has the mean 0.8425 and the variance 0.2194188.
    """
    values = {"token_embedding.weight": [[0.0] * 4, [0.0] * 4, [0.8, 0.45, 1.62, 0.5]]}
    right = [[[-0.0907282, -0.8379014, 1.6597919, -0.7311623]]]
    answer = constant(component, 4, 1, values).train(False)(torch.tensor([[2]]))
    expect.close(answer.output, right, scale=10, names="B T D")
    values["final_norm.weight"] = [2.0, 1.0, 0.5, -1.0]
    values["final_norm.bias"] = [0.0, 0.0, 1.0, 1.0]
    right = [[[-0.1814563, -0.8379014, 1.8298959, 1.7311623]]]
    answer = constant(component, 4, 1, values).train(False)(torch.tensor([[2]]))
    expect.close(answer.output, right, "the result with a trained norm", scale=10, names="B T D")
    # A hundredth of it has the variance 2.19e-5, so the norm's eps of 1e-5 matters.
    small = {"token_embedding.weight": torch.tensor([[0.0] * 4, [0.008, 0.0045, 0.0162, 0.005]])}
    small["token_embedding.weight"] = small["token_embedding.weight"][[0, 0, 1]]
    right = [[[-0.0751984, -0.6944795, 1.3756888, -0.6060108]]]
    answer = constant(component, 4, 1, small).train(False)(torch.tensor([[2]]))
    what = "the result for small values, where the eps of the norm matters,"
    expect.close(answer.output, right, what, scale=10, names="B T D")


@pytest.mark.criterion(points=0.25, form=True, source="handout", examples=2)
@given(seed=SEEDS)
def test_post_has_no_final_norm(component, expect, make, seed):
    """with norm="post", the result is the last entry of the stream, with the same mask"""
    ids, mask = make.integers(2, 4, seed=seed, below=7), make.mask(2, 4, 4, seed=seed)
    stream = drawn(component, make, seed, norm="post").call("stream", ids, mask).output
    stream = expect.shape(stream, (3, 2, 4, 6), "the stream", names="N+1 B T D")
    result = drawn(component, make, seed, norm="post")(ids, mask).output
    expect.close(result, stream[-1], scale=2, names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 5", examples=2)
@given(seed=SEEDS)
def test_post_normalises(component, expect, make, seed):
    """with norm="post", every token of the result has mean 0 and variance 1"""
    shapes = parameter_shapes(7, 6, 6, 5, 2, "post")
    state = make.state({key: shapes[key] for key in shapes if ".norm" not in key}, seed=seed)
    built = component.build("Encoder", 7, 6, 6, 2, 5, 2, norm="post").train(False).load(state)
    result = built(make.integers(2, 3, seed=seed, below=7)).output
    result = expect.shape(result, (2, 3, 6), names="B T D")
    expect.close(result.mean(-1), torch.zeros(2, 3), "the mean of a token", names="B T")
    variance = result.var(-1, correction=0)
    expect.close(variance, torch.ones(2, 3), "the variance of a token", scale=50, names="B T")


@pytest.mark.criterion(points=0.25, form=True, source="session, knowledge point 5")
def test_default_norm(component, expect, make):
    """the default of norm is "pre" """
    ids = make.integers(2, 3, seed=1, below=7)
    state = make.state(parameter_shapes(7, 6, 6, 5, 2), seed=2)
    results = []
    for options in ({}, {"norm": "pre"}):
        built = component.build("Encoder", 7, 6, 6, 2, 5, 2, **options).train(False)
        results.append(built.load(state)(ids).output)
    expect.close(results[0], results[1], "the result with the default norm", names="B T D")


@pytest.mark.criterion(points=0.25, form=True, source="handout")
@pytest.mark.parametrize("norm", NORMS)
def test_no_blocks(component, expect, make, norm):
    """without blocks, the stream has one entry, the sum of both embeddings"""
    ids = make.integers(2, 4, seed=1, below=7)
    state = make.state(parameter_shapes(7, 6, 6, 5, 1, norm), seed=2)
    streams = []
    for blocks in (0, 1):
        built = component.build("Encoder", 7, 6, 6, 2, 5, blocks, norm=norm).train(False)
        built.load({key: state[key] for key in parameter_shapes(7, 6, 6, 5, blocks, norm)})
        expect.shape(built(ids).output, (2, 4, 6), names="B T D")
        streams.append(built.call("stream", ids).output)
    expect.shape(streams[0], (1, 2, 4, 6), "the stream", names="N+1 B T D")
    expect.close(streams[0], streams[1][:1], "the stream without blocks", names="N+1 B T D")


@pytest.mark.criterion(points=0.5, source="slides, pages 5 and 15")
def test_blocks_in_order(component, expect):
    """the blocks run in order, each with its own parameters on the previous block's result

    The first block adds 4 to the first feature. The second block reads this feature, normalised,
    and adds it to the third feature. The third block adds 1 to the second feature.
    """
    finds, keeps = torch.zeros(3, 4), torch.zeros(4, 3)
    finds[0, 0], keeps[2, 0] = 1.0, 1.0
    values = {
        "blocks.0.feed_forward.linear2.bias": [4.0, 0.0, 0.0, 0.0],
        "blocks.1.norm2.weight": torch.ones(4),
        "blocks.1.feed_forward.linear1.weight": finds,
        "blocks.1.feed_forward.linear2.weight": keeps,
        "blocks.2.attention.out_proj.bias": [0.0, 1.0, 0.0, 0.0],
    }
    answer = constant(component, 4, 3, values).train(False)(torch.tensor([[0]]))
    result = expect.shape(answer.output, (1, 1, 4), names="B T D")
    # [4, 0, 0, 0] has mean 1 and variance 3: its first feature becomes 3 / sqrt(3.00001). The
    # final norm is the subject of another check, so the result is normalised here in any case.
    right = F.layer_norm(torch.tensor([[[4.0, 1.0, 1.7320479, 0.0]]]), (4,))
    found = F.layer_norm(result, (4,))
    expect.close(found, right, "the result, normalised,", scale=5, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 3", examples=2)
@given(seed=SEEDS, norm=st.sampled_from(NORMS))
def test_no_look_ahead(component, expect, make, seed, norm):
    """with a causal mask, changing the last token leaves the earlier outputs unchanged"""
    ids = make.integers(2, 4, seed=seed, below=7)
    changed = torch.cat([ids[:, :-1], (ids[:, -1:] + 1) % 7], dim=1)
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    before = drawn(component, make, seed, 3, norm)(ids, mask).output
    before = expect.shape(before, (2, 4, 6), names="B T D")
    after = drawn(component, make, seed, 3, norm)(changed, mask).output
    after = expect.shape(after, (2, 4, 6), names="B T D")
    what = "the result for the earlier tokens"
    expect.close(after[:, :-1], before[:, :-1], what, scale=2, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="walkthrough, attention, step 1", examples=2)
@given(seed=SEEDS, norm=st.sampled_from(NORMS))
def test_padding_is_hidden(component, expect, make, seed, norm):
    """changing a masked token does not change the other outputs, with a (B, T, T) mask"""
    ids = make.integers(2, 4, seed=seed, below=7)
    seen = torch.tensor([[True, True, True, False], [True, True, False, False]])
    changed = torch.where(seen, ids, (ids + 3) % 7)
    mask = seen[:, None].repeat(1, 4, 1)
    outputs = []
    for asked in (ids, changed):
        output = drawn(component, make, seed, 2, norm)(asked, mask).output
        outputs.append(expect.shape(output, (2, 4, 6), names="B T D"))
    what = "the result for the tokens that are not masked"
    expect.close(outputs[1][seen], outputs[0][seen], what, scale=2, names="token D")


@pytest.mark.criterion(points=0.25, source="session, knowledge point 3")
def test_no_mask(component, expect, make):
    """without a mask, changing the last token changes the outputs of all tokens"""
    ids = make.integers(1, 4, seed=1, below=7)
    changed = torch.cat([ids[:, :-1], (ids[:, -1:] + 1) % 7], dim=1)
    outputs = []
    for asked in (ids, changed):
        output = drawn(component, make, 2)(asked).output
        outputs.append(expect.shape(output, (1, 4, 6), names="B T D"))
    noticed = (outputs[1] - outputs[0]).abs().amax(-1)[0]
    expect.that(
        bool((noticed > 1e-3).all()),
        "changing the last token does not change the output of every token: attention hides tokens",
    )


@pytest.mark.criterion(points=0.25, form=True, source="session, knowledge points 1 and 5")
@pytest.mark.parametrize("norm", NORMS)
def test_evaluation(component, expect, make, norm):
    """nothing is dropped in evaluation mode, nor in training mode with dropout=0.0"""
    ids, mask = make.integers(2, 4, seed=1, below=7), make.mask(2, 4, 4, seed=2)
    right = {}
    for rate, training in ((0.0, False), (0.0, True), (0.5, False)):
        built = drawn(component, make, 2, norm=norm, dropout=rate).train(training)
        for method in ("forward", "stream"):
            found = built.asking(seed=3).call(method, ids, mask).output
            shape = (2, 4, 6) if method == "forward" else (3, 2, 4, 6)
            # NaN under a mask is the subject of another check.
            found = expect.shape(found, shape, f"the result of {method}").nan_to_num()
            mode = "training" if training else "evaluation"
            what = f"the result of {method} in {mode} with dropout={rate}, minus that in evaluation"
            less = found - right.setdefault(method, found)
            expect.close(less, torch.zeros(shape), f"{what} with dropout=0.0,", scale=5)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_only_blocks_drop(component, expect, make):
    """in training, only the blocks apply dropout: embeddings and result are not dropped

    The blocks add 0 here, so the stream is the same in training and evaluation mode.
    """
    words, places = make.normal(3, 16, seed=1), make.normal(8, 16, seed=2)
    values = {"token_embedding.weight": words, "positions.weight": places}
    ids = make.integers(4, 8, seed=3, below=3)
    for method in ("stream", "forward"):
        answers = []
        for training in (True, False):
            built = constant(component, 16, 2, values, dropout=0.5).train(training)
            answers.append(built.asking(seed=4).call(method, ids).output)
        expect.close(answers[0], answers[1], f"the result of {method} in training", scale=5)


@pytest.mark.criterion(points=0.5, source="session, knowledge point 5")
@pytest.mark.parametrize("rate", [None, 0.5], ids=["no rate given", "a rate of 0.5"])
def test_rate_of_the_blocks(component, expect, rate):
    """the blocks use the given dropout rate, by default 0.1

    The tokens are 0. The only block adds 1 to every feature, except where dropout removes it.
    """
    values = {"blocks.0.attention.out_proj.bias": torch.ones(16)}
    options = {} if rate is None else {"dropout": rate}
    built = constant(component, 16, 1, values, **options).train()
    result = built.asking(seed=5)(torch.zeros(32, 8, dtype=torch.int64)).output
    result = expect.shape(result, (32, 8, 16), names="B T D")
    # A token has two values, normalised or not; the smaller one was dropped.
    middle = (result.amax(-1, keepdim=True) + result.amin(-1, keepdim=True)) / 2
    share = float((result < middle - 1e-4).to(torch.float64).mean())
    right = 0.1 if rate is None else rate
    # 4096 draws of p = 0.5 have a standard deviation of 0.008.
    fact = f"{share:.1%} of attention's output is dropped, expected about {right:.0%}"
    expect.that(abs(share - right) < 0.05, fact)


@pytest.mark.criterion(points=0.25, form=True, source="handout")
@pytest.mark.parametrize("blocks", [0, 2], ids=["no blocks", "two blocks"])
def test_unknown_norm(component, expect, blocks):
    """an unknown norm raises ValueError, also without blocks"""
    built = component.build("Encoder", 7, 6, 6, 2, 5, blocks, norm="middle")
    expect.raises(built(torch.tensor([[1, 2]])), "ValueError")


@pytest.mark.criterion(points=0.25, form=True, source="handout")
@pytest.mark.parametrize("method", ["forward", "stream"])
def test_too_long(component, expect, make, method):
    """max_len tokens are accepted, max_len + 1 raise ValueError"""
    built = component.build("Encoder", 7, 3, 6, 2, 5, 1)
    expect.that(built.call(method, make.integers(2, 3, seed=1, below=7)))
    expect.raises(built.call(method, make.integers(2, 4, seed=1, below=7)), "ValueError")


@pytest.mark.criterion(points=0.25, form=True, source="handout")
@pytest.mark.parametrize("norm", NORMS)
def test_dtypes(component, expect, make, norm):
    """the result has the dtype of the parameters: float32, float64 or bfloat16"""
    ids, mask = make.integers(2, 4, seed=1, below=7), make.mask(2, 4, 4, seed=2)
    right = drawn(component, make, 3, norm=norm)(ids, mask).output
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        found = drawn(component, make, 3, norm=norm).to(dtype)(ids, mask).output
        expect.dtype(found, dtype, f"the result for {dtype}")
        # NaN under a mask is the subject of another check.
        found, plain = found.nan_to_num(), right.nan_to_num()
        expect.close(found, plain, f"the result for {dtype}", scale=4, names="B T D")


@pytest.mark.criterion(points=0.25, form=True, source="handout")
def test_device(component, expect):
    """results are on the input's device (no hard-coded device)"""
    built = component.build("Encoder", 7, 6, 6, 2, 5, 2).to(device="meta")
    ids = torch.zeros(2, 4, dtype=torch.int64, device="meta")
    mask = torch.ones(4, 4, dtype=torch.bool, device="meta")
    expect.follows_device(built(ids, mask))
    expect.follows_device(built.call("stream", ids, mask))


@pytest.mark.criterion(points=0.25, form=True, source="handout")
def test_inputs_untouched(component, expect, make):
    """the token ids and the mask are not modified"""
    ids, mask = make.integers(2, 4, seed=1, below=7), torch.ones(4, 4, dtype=torch.bool).tril(-1)
    mask[0, 3] = True
    built = drawn(component, make, 2)
    expect.unchanged(built.asking(keep_inputs=True)(ids, mask), ids, mask)


@pytest.mark.criterion(points=0.25, form=True, source="handout")
def test_strided(component, expect, make):
    """transposed or strided token ids give the same result as contiguous ones"""
    ids = make.integers(5, 5, seed=1, below=7)
    for view in (ids.T, ids[:, ::2]):
        right = drawn(component, make, 2)(view.contiguous()).output
        expect.close(drawn(component, make, 2)(view).output, right, scale=2, names="B T D")


@pytest.mark.criterion(points=0.25, form=True, source="handout")
def test_calls_in_turn(component, expect, make):
    """one module gives right results for different inputs and masks, call after call"""
    built = drawn(component, make, 2)
    expect.shape(built(torch.tensor([[1, 2]])).output, (1, 2, 6), names="B T D")
    # A second module with other settings.
    expect.that(drawn(component, make, 3, 1, "post")(torch.tensor([[1, 2, 3]])))
    for number, (batch, length, masked) in enumerate(((2, 6, True), (1, 2, False), (3, 4, True))):
        ids = make.integers(batch, length, seed=number, below=7)
        mask = [make.mask(batch, length, length, seed=number)] if masked else []
        for method in ("forward", "stream"):
            found = built.call(method, ids, *mask).output
            right = drawn(component, make, 2).call(method, ids, *mask).output
            found, right = found.nan_to_num(), right.nan_to_num()
            expect.close(found, right, f"the result of {method}", scale=2)


@pytest.mark.criterion(points=0.25, source="handout")
def test_gradients_flow(component, expect, make):
    """every gradient agrees with a small step in a random direction"""
    ids, cotangent = make.integers(2, 3, seed=1, below=7), make.normal(2, 3, 6, seed=2)
    shapes, double = parameter_shapes(7, 6, 6, 5, 2), torch.float64
    state = make.state(shapes, seed=4, dtype=double)
    step = make.state(shapes, seed=5, dtype=double)

    def module(side=0.0):
        moved = {key: value + side * step[key] for key, value in state.items()}
        built = component.build("Encoder", 7, 6, 6, 2, 5, 2, 0.0, norm="pre").to(double)
        return built.train(False).load(moved)

    names = [name for name in shapes if name in module().state().parameters]
    expect.keys(names, list(shapes), "the parameters that get a gradient")

    # So small that it crosses no kink of relu.
    small = 1e-4
    ends = [expect.shape(module(side)(ids).output, (2, 3, 6)) for side in (small, -small)]
    change = ((ends[0] - ends[1]) * cotangent).sum() / (2 * small)
    for mode in ("evaluation", "training"):
        built = module().train(mode == "training")
        answer = built.asking(cotangent=cotangent.to(double))(ids)
        expect.shape(answer.output, (2, 3, 6), names="B T D")
        predicted = torch.zeros((), dtype=double)
        for name, direction in step.items():
            # A parameter without a gradient should not change the result.
            gradient = answer.parameter_gradients.get(name)
            gradient = torch.zeros_like(direction) if gradient is None else gradient
            gradient = expect.shape(gradient, direction.shape, f"the gradient of {name}")
            predicted = predicted + (gradient * direction).sum()
        what = f"the change that the gradients in {mode} mode predict for a small step"
        expect.close(predicted, change, what, scale=100, hint=SLOPE)
