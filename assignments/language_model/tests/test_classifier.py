"""Public checks of classifier.py. The walkthrough's numbers are in walkthrough.json.

A check of one step uses weights with which mistakes of earlier steps do not matter.
"""

import json
from pathlib import Path

import pytest
import torch

WALKTHROUGH = json.loads((Path(__file__).parent / "walkthrough.json").read_text("utf-8"))
# The entries of trace, with their dimensions.
STEPS = {
    "embedded": "B T D",
    "query": "B H T D/H",
    "key": "B H T D/H",
    "value": "B H T D/H",
    "attention_weights": "B H T T",
    "attention_values": "B T D",
    "attention_output": "B T D",
    "after_attention": "B T D",
    "feed_forward_output": "B T D",
    "block_output": "B T D",
    "logits": "B",
}


def parameter_shapes(words, features, hidden):
    """Name the parameters of a classifier, with their shapes."""
    layers = ("q_linear", "k_linear", "v_linear", "out_proj")
    shapes = {"embedding.weight": (words, features), "classifier.weight": (1, features)}
    shapes |= {f"attention.{layer}.weight": (features, features) for layer in layers}
    shapes["feed_forward.linear1.weight"] = (hidden, features)
    shapes["feed_forward.linear2.weight"] = (features, hidden)
    return shapes


def published(name):
    """Read one of the walkthrough's tables, in float64."""
    if name == "embedded":
        return weight("embedding.weight")[token_ids()]
    return torch.tensor(WALKTHROUGH["expected"][name], dtype=torch.float64)


def weight(key):
    """Read one of the walkthrough's trained weights, in float64."""
    return torch.tensor(WALKTHROUGH["weights"][key], dtype=torch.float64)


def token_ids():
    """Return the walkthrough's sequences CLS a a c PAD and CLS b a a c (2, 5)."""
    return torch.tensor(WALKTHROUGH["token_ids"])


def token_mask():
    """Return the walkthrough's mask (2, 5, 5)."""
    return torch.tensor(WALKTHROUGH["mask"])


def trained(component):
    """Build the walkthrough's classifier, in float64."""
    state = {key: weight(key) for key in WALKTHROUGH["weights"]}
    return component.build("Classifier", 5, 2, 2, 2).train(False).to(torch.float64).load(state)


def made(component, embedding, heads=2, hidden=2, **values):
    """Build a classifier in float64 whose weights are 0, except for the embedding and these."""
    words, features = embedding.shape
    shapes = parameter_shapes(words, features, hidden)
    state = {key: torch.zeros(shape, dtype=torch.float64) for key, shape in shapes.items()}
    state["embedding.weight"] = embedding.double()
    state |= {key.replace("__", "."): value.double() for key, value in values.items()}
    built = component.build("Classifier", words, features, heads, hidden).train(False)
    return built.to(torch.float64).load(state)


def handed_over(component, vectors, **values):
    """Return the trace of sequences of two tokens, one for each vector (n, 2).

    The first token has the embedding 0, the second has the vector. There is one head, all weights
    are 1/2, and attention doubles the values. So the first token is the vector after attention,
    with or without the residual connection.
    """
    count = len(vectors)
    ids = torch.stack([torch.zeros(count, dtype=torch.int64), torch.arange(1, count + 1)], dim=1)
    table = torch.cat([torch.zeros(1, 2), vectors])
    copies = {"attention__v_linear__weight": 2 * torch.eye(2)}
    copies["attention__out_proj__weight"] = torch.eye(2)
    return made(component, table, heads=1, **copies, **values).call("trace", ids)


def step(expect, answer, name):
    """Return the entry of a trace with this name."""
    found = answer.value
    expect.that(isinstance(found, dict), "trace does not return a dictionary")
    expect.that(name in found, f"the dictionary of trace has no key {name!r}")
    tensor = isinstance(found[name], torch.Tensor)
    expect.that(tensor, f"the entry {name!r} of trace is not a tensor")
    return found[name]


