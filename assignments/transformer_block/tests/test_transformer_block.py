"""Public checks of transformer_block.py. The walkthrough's numbers are in walkthrough.json."""

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

WALKTHROUGH = json.loads((Path(__file__).parent / "walkthrough.json").read_text("utf-8"))
SEEDS = st.integers(0, 10_000)
ATTENTION = tuple(f"attention.{name}" for name in ("q_linear", "k_linear", "v_linear", "out_proj"))
FEED_FORWARD = ("feed_forward.linear1", "feed_forward.linear2")
NORMS = ("norm1", "norm2")


def parameter_shapes(features, hidden, norm="pre", bias=True):
    """Name the parameters of a block, with their shapes."""
    shapes = {f"{layer}.weight": (features, features) for layer in ATTENTION}
    shapes["feed_forward.linear1.weight"] = (hidden, features)
    shapes["feed_forward.linear2.weight"] = (features, hidden)
    if bias:
        shapes |= {f"{layer}.bias": (features,) for layer in ATTENTION}
        shapes["feed_forward.linear1.bias"] = (hidden,)
        shapes["feed_forward.linear2.bias"] = (features,)
    if norm != "none":
        shapes |= {f"{layer}.{part}": (features,) for layer in NORMS for part in ("weight", "bias")}
    return shapes


def drawn_state(make, features, hidden, seed, norm="pre", bias=True):
    """Make a random tensor for every parameter."""
    return make.state(parameter_shapes(features, hidden, norm, bias), seed=seed)


def silenced(state, *layers):
    """Set the weight and bias of these layers to 0."""
    zeros = {key: torch.zeros_like(value) for key, value in state.items()}
    return {key: zeros[key] if key.startswith(layers) else state[key] for key in state}


def constant_block(component, features, **values):
    """Build a block without norms whose parameters are 0, except for these."""
    state = {
        key: torch.zeros(shape) for key, shape in parameter_shapes(features, 3, "none").items()
    }
    state |= {key.replace("__", "."): torch.tensor(value) for key, value in values.items()}
    return component.build("TransformerBlock", features, 2, 3, dropout=0.0, norm="none").load(state)


def walkthrough(key):
    """Read one of the walkthrough's tables."""
    return torch.tensor(WALKTHROUGH[key])


def walkthrough_block(component, *silent):
    """Build the walkthrough's block, with the parameters of these layers set to 0."""
    built = component.build(
        "TransformerBlock", 2, 2, 2, dropout=0.0, norm="none", activation="gelu", bias=False
    )
    state = {key: torch.tensor(value) for key, value in WALKTHROUGH["weights"].items()}
    return built.load(silenced(state, *silent) if silent else state)


