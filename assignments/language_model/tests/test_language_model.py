"""Public checks of language_model.py. Source: slides, pages 28 to 31; they print no numbers."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
ATTENTION = ("q_linear", "k_linear", "v_linear", "out_proj")
# The worked example: three words of two features, each word one row.
WORDS = torch.tensor([[3.0, 1.0], [1.0, 3.0], [2.0, -2.0]])
# The worked example of the loss: probabilities at every position, and the tokens.
CHANCES = torch.tensor([[[1 / 2, 3 / 8, 1 / 8], [3 / 4, 1 / 8, 1 / 8], [1 / 3, 1 / 3, 1 / 3]]])
SENTENCE = torch.tensor([[2, 0, 1]])


def parameter_shapes(words, length, features, hidden=4, layers=0):
    """Name the parameters of a language model, with their shapes."""
    shapes = {"token_embedding.weight": (words, features), "positions.weight": (length, features)}
    for number in range(layers):
        block = f"blocks.{number}"
        for name in ATTENTION:
            shapes[f"{block}.attention.{name}.weight"] = (features, features)
            shapes[f"{block}.attention.{name}.bias"] = (features,)
        shapes[f"{block}.feed_forward.linear1.weight"] = (hidden, features)
        shapes[f"{block}.feed_forward.linear1.bias"] = (hidden,)
        shapes[f"{block}.feed_forward.linear2.weight"] = (features, hidden)
        shapes[f"{block}.feed_forward.linear2.bias"] = (features,)
        for name in ("norm1", "norm2"):
            shapes[f"{block}.{name}.weight"] = (features,)
            shapes[f"{block}.{name}.bias"] = (features,)
    shapes |= {"final_norm.weight": (features,), "final_norm.bias": (features,)}
    return {f"encoder.{key}": shape for key, shape in shapes.items()}


def build(component, make, seed, layers=1, dropout=0.0):
    """Build a random model of 7 words, 5 positions and 4 features, in evaluation mode."""
    built = component.build("LanguageModel", 7, 5, 4, 2, 6, layers, dropout)
    return built.load(make.state(parameter_shapes(7, 5, 4, 6, layers), seed=seed)).train(False)


def without_blocks(component, embedding, scale, bias):
    """Build a model that has no blocks: its embedding, positions of zeros, and the final norm."""
    words, features = embedding.shape
    return component.build("LanguageModel", words, 6, features, 1, 4, 0, 0.0).load(
        {
            "encoder.token_embedding.weight": embedding,
            "encoder.positions.weight": torch.zeros(6, features),
            "encoder.final_norm.weight": torch.full((features,), scale),
            "encoder.final_norm.bias": torch.as_tensor(bias),
        }
    )


@pytest.mark.criterion(points=0.5, form=True, source="slides, page 30")
def test_parameters(component, expect):
    """the parameters are those of an encoder with norm="pre", and no others"""
    shapes = parameter_shapes(7, 5, 4, 6, 2)
    state = component.build("LanguageModel", 7, 5, 4, 2, 6, 2).state()
    for found, what in ((state.entries, "the keys"), (state.parameters, "the parameters")):
        expect.keys(list(found), list(shapes), what, learned=state.parameters)
    for name, shape in shapes.items():
        expect.shape(state.entries[name], shape, name)


@pytest.mark.criterion(points=0.5, source="slides, page 30")
def test_worked_example(component, expect):
    """after each of the words 0 and 2 of the worked example, the logits are [2, -2, 4]"""
    model = without_blocks(component, WORDS, 1.0, [0.0, 0.0])
    right = [[[2.0, -2.0, 4.0], [2.0, -2.0, 4.0], [-2.0, 2.0, -4.0]]]
    # The norm's eps of 1e-5 lowers the logits by up to 2e-5.
    expect.close(model(torch.tensor([[0, 2, 1]])).output, right, scale=2, names="B T V")


@pytest.mark.criterion(points=0.5, source="slides, page 30", examples=2)
@given(seed=SEEDS, words=st.integers(2, 6), features=st.integers(2, 5))
def test_head_is_the_embedding(component, expect, make, seed, words, features):
    """the logits are the products with every word's embedding, without a bias

    A final norm with weight 0 returns its bias for every input.
    """
    embedding, bias = make.normal(words, features, seed=seed), make.normal(features, seed=seed + 1)
    model = without_blocks(component, embedding, 0.0, bias)
    right = (embedding * bias).sum(-1).expand(1, 2, words)
    what = "the result for equal vectors of all tokens"
    expect.close(model(torch.tensor([[1, 0]])).output, right, what, names="B T V")


@pytest.mark.criterion(points=0.5, form=True, source="session, knowledge point 3", examples=2)
@given(seed=SEEDS, place=st.integers(1, 4))
def test_no_look_ahead(component, expect, make, seed, place):
    """changing tokens leaves the outputs of earlier positions unchanged, in both modes"""
    tokens = make.integers(2, 5, seed=seed, below=7)
    other = torch.cat([tokens[:, :place], (tokens[:, place:] + 3) % 7], dim=1)
    model = build(component, make, seed, layers=2)
    for mode in ("evaluation", "training"):
        model.train(mode == "training")
        before = expect.shape(model(tokens).output, (2, 5, 7), names="B T V")
        after = expect.shape(model(other).output, (2, 5, 7), names="B T V")
        what = f"in {mode} mode, the result at the earlier positions"
        expect.close(after[:, :place], before[:, :place], what, scale=5, names="B T V")


@pytest.mark.criterion(points=0.5, source="slides, page 28", examples=2)
@given(seed=SEEDS)
def test_looks_back(component, expect, make, seed):
    """the output depends on the token itself and on earlier ones, at every length up to max_len"""
    tokens = make.integers(1, 5, seed=seed, below=7)
    other = torch.cat([(tokens[:, :1] + 3) % 7, tokens[:, 1:]], dim=1)
    model = build(component, make, seed)
    whole = expect.shape(model(tokens).output, (1, 5, 7), names="B T V")
    changed = expect.shape(model(other).output, (1, 5, 7), names="B T V")
    moved = (changed - whole).abs().amax(-1)[0]
    expect.that(
        bool((moved[1:] > 1e-6).all()),
        "changing the first token does not change the outputs of all later positions",
    )
    # A second model with other settings must not change the first.
    expect.that(without_blocks(component, WORDS, 1.0, [0.0, 0.0])(torch.tensor([[0]])))
    for length in (1, 3):
        found, what = model(tokens[:, :length]).output, f"the result for the first {length}"
        expect.close(found, whole[:, :length], what, scale=5, names="B T V")
    # What every value has in common is in every result, if the weights of each query sum to 1.
    state = make.state(parameter_shapes(7, 5, 4, 6, 1), seed=seed)
    state["encoder.blocks.0.attention.v_linear.bias"] += make.normal(4, seed=seed + 1)
    other = expect.shape(model.load(state)(tokens).output, (1, 5, 7), names="B T V")
    expect.that(
        float((other - whole)[0, 0].abs().max()) > 1e-6,
        "the first position does not attend to itself: a bias of the values changes nothing there",
    )


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_too_long(component, expect, make):
    """more than max_len tokens raise ValueError"""
    model = build(component, make, 1)
    expect.raises(model(make.integers(1, 6, seed=1, below=7)), "ValueError")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 5")
def test_dropout(component, expect, make):
    """in training, only the blocks apply dropout, at the given rate (by default 0.1)

    With a rate of 1 every block adds 0, as if there were no blocks. The other model's block adds
    a bias of 1 to its stream; a dropped feature has the smaller of two values.
    """
    tokens = make.integers(2, 4, seed=1, below=7)
    bare = build(component, make, 2, layers=0)(tokens).output
    state = make.state(parameter_shapes(7, 5, 4, 6), seed=2)
    model = component.build("LanguageModel", 7, 5, 4, 2, 6, 1, 1.0).load(state)
    found = model.train()(tokens).output
    expect.close(found, bare, "the result with dropout=1.0 in training", scale=5, names="B T V")

    eye = torch.cat([torch.zeros(1, 16), torch.eye(16)])
    zeros = {k: torch.zeros(shape) for k, shape in parameter_shapes(17, 8, 16, 4, 1).items()}
    zeros |= {"encoder.token_embedding.weight": eye, "encoder.final_norm.weight": torch.ones(16)}
    zeros["encoder.blocks.0.feed_forward.linear2.bias"] = torch.ones(16)
    model = component.build("LanguageModel", 17, 8, 16, 2, 4, 1).load(zeros)
    logits = model.train().asking(seed=3)(torch.zeros(24, 8, dtype=torch.int64)).output
    logits = expect.shape(logits, (24, 8, 17), names="B T V")[..., 1:]
    middle = (logits.amax(-1, keepdim=True) + logits.amin(-1, keepdim=True)) / 2
    share = float((logits < middle - 1e-4).double().mean())
    # 3072 draws of p = 0.1 have a standard deviation of 0.006.
    fact = f"by default, {share:.1%} of a block's additions are dropped, expected about 10%"
    expect.that(abs(share - 0.1) < 0.035, fact)


@pytest.mark.criterion(points=0.5, source="handout")
def test_worked_loss(component, expect):
    """if the next words have the probabilities 1/2 and 1/8, the loss is 1.386"""
    answer = component.call("next_token_loss", CHANCES.log(), SENTENCE)
    expect.close(answer.output, torch.tensor(2 * math.log(2)), "the loss")


@pytest.mark.criterion(points=0.5, source="handout", free=True)
def test_untrained(component, expect, make):
    """an untrained model knows nothing: its loss is about ln V, and its perplexity about V

    With embeddings of deviation 1 instead of 0.02, it is sure of wrong words, and the loss is 14.
    """
    model = component.build("LanguageModel", 50, 40, 16, 2, 32, 2, 0.0).train(False)
    tokens = make.integers(8, 40, seed=1, below=50)
    logits = expect.shape(model(tokens).output, (8, 40, 50), "the tensor of logits", names="B T V")
    loss = component.call("next_token_loss", logits, tokens).output
    loss = expect.shape(loss, (), "the loss")
    right = math.log(50)
    fact = f"the loss of an untrained model of 50 words is {float(loss):.3f}, expected about ln 50"
    expect.that(abs(float(loss) - right) < 0.1, fact, detail=f"ln 50 = {right:.3f}")
    words = component.call("perplexity", loss).output
    words = float(expect.shape(words, (), "the perplexity"))
    expect.that(45 < words < 56, f"the perplexity is {words:.1f}, expected about 50")


@pytest.mark.criterion(points=0.5, form=True, source="handout", examples=2)
@given(seed=SEEDS)
def test_who_is_foretold(component, expect, make, seed):
    """the loss compares logits 0 ... T-2 with tokens 1 ... T-1"""
    logits, tokens = make.normal(2, 4, 5, seed=seed), make.integers(2, 4, seed=seed, below=5)
    loss = component.call("next_token_loss", logits, tokens).output
    other_logits = torch.cat([logits[:, :-1], logits[:, -1:].flip(-1) + 1], dim=1)
    other_tokens = torch.cat([(tokens[:, :1] + 1) % 5, tokens[:, 1:]], dim=1)
    for args, what in (
        ((other_logits, tokens), "the loss with other logits at the last position"),
        ((logits, other_tokens), "the loss with another first token"),
    ):
        found = component.call("next_token_loss", *args).output
        expect.close(found, loss, what)


@pytest.mark.criterion(points=0.5, source="handout")
@pytest.mark.parametrize("pad", [0, 3], ids=["the id 0", "the id 3"])
def test_padding(component, expect, pad):
    """a position whose next token is pad_id does not count in the loss

    The targets have the probabilities 1/2 and 1/8 in one sequence, and 1/2 in the others, of which
    one starts and ends with padding, and one has it in the middle. The mean of the four losses is
    3/2 · ln 2.
    """
    one, two, three = (1, 2, 4) if pad == 0 else (1, 0, 2)
    tokens = torch.tensor([[three, one, two], [pad, two, pad], [one, pad, two]])
    chances = torch.full((3, 3, 5), 1 / 8)
    likely = ((0, 0, one), (0, 1, three), (1, 0, two), (1, 1, one), (2, 0, three), (2, 1, two))
    for row, place, word in likely:
        chances[row, place, word] = 1 / 2
    chances[:, 2] = 1 / 5
    answer = component.call("next_token_loss", chances.log(), tokens, pad)
    expect.close(answer.output, torch.tensor(3 / 2 * math.log(2)), "the loss")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
@pytest.mark.parametrize("case", ["one token", "only padding follows"])
def test_nothing_to_foretell(component, expect, case):
    """if no position counts, next_token_loss raises ValueError"""
    tokens = torch.tensor([[2]]) if case == "one token" else torch.tensor([[2, 1, 1], [0, 1, 1]])
    pad = () if case == "one token" else (1,)
    answer = component.call("next_token_loss", torch.zeros(*tokens.shape, 3), tokens, *pad)
    expect.raises(answer, "ValueError")


@pytest.mark.criterion(points=0.5, source="handout", examples=2)
@given(words=st.integers(1, 40))
def test_perplexity(component, expect, words):
    """the perplexity of the loss 1.386 is 4, and that of equal probabilities is the word count"""
    found = component.call("perplexity", torch.tensor(2 * math.log(2))).output
    expect.close(found, torch.tensor(4.0), "the perplexity of 1.386")
    found = component.call("perplexity", torch.tensor(20.0)).output
    expect.close(found, torch.tensor(math.exp(20)), "the perplexity of 20", scale=5)
    found = component.call("perplexity", torch.tensor(math.log(words))).output
    expect.close(found, torch.tensor(float(words)), "the perplexity", scale=5)


@pytest.mark.criterion(points=0.5, source="handout")
def test_large_logits(component, expect):
    """logits of some tens of thousands give a correct loss, not NaN or infinity

    A very unlikely next token has a large loss: 200, if its logit is 0 and the logit of the only
    other word is 200.
    """
    for size in (200.0, 30000.0):
        unlikely = torch.tensor([[[0.0, size], [0.0, 0.0]]])
        found = component.call("next_token_loss", unlikely, torch.tensor([[1, 0]])).output
        what = f"the loss of the next token 0 with the logits 0 and {size:g}"
        expect.close(found, torch.tensor(size), what)
    logits = torch.tensor([[[30000.0, 0.0, 29998.0], [-20000.0, -20000.0, -40000.0], [0.0] * 3]])
    answer = component.call("next_token_loss", logits, torch.tensor([[1, 2, 0]]))
    right = (2 + math.log1p(math.exp(-2)) + math.log(2)) / 2
    expect.close(answer.output, torch.tensor(right), "the loss", scale=200)


@pytest.mark.criterion(points=0.5, source="handout")
def test_dtypes(component, expect, make):
    """logits have the parameters' dtype, the loss the logits' dtype, perplexity the loss's"""
    tokens, model = make.integers(2, 3, seed=1, below=7), build(component, make, 2)
    logits = expect.shape(model(tokens).output, (2, 3, 7), names="B T V")
    loss = component.call("next_token_loss", logits, tokens).output
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        found, like = model.to(dtype)(tokens).output, torch.zeros((), dtype=dtype)
        expect.close(
            found, logits, f"the tensor of logits in {dtype}", like=like, scale=4, names="B T V"
        )
        found = component.call("next_token_loss", logits.to(dtype), tokens).output
        expect.close(found, loss, f"the loss in {dtype}", like=like, scale=2)
        right = torch.exp(loss.double())
        found = component.call("perplexity", loss.to(dtype)).output
        expect.close(found, right, f"the perplexity in {dtype}", like=like, scale=2)