@pytest.mark.criterion(points=0.25, form=True, source="walkthrough, introduction")
def test_parameters(component, expect):
    """the parameters are the weights of the four parts, without biases"""
    shapes = parameter_shapes(7, 6, 8)
    state = component.build("Classifier", 7, 6, 2, 8).state()
    for names, what in ((state.entries, "the keys"), (state.parameters, "the parameters")):
        expect.keys(list(names), list(shapes), what, learned=state.parameters)
    for name, shape in shapes.items():
        expect.shape(state.entries[name], shape, name)


@pytest.mark.criterion(points=0.5, source="walkthrough, attention, step 1")
@pytest.mark.parametrize("hidden", [[0, 1], [3], []], ids=["CLS and PAD", "b", "none"])
def test_visible_mask(component, expect, hidden):
    """visible_mask is False exactly in the columns of hidden ids, in every row"""
    ids = token_ids()
    right = torch.ones(2, 5, 5, dtype=torch.bool)
    for sequence in range(2):
        for place in range(5):
            right[sequence, :, place] = int(ids[sequence, place]) not in hidden
    found = component.call("visible_mask", ids, hidden).output
    expect.equal(found, right, f"the mask that hides {hidden}", names="B T T")


@pytest.mark.criterion(points=1, source="walkthrough, attention and feed_forward")
@pytest.mark.parametrize("name", list(STEPS))
def test_walkthrough(component, expect, name):
    """with the trained weights, trace returns the walkthrough's numbers for aac and baac"""
    answer = trained(component).call("trace", token_ids(), token_mask())
    found = step(expect, answer, name)
    expect.close(found, published(name), name, scale=2, names=STEPS[name])


@pytest.mark.criterion(points=0.5, source="walkthrough, attention, step 1")
@pytest.mark.parametrize("head", [0, 1], ids=["the first head", "the second head"])
def test_printed_weights(component, expect, head):
    """the attention weights of CLS agree with the printed digits, in both heads"""
    answer = trained(component).call("trace", token_ids(), token_mask())
    found = step(expect, answer, "attention_weights")
    found = expect.shape(found, (2, 2, 5, 5), "attention_weights", names="B H T T")[:, head, 0]
    printed = torch.tensor(WALKTHROUGH["printed"][f"attention_weights[:,{head},0]"]).double()
    hidden = printed == 0
    what = "the weight of a hidden token"
    expect.close(found[hidden], torch.zeros(int(hidden.sum())), what, names="token")
    shares = found[~hidden] / printed[~hidden]
    what = "a weight of CLS, divided by the printed weight,"
    # Five digits are printed; the last can be off by one.
    expect.close(shares, torch.ones(int((~hidden).sum())), what, scale=5, names="token")


@pytest.mark.criterion(points=0.5, source="walkthrough, attention, step 1")
@pytest.mark.parametrize("name", ["query", "key", "value"])
def test_split_into_heads(component, expect, name):
    """each head has consecutive features of q_linear, k_linear and v_linear"""
    embedding = torch.tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [0.0, 0.0, 1.0, 0.0]])
    factor = {"query": 1.0, "key": 10.0, "value": -1.0}
    layers = {"query": "q_linear", "key": "k_linear", "value": "v_linear"}
    values = {f"attention__{layers[one]}__weight": factor[one] * torch.eye(4) for one in factor}
    answer = made(component, embedding, **values).call("trace", torch.tensor([[0, 1, 2]]))
    right = factor[name] * torch.tensor(
        [[[[1.0, 2.0], [5.0, 6.0], [0.0, 0.0]], [[3.0, 4.0], [7.0, 8.0], [1.0, 0.0]]]]
    )
    expect.close(step(expect, answer, name), right, name, names=STEPS[name])