def sublayer_output(component, norm, options, **values):
    """Return a training block's result for zeros, if only these parameters are not 0.

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


def expect_dropped(expect, result, norm, dropout, what, within=0.06):
    """Expect about this share of values to be dropped, and the others to be scaled up for it.

    4096 draws of p = 0.5 have a standard deviation of 0.008.
    """
    result = expect.shape(result, (64, 4, 16), names="B T D")
    if norm == "post":
        # The norm makes what was kept positive and what was dropped negative.
        dropped = result < 0
    else:
        dropped, kept = result == 0, 1 / (1 - dropout)
        odd = result[~dropped & ~((result - kept).abs() < 1e-3)]
        expect.that(
            not len(odd),
            f"with norm={norm!r} and dropout={dropout}, where {what} is 1 everywhere and nothing "
            f"else is added, the result in training holds {float(odd[0]) if len(odd) else 0:.4g}, "
            f"expected 0 for what is dropped and {kept:.4g} for the rest",
        )
    share = float(dropped.to(torch.float64).mean())
    words = (
        f"with norm={norm!r} and dropout={dropout}, the result is as if {share:.1%} of {what} were "
        "dropped in training"
    )
    expect.that(abs(share - dropout) < within, words)


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


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 5")
def test_session_shapes(component, expect, make):
    """TransformerBlock(64, 4, 256) maps (2, 5, 64) to (2, 5, 64)"""
    answer = component.build("TransformerBlock", 64, 4, 256)(make.normal(2, 5, 64, seed=1))
    expect.shape(answer.output, (2, 5, 64), names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 5")
def test_parameters(component, expect):
    """the parameters are those of attention, feed_forward, norm1 and norm2"""
    for norm in ("pre", "post"):
        shapes = parameter_shapes(6, 8)
        state = component.build("TransformerBlock", 6, 2, 8, norm=norm).state()
        expect.keys(
            list(state.entries),
            list(shapes),
            f"the keys with norm={norm!r}",
            learned=state.parameters,
        )
        expect.keys(
            list(state.parameters),
            list(shapes),
            f"the parameters with norm={norm!r}",
            learned=state.parameters,
        )
        for name, shape in shapes.items():
            expect.shape(state.entries[name], shape, name)


@pytest.mark.criterion(
    points=0.5, form=True, source="session, knowledge point 5; walkthrough, introduction"
)
def test_parameters_left_out(component, expect):
    """norm="none" omits the norms, bias=False omits every bias except those of the norms"""
    bare = component.build("TransformerBlock", 6, 2, 8, norm="none").state()
    right = parameter_shapes(6, 8, norm="none")
    expect.keys(
        list(bare.entries), list(right), "the keys with norm='none'", learned=bare.parameters
    )
    unbiased = component.build("TransformerBlock", 6, 2, 8, bias=False).state()
    right = parameter_shapes(6, 8, bias=False)
    expect.keys(
        list(unbiased.entries), list(right), "the keys with bias=False", learned=unbiased.parameters
    )


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_unknown_choices(component, expect, make):
    """an unknown norm or activation raises ValueError"""
    x = make.normal(1, 2, 4, seed=1)
    for norm in ("middle", "Pre"):
        expect.raises(component.build("TransformerBlock", 4, 2, 8, norm=norm)(x), "ValueError")
    answer = component.build("TransformerBlock", 4, 2, 8, activation="swish")(x)
    expect.raises(answer, "ValueError")


@pytest.mark.criterion(points=0.5, source="slides, page 19")
def test_tower_attention(component, expect):
    """attention adds both heads' vectors: the stream of 'Tower' becomes [0.7, 0.4, 0.5, 0.2]

    The text of the page gives head 1's vector to 'Eiffel', the sum gives it to 'Tower'; the sum
    counts here. Every head has the value 1 in the first of its two features, and the output
    projection turns it into the head's vector.
    """
    head_1, head_2, none = [0.1, 0.2, 0.0, 0.1], [0.2, 0.0, 0.3, 0.0], [0.0] * 4
    columns = [list(row) for row in zip(head_1, none, head_2, none, strict=True)]
    found = {"attention__v_linear__bias": [1.0, 0.0, 1.0, 0.0]}
    block = constant_block(component, 4, attention__out_proj__weight=columns, **found)
    answer = block(torch.tensor([[[0.4, 0.2, 0.2, 0.1]]]))
    expect.close(answer.output, [[[0.7, 0.4, 0.5, 0.2]]], names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 21")
def test_tower_feed_forward(component, expect):
    """feed_forward adds its result: the stream of 'Tower' becomes [0.8, 0.45, 1.62, 0.5]"""
    added = [0.1, 0.05, 1.12, 0.3]
    block = constant_block(component, 4, feed_forward__linear2__bias=added)
    answer = block(torch.tensor([[[0.7, 0.4, 0.5, 0.2]]]))
    expect.close(answer.output, [[[0.8, 0.45, 1.62, 0.5]]], names="B T D")


@pytest.mark.criterion(points=0.5, source="walkthrough, attention, step 3")
def test_walkthrough_attention(component, expect):
    """if feed_forward adds 0, the result is the walkthrough's stream after attention"""
    block = walkthrough_block(component, "feed_forward.linear2")
    answer = block(walkthrough("x"), walkthrough("mask"))
    expect.close(answer.output, walkthrough("after_attention_residual"), scale=2, names="B T D")


@pytest.mark.criterion(points=0.5, source="walkthrough, feed_forward")
def test_walkthrough_block(component, expect):
    """CLS leaves the walkthrough's block as (-6.4319, -0.9393) and (0.2414, 9.1150)"""
    answer = walkthrough_block(component)(walkthrough("x"), walkthrough("mask"))
    output = expect.shape(answer.output, (2, 5, 2), names="B T D")
    cls = [[-6.4318781, -0.9393229], [0.2414162, 9.1149883]]
    expect.close(output[:, 0], cls, "the output of CLS", scale=2, names="B D")
    expect.close(output, walkthrough("block_output"), scale=2, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="slides, pages 4 and 5", examples=2)