@pytest.mark.criterion(points=0.5, source="handout")
def test_gradients_flow(component, expect, make):
    """gradients reach the embedding from both of its uses, and every other parameter

    Gradients also flow from loss and perplexity. In the first model, the final norm returns its
    bias, so only the head uses the embedding.
    """
    bias, cotangent = torch.tensor([2.0, 1.0]), make.normal(1, 2, 3, seed=1)
    model = without_blocks(component, WORDS, 0.0, bias)
    answer = model.asking(cotangent=cotangent)(torch.tensor([[0, 1]]))
    expect.that(answer)
    found = answer.parameter_gradients.get("encoder.token_embedding.weight")
    right = cotangent.sum(1).T * bias
    expect.close(found, right, "the gradient of the embedding in the head", scale=2, names="V D")

    cotangent, tokens = make.normal(2, 5, 7, seed=2), make.integers(2, 5, seed=3, below=7)
    answer = build(component, make, 4).asking(cotangent=cotangent)(tokens)
    expect.that(answer)
    for name, shape in parameter_shapes(7, 5, 4, 6, 1).items():
        if "k_linear.bias" in name:
            continue  # a softmax ignores a constant added to all scores of a row
        found, what = answer.parameter_gradients.get(name), f"the gradient of {name}"
        if found is None:
            expect.close(None, torch.zeros(shape), what)
        expect.shape(found, shape, what)
        expect.that(not bool(found.isnan().any()), f"{what} is NaN")
        expect.that(bool((found.abs() > 0).any()), f"{what} is 0 everywhere")

    logits = torch.zeros(1, 2, 2)
    asked = component.asking(cotangent=torch.tensor(1.0))
    answer = asked.call("next_token_loss", logits, torch.tensor([[0, 1]]))
    expect.that(answer)
    right = [[[0.5, -0.5], [0.0, 0.0]]]
    expect.close(answer.gradients[0], right, "the gradient of the logits", names="B T V")
    answer = asked.call("perplexity", torch.tensor(2.0))
    expect.that(answer)
    what = "the gradient of the loss through the perplexity"
    expect.close(answer.gradients[0], torch.tensor(math.exp(2)), what, scale=2)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_inputs(component, expect, make):
    """inputs may be transposed, strided or expanded, and are not modified"""
    tokens, logits = make.integers(4, 4, seed=1, below=7), make.normal(4, 4, 7, seed=2)
    model = build(component, make, 3)
    for view in (tokens.T, tokens[:, ::2], tokens[:1].expand(3, 4)):
        right = model(view.contiguous()).output
        expect.close(model(view).output, right, scale=5, names="B T V")
        some = logits.transpose(0, 1)[: view.shape[0], : view.shape[1]]
        right = component.call("next_token_loss", some.contiguous(), view.contiguous()).output
        found = component.call("next_token_loss", some, view).output
        expect.close(found, right, "the loss")
    expect.unchanged(model.asking(keep_inputs=True)(tokens), tokens)
    asked = component.asking(keep_inputs=True)
    expect.unchanged(asked.call("next_token_loss", logits, tokens, 0), logits, tokens)
    loss = torch.tensor(0.5)
    expect.unchanged(asked.call("perplexity", loss), loss)


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_device(component, expect):
    """the logits are on the input's device (no hard-coded device)"""
    model = component.build("LanguageModel", 7, 5, 4, 2, 6, 1).to(device="meta")
    tokens = torch.zeros(2, 3, dtype=torch.int64, device="meta")
    expect.follows_device(model(tokens), (2, 3, 7), names=("B T V",))