@pytest.mark.criterion(points=0.5, source="session, knowledge point 4")
def test_scaled_weights(component, expect):
    """the scores are divided by sqrt(D / H)

    With four features per head, a query of ones and keys of ones and zeros have the scores 2 and 0.
    """
    embedding = torch.stack([torch.ones(8), torch.zeros(8)])
    eye = torch.eye(8)
    values = {"attention__q_linear__weight": eye, "attention__k_linear__weight": eye}
    answer = made(component, embedding, **values).call("trace", torch.tensor([[0, 1]]))
    found = step(expect, answer, "attention_weights")
    row, even = [0.8807971, 0.1192029], [0.5, 0.5]
    expect.close(found, [[[row, even]] * 2], "attention_weights", names="B H T T")


@pytest.mark.criterion(points=0.25, source="walkthrough, attention, step 2")
def test_attention_values(component, expect):
    """attention_values is the weighted sum of the values, with the heads side by side

    With queries of 0 and without a mask all weights are equal, and the sums are means.
    """
    layer = {"attention__v_linear__weight": weight("attention.v_linear.weight")}
    built = made(component, weight("embedding.weight"), **layer)
    found = step(expect, built.call("trace", token_ids()), "attention_values")
    # (B, H, T, 1) becomes (B, 1, H), which are the two features of every token.
    right = published("value").mean(2).transpose(1, 2).expand(2, 5, 2)
    expect.close(found, right, "attention_values", names="B T D")


@pytest.mark.criterion(points=0.25, source="walkthrough, attention, step 3")
def test_attention_output(component, expect):
    """attention_output is out_proj(attention_values)

    In a sequence of one token, attention_values are the embeddings.
    """
    table = published("attention_values").flatten(0, 1)
    values = {"attention__v_linear__weight": torch.eye(2)}
    values["attention__out_proj__weight"] = weight("attention.out_proj.weight")
    answer = made(component, table, **values).call("trace", torch.arange(10)[:, None])
    right = published("attention_output").flatten(0, 1)[:, None]
    found = step(expect, answer, "attention_output")
    expect.close(found, right, "attention_output", names="B T D")


@pytest.mark.criterion(
    points=0.5, form=True, source="walkthrough, attention, step 3, and feed_forward"
)
@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("after_attention", "embedded", "attention_output"),
        ("block_output", "after_attention", "feed_forward_output"),
    ],
    ids=["after_attention", "block_output"],
)
def test_residual_connections(component, expect, name, one, other):
    """after_attention and block_output are residual sums of your own steps"""
    answer = trained(component).call("trace", token_ids(), token_mask())
    # NaN from an earlier step is the subject of that step's check.
    names = (name, one, other)
    steps = [expect.shape(step(expect, answer, part), (2, 5, 2), part) for part in names]
    found, *parts = (part.nan_to_num() for part in steps)
    expect.close(found, parts[0] + parts[1], name, scale=2, names="B T D")


@pytest.mark.criterion(points=0.5, source="handout")
def test_feed_forward_output(component, expect):
    """feed_forward_output is linear2(gelu(linear1(after_attention)))"""
    layers = ("feed_forward.linear1.weight", "feed_forward.linear2.weight")
    values = {key.replace(".", "__"): weight(key) for key in layers}
    answer = handed_over(component, published("after_attention").flatten(0, 1), **values)
    found = step(expect, answer, "feed_forward_output")
    found = expect.shape(found, (10, 2, 2), "feed_forward_output", names="B T D")[:, 0]
    right = published("feed_forward_output").flatten(0, 1)
    expect.close(found, right, "feed_forward_output", scale=2, names="token D")


@pytest.mark.criterion(points=0.25, form=True, source="walkthrough, introduction and feed_forward")
def test_logits(component, expect):
    """logits is classifier.weight times the first token's block_output, of shape (B,)"""
    values = {"classifier__weight": weight("classifier.weight")}
    vectors = published("block_output")[:, 0]
    answer = handed_over(component, vectors, **values)
    block = step(expect, answer, "block_output")
    block = expect.shape(block, (2, 2, 2), "block_output", names="B T D")[:, 0]
    # The expected logits use your own block_output.
    right = block @ weight("classifier.weight")[0].to(block.dtype)
    expect.close(step(expect, answer, "logits"), right, "logits", scale=2, names="B")