@given(seed=SEEDS, norm=st.sampled_from(["pre", "none"]))
def test_nothing_added(component, expect, make, seed, norm):
    """if both sublayers return zeros, the block returns its input ("pre" and "none")"""
    x = make.normal(2, 3, 4, seed=seed)
    state = silenced(drawn_state(make, 4, 5, seed, norm), "attention.out", "feed_forward.linear2")
    block = component.build("TransformerBlock", 4, 2, 5, dropout=0.0, norm=norm).load(state)
    expect.close(block(x).output, x, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 5", examples=2)
@given(seed=SEEDS, shift=st.sampled_from([-4.0, -1.0, 2.0, 5.0]))
def test_pre_reads_the_normalised_stream(component, expect, make, seed, shift):
    """by default the sublayers read the normalised stream: x + c gives the old result + c"""
    x = make.normal(2, 3, 6, seed=seed)
    block = component.build("TransformerBlock", 6, 2, 5, dropout=0.0)
    block.load(drawn_state(make, 6, 5, seed))
    plain = expect.shape(block(x).output, x.shape, names="B T D")
    moved = block(x + shift).output
    expect.close(moved, plain + shift, "the result for the shifted stream", scale=5, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 5", examples=2)
@given(seed=SEEDS)
def test_each_sublayer_has_its_norm(component, expect, make, seed):
    """norm1 is applied before attention, norm2 before feed_forward

    A norm with weight and bias 0 returns zeros, and a sublayer without biases maps zeros to zeros.
    The other sublayer has zeros for parameters, so the stream does not change.
    """
    x = make.normal(2, 3, 4, seed=seed)
    state = drawn_state(make, 4, 5, seed, bias=False)
    for norm, other in (("norm1", "feed_forward.linear2"), ("norm2", "attention.out_proj")):
        block = component.build("TransformerBlock", 4, 2, 5, dropout=0.0, norm="pre", bias=False)
        result = block.load(silenced(state, norm, other))(x).output
        expect.close(
            result, x, f"the result when {norm} and {other} have only zeros", names="B T D"
        )


@pytest.mark.criterion(
    points=0.5, source="session, knowledge point 5; slides, pages 17 and 18", examples=2
)
@given(seed=SEEDS)
def test_feed_forward_reads_what_attention_left(component, expect, make, seed):
    """feed_forward reads the stream after attention was added, with every norm

    Attention adds the same vector to every token: the result is that of a block whose attention
    adds nothing, for tokens to which the vector was added before.
    """
    x, vector = make.normal(2, 3, 6, seed=seed), make.normal(6, seed=seed + 1)
    for norm in ("pre", "post", "none"):
        silent = silenced(drawn_state(make, 6, 5, seed, norm), "attention.out_proj")
        adding = silent | {"attention.out_proj.bias": vector}
        alone = silenced(adding, "feed_forward.linear2")
        block = component.build("TransformerBlock", 6, 2, 5, dropout=0.0, norm=norm)
        if norm != "post":
            what = f"with norm={norm!r}, the result if attention alone adds something"
            expect.close(block.load(alone)(x).output, x + vector, what, names="B T D")
        right = block.load(silent)(x + vector).output
        what = f"with norm={norm!r}, the result if attention adds a vector"
        expect.close(block.load(adding)(x).output, right, what, scale=5, names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 5", examples=2)
@given(seed=SEEDS, length=st.integers(1, 4))
def test_post_returns_a_normalised_stream(component, expect, make, seed, length):
    """with norm="post", every token of the result has mean 0 and variance 1"""
    x = make.normal(2, length, 6, seed=seed)
    state = drawn_state(make, 6, 5, seed, norm="none")
    block, other = (
        component.build("TransformerBlock", 6, 2, 5, dropout=0.0, norm=norm).load(state)
        for norm in ("post", "pre")
    )
    # The second time in evaluation, and after a block with norm="pre" was made.
    for on, mode in ((True, "training"), (False, "evaluation")):
        result = expect.shape(block.train(on)(x).output, x.shape, names="B T D")
        what = f"the mean of a token in {mode}"
        expect.close(result.mean(-1), torch.zeros(2, length), what, names="B T")
        variance, what = result.var(-1, correction=0), f"the variance of a token in {mode}"
        expect.close(variance, torch.ones(2, length), what, scale=50, names="B T")
        expect.that(other(x))


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 3", examples=2)
@given(seed=SEEDS)
def test_no_look_ahead(component, expect, make, seed):
    """with a causal mask, changing the last token leaves the earlier outputs unchanged

    The second mask is causal for the second sequence alone.
    """
    x = make.normal(2, 4, 6, seed=seed)
    changed = torch.cat([x[:, :-1], make.normal(2, 1, 6, seed=seed + 1)], dim=1)
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    for norm in ("pre", "post", "none"):
        block = component.build("TransformerBlock", 6, 2, 5, dropout=0.0, norm=norm)
        block.load(drawn_state(make, 6, 5, seed, norm))
        for mask, rows in ((causal, slice(0, 2)), (torch.stack([causal | True, causal]), [1])):
            before = expect.shape(block(x, mask).output, x.shape, names="B T D")
            after = expect.shape(block(changed, mask).output, x.shape, names="B T D")
            what = f"with norm={norm!r}, the result for the earlier tokens"
            expect.close(after[rows, :-1], before[rows, :-1], what, scale=2, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge points 1 and 5")
def test_evaluation(component, expect, make):
    """nothing is dropped in evaluation mode, nor in training mode with dropout=0.0"""
    x, mask = make.normal(2, 5, 4, seed=1), torch.ones(5, 5, dtype=torch.bool).tril()
    for norm in ("pre", "post", "none"):
        state = drawn_state(make, 4, 8, 2, norm)
        plain, dropping = (
            component.build("TransformerBlock", 4, 2, 8, dropout=rate, norm=norm).load(state)
            for rate in (0.0, 0.5)
        )
        found = {
            f"evaluation with {dropout=}": block.train(False).asking(seed=3)(x, mask).output
            for block, dropout in ((plain, 0.0), (dropping, 0.5))
        }
        found["training with dropout=0.0"] = plain.train().asking(seed=3)(x, mask).output
        (first, right), *others = found.items()
        expect.shape(right, x.shape, names="B T D")
        for other, result in others:
            expect.shape(result, x.shape, names="B T D")
            # This check cannot know which of the two is wrong. NaN is another check's subject.
            far = float((result - right).nan_to_num().abs().max())
            fact = f"with {norm=} and one mask, {other} and {first} differ by up to {far:.3g}"
            expect.that(far < 1e-4, fact)


@pytest.mark.criterion(points=0.5, source="session, knowledge point 5; walkthrough, introduction")
def test_dropout_after_attention(component, expect):
    """in training, dropout is applied to the output of attention, at the given rate"""
    for norm in ("pre", "post", "none"):
        options = {"dropout": 0.5}
        result = sublayer_output(component, norm, options, attention__out_proj__bias=1.0)
        expect_dropped(expect, result, norm, 0.5, "attention's output")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 5; walkthrough, feed_forward")
def test_dropout_after_feed_forward(component, expect):
    """in training, dropout is applied to the output of feed_forward, at the given rate"""
    for norm in ("pre", "post", "none"):
        options = {"dropout": 0.3}
        result = sublayer_output(component, norm, options, feed_forward__linear2__bias=1.0)
        expect_dropped(expect, result, norm, 0.3, "the feed-forward layer's output")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_dropout_inside_feed_forward(component, expect):
    """feed_forward gets the block's dropout rate

    The layer has one inner feature: if it is dropped, the block adds 0 to the token.
    """
    values = {"feed_forward__linear1__bias": 1.0, "feed_forward__linear2__weight": 1.0}
    for norm in ("pre", "none"):
        result = sublayer_output(component, norm, {"dropout": 0.5}, **values)
        expect.shape(result, (64, 4, 16), names="B T D")
        share = float((result == 0).all(dim=-1).to(torch.float64).mean())
        # 256 draws of p = 0.5 have a standard deviation of 0.03.
        expect.that(
            abs(share - 0.5) < 0.22,
            f"with norm={norm!r} and dropout=0.5, the inner feature of the feed-forward layer is "
            f"dropped for {share:.1%} of the tokens, expected about 50%",
        )


@pytest.mark.criterion(points=0.5, source="session, knowledge point 5")
def test_default_dropout(component, expect):
    """the default of dropout is 0.1"""
    result = sublayer_output(component, "pre", {}, attention__out_proj__bias=1.0)
    expect_dropped(expect, result, "pre", 0.1, "attention's output", within=0.03)


@pytest.mark.criterion(
    points=0.5, form=True, source="slides, pages 4 and 5; session, knowledge point 5", examples=2
)
@given(seed=SEEDS)
def test_stream_is_never_dropped(component, expect, make, seed):
    """dropout is applied to the sublayers' outputs, never to the stream itself"""
    x, silent = make.normal(2, 4, 6, seed=seed), ("attention.out_proj", "feed_forward.linear2")
    for norm in ("pre", "post", "none"):
        state = silenced(drawn_state(make, 6, 5, seed, norm), *silent)
        plain, dropping = (
            component.build("TransformerBlock", 6, 2, 5, rate, norm).load(state).train()
            for rate in (0.0, 0.5)
        )
        right = expect.shape(plain.asking(seed=seed)(x).output, x.shape, names="B T D")
        found = dropping.asking(seed=seed)(x).output
        what = f"with norm={norm!r}, dropout=0.5 and sublayers that return 0, the result"
        expect.close(found, right, what, scale=5, names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 8")
def test_eps_of_the_norms(component, expect):
    """both norms use the default eps of LayerNorm, 1e-5

    First attention, then the feed-forward layer returns its norm's result for [0, 0.02], which is
    0.01 / sqrt(1e-4 + 1e-5); the other sublayer returns 0.
    """
    x, one = torch.tensor([[[0.0, 0.02]]]), torch.eye(2)
    zeros = {key: torch.zeros(shape) for key, shape in parameter_shapes(2, 4).items()}
    zeros |= {"norm1.weight": torch.ones(2), "norm2.weight": torch.ones(2)}
    through = {
        "norm1": dict.fromkeys(("attention.v_linear.weight", "attention.out_proj.weight"), one),
        "norm2": {
            "feed_forward.linear1.weight": torch.cat([one, -one]),
            "feed_forward.linear2.weight": torch.cat([one, -one]).T.contiguous(),
        },
    }
    for norm, state in through.items():
        block = component.build("TransformerBlock", 2, 1, 4, dropout=0.0).load(zeros | state)
        what = f"the result with the output of {norm} alone"
        expect.close(block(x).output, [[[-0.9534626, 0.9734626]]], what, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_dtypes(component, expect, make):
    """the result has the input's dtype: float32, float64 or bfloat16"""
    x, mask = make.normal(2, 3, 6, seed=1), make.mask(2, 3, 3, seed=2)
    for norm in ("pre", "post", "none"):
        state = drawn_state(make, 6, 5, 3, norm)
        block = component.build("TransformerBlock", 6, 2, 5, dropout=0.0, norm=norm).load(state)
        right = block(x, mask).output
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            same, what = x.to(dtype), f"the result for {dtype} with {norm=}"
            found = block.to(dtype)(same, mask).output
            expect.dtype(found, dtype, what)
            # NaN under a mask is the subject of another check.
            expect.close(found.nan_to_num(), right.nan_to_num(), what, scale=4, names="B T D")


@pytest.mark.criterion(points=0.5, source="handout")
def test_gradients_flow(component, expect, make):
    """gradients reach the input and every parameter

    They must predict the effect of a small step in a random direction.
    """
    x, cotangent = (make.normal(2, 3, 6, seed=seed, dtype=torch.float64) for seed in (1, 2))
    for norm in ("pre", "post"):
        drawn = drawn_state(make, 6, 5, 3, norm)
        state = {key: value.to(torch.float64) for key, value in drawn.items()}
        # The exact gelu has no corner that a step could cross.
        options = {"dropout": 0.0, "norm": norm, "activation": "gelu"}
        block = component.build("TransformerBlock", 6, 2, 5, **options).to(torch.float64)

        def gradients(block=block, state=state):
            answer = block.load(state).asking(cotangent=cotangent)(x)
            return {"x": answer.gradients[0]} | answer.parameter_gradients

        def output(tensors, block=block, state=state):
            return block.load({name: tensors[name] for name in state})(tensors["x"]).output

        expect_slope(expect, make, gradients, output, {"x": x} | state, cotangent)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_non_contiguous(component, expect, make):
    """a transposed, strided or expanded input gives the same result as a contiguous one"""
    x = make.normal(3, 6, 6, seed=1)
    for norm in ("pre", "post", "none"):
        block = component.build("TransformerBlock", 6, 2, 5, dropout=0.0, norm=norm)
        block.load(drawn_state(make, 6, 5, 2, norm))
        for view in (x.transpose(0, 1), x[:, ::2], x[:1].expand(2, 6, 6)):
            right = block(view.contiguous()).output
            expect.close(block(view).output, right, scale=10, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_inputs_untouched(component, expect, make):
    """the input and the mask are not modified"""
    x, mask = make.normal(2, 3, 4, seed=1), make.mask(2, 3, 3, seed=2)
    for norm in ("pre", "post", "none"):
        expect.unchanged(
            component.build("TransformerBlock", 4, 2, 5, norm=norm).asking(keep_inputs=True)(
                x, mask
            ),
            x,
            mask,
        )


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_device(component, expect):
    """results are on the input's device (no hard-coded device)"""
    x = torch.empty(2, 3, 4, device="meta")
    mask = torch.empty(3, 3, dtype=torch.bool, device="meta")
    for norm in ("pre", "post", "none"):
        built = component.build("TransformerBlock", 4, 2, 5, norm=norm).to(device="meta")
        expect.follows_device(built(x, mask), (2, 3, 4), names=("B T D",))