@pytest.mark.criterion(points=0.25, source="walkthrough, feed_forward")
def test_forward(component, expect):
    """forward returns the logits -8.2945 for aac and 10.9587 for baac, in any batch"""
    model, ids, mask = trained(component), token_ids(), token_mask()
    found, right = model(ids, mask).output, [-8.29451942, 10.958724]
    expect.close(found, right, "the vector of logits", scale=2, names="B")
    # A second module with other settings must not change the first.
    expect.that(component.build("Classifier", 3, 4, 1, 3)(torch.tensor([[0, 2]])))
    found = model(ids.flip(0), mask.flip(0)).output
    what = "the vector of logits of baac and aac, in a second call,"
    expect.close(found, right[::-1], what, scale=2, names="B")
    found = model(ids[:1], mask[:1]).output
    expect.close(found, right[:1], "the vector of logits of aac alone", scale=2, names="B")


@pytest.mark.criterion(points=0.25, source="walkthrough, introduction")
def test_no_dropout(component, expect, make):
    """training mode gives the same logits and gradients as evaluation mode (no dropout)"""
    state = make.state(parameter_shapes(5, 8, 64), seed=1)
    ids, mask = make.integers(4, 5, seed=2, below=5), make.mask(4, 5, 5, seed=3)
    answers = []
    for training in (True, False):
        built = component.build("Classifier", 5, 8, 2, 64).load(state).train(training)
        answers.append(built.asking(seed=3, cotangent=torch.ones(4))(ids, mask))
    # NaN under a mask is the subject of another check.
    found = [expect.shape(answer.output, (4,), names="B").nan_to_num() for answer in answers]
    what = "the vector of logits in training, minus that in evaluation,"
    expect.close(found[0] - found[1], torch.zeros(4), what, scale=5, names="B")
    for name, shape in parameter_shapes(5, 8, 64).items():
        both = [answer.parameter_gradients.get(name) for answer in answers]
        # A missing gradient in both modes is the subject of another check.
        none = torch.zeros(shape)
        pair = [none if one is None else one.nan_to_num() for one in both]
        what = f"the gradient of {name} in training, minus that in evaluation,"
        expect.close(pair[0] - pair[1], none, what, scale=20)


@pytest.mark.criterion(points=0.25, source="handout")
@pytest.mark.parametrize("kind", [torch.int64, torch.bool], ids=["integers", "booleans"])
def test_cross_entropy(component, expect, kind):
    """the cross-entropy of the logits 0, 2 and -1 with the labels 1, 1 and 0 is 0.3777790"""
    logits = torch.tensor([0.0, 2.0, -1.0], dtype=torch.float64)
    found = component.call("cross_entropy", logits, torch.tensor([1, 1, 0]).to(kind)).output
    expect.close(found, torch.tensor(0.3777790).double(), "the cross-entropy", like=logits)


@pytest.mark.criterion(points=0.5, source="handout")
@pytest.mark.parametrize("size", [200.0, 40_000.0], ids=["logits of 200", "logits of 40,000"])
def test_cross_entropy_of_large_logits(component, expect, size):
    """the cross-entropy of a large logit is right, not infinity or NaN"""
    for logit, right in ((-size, size), (size, 0.0)):
        found = component.call("cross_entropy", torch.tensor([logit]), torch.tensor([1])).output
        what = f"the cross-entropy of the logit {logit:g} with the label 1"
        expect.close(found, torch.tensor(right), what)


@pytest.mark.criterion(points=0.25, source="handout")
def test_accuracy(component, expect):
    """accuracy is the share of correct labels; a logit of 0 predicts label 0"""
    logits = torch.tensor([2.0, -1.0, 0.25, 0.0, -3.0])
    for labels, right in (([1, 0, 0, 0, 1], 0.6), ([1, 0, 1, 0, 0], 1.0), ([0, 0, 0, 1, 0], 0.4)):
        found = component.call("accuracy", logits, torch.tensor(labels)).number
        expect.same(float(found), right, f"the accuracy for the labels {labels}")


@pytest.mark.criterion(points=0.25, form=True, source="handout")
def test_device(component, expect):
    """results are on the input's device (no hard-coded device)"""
    ids = torch.zeros(2, 4, dtype=torch.int64, device="meta")
    mask = torch.ones(2, 4, 4, dtype=torch.bool, device="meta")
    found = component.call("visible_mask", ids, [0, 1])
    expect.follows_device(found, (2, 4, 4), names=("B T T",))
    built = component.build("Classifier", 5, 4, 2, 3).to(device="meta")
    expect.follows_device(built(ids, mask))


@pytest.mark.criterion(points=0.25, source="walkthrough, attention, step 1")
def test_mask_beats_every_score(component, expect):
    """masked weights are exactly 0 and no weight is NaN, even with very large scores

    The scores of three visible tokens and a hidden one are -40000, -40001, -40002 and 0 or so.
    """
    table = torch.tensor([[200.0, 0.0], [-200.0, 0.0], [-200.005, 0.0], [-200.01, 0.0]])
    eye = torch.eye(2)
    values = {"attention__q_linear__weight": eye, "attention__k_linear__weight": eye}
    mask = torch.tensor([False, True, True, True]).repeat(1, 4, 1)
    built = made(component, table, heads=1, **values)
    found = step(expect, built.call("trace", torch.arange(4)[None], mask), "attention_weights")
    found = expect.shape(found, (1, 1, 4, 4), "attention_weights", names="B H T T")
    expect.finite(found, torch.zeros(1, 1, 4, 4), "attention_weights", names="B H T T")
    hidden = bool((found[..., 0] == 0).all())
    expect.that(hidden, "the weight of a hidden token is not exactly 0")
    sums, what = found.sum(-1), "the sum of a row of weights"
    # In float32, 40000 has two digits behind the point.
    expect.close(sums, torch.ones(1, 1, 4), what, scale=1000, names="B H T")


@pytest.mark.criterion(points=0.25, form=True, source="handout")
def test_dtypes(component, expect, make):
    """the logits have the dtype of the parameters: float32, float64 or bfloat16"""
    ids, mask = make.integers(2, 4, seed=1, below=5), make.mask(2, 4, 4, seed=2)
    state = make.state(parameter_shapes(5, 6, 5), seed=3, dtype=torch.bfloat16)
    right = None
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        typed = {key: value.to(dtype) for key, value in state.items()}
        built = component.build("Classifier", 5, 6, 2, 5).train(False).to(dtype).load(typed)
        found, what = built(ids, mask).output, f"the vector of logits for {dtype}"
        expect.dtype(found, dtype, what)
        right = found if right is None else right
        expect.close(found, right, what, scale=4)


@pytest.mark.criterion(points=0.25, form=True, source="handout")
def test_inputs(component, expect, make):
    """token ids may be transposed; ids, masks, logits and labels are not modified"""
    ids, mask = make.integers(4, 4, seed=1, below=5).T, make.mask(4, 4, 4, seed=2)
    state = make.state(parameter_shapes(5, 6, 5), seed=3)
    built = component.build("Classifier", 5, 6, 2, 5).train(False).load(state)
    plain = built(ids.contiguous(), mask).output
    answer = built.asking(keep_inputs=True)(ids, mask)
    expect.close(
        answer.output, plain, "the vector of logits of transposed tokens", scale=2, names="B"
    )
    expect.unchanged(answer, ids, mask)
    plain = component.call("visible_mask", ids.contiguous(), [1]).output
    answer = component.asking(keep_inputs=True).call("visible_mask", ids, [1])
    expect.equal(answer.output, plain, "the mask of transposed tokens", names="B T T")
    expect.unchanged(answer, ids)
    logits, labels = torch.tensor([2.0, -1.0, 0.5]), torch.tensor([0, 0, 1])
    for name in ("cross_entropy", "accuracy"):
        expect.unchanged(
            component.asking(keep_inputs=True).call(name, logits, labels), logits, labels
        )
