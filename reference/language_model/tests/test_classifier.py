"""Hidden checks of classifier.py: comparison with the reference, and of each step with its own."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
# B, T, F, then H with D / H: as many sequences as heads first.
SIZES = st.tuples(
    *(st.sampled_from(n) for n in ([2, 3, 1], [4, 3, 2], [5, 8, 1])),
    st.sampled_from([(2, 3), (3, 2), (4, 2), (1, 4)]),
)
WORDS = 6
STEPS = ("embedded", "query", "key", "value", "attention_weights", "attention_values")
STEPS += ("attention_output", "after_attention", "feed_forward_output", "block_output", "logits")


def drawn_state(make, features, hidden, seed, dtype=torch.float64):
    """Make a random tensor for every parameter."""
    layers = ("q_linear", "k_linear", "v_linear", "out_proj")
    shapes = {"embedding.weight": (WORDS, features), "classifier.weight": (1, features)}
    shapes |= {f"attention.{layer}.weight": (features, features) for layer in layers}
    shapes["feed_forward.linear1.weight"] = (hidden, features)
    shapes["feed_forward.linear2.weight"] = (features, hidden)
    # Rounded to bfloat16, so that every dtype holds the same numbers.
    state = make.state(shapes, seed=seed, dtype=torch.bfloat16, deviation=0.7)
    return {key: value.to(dtype) for key, value in state.items()}


def classifier(source, make, sizes, seed, dtype=torch.float64):
    """Build a classifier with random parameters."""
    hidden, (heads, size) = sizes[2:]
    state = drawn_state(make, heads * size, hidden, seed, dtype)
    built = source.build("Classifier", WORDS, heads * size, heads, hidden).train(False)
    return built.to(dtype).load(state)


def draw_ids(make, sizes, seed):
    """Draw tokens (B, T)."""
    return make.integers(sizes[0], sizes[1], seed=seed, below=WORDS)


def draw_mask(make, sizes, seed, masked=True):
    """Draw a mask (B, T, T), or None."""
    return make.mask(sizes[0], sizes[1], sizes[1], seed=seed) if masked else None


def step(expect, answer, name, shape):
    """Return the entry of a trace with this name, and check its shape."""
    found = answer.value
    expect.that(isinstance(found, dict), "trace does not return a dictionary")
    expect.that(name in found, f"the dictionary of trace has no key {name!r}")
    tensor = isinstance(found[name], torch.Tensor)
    expect.that(tensor, f"the entry {name!r} of trace is not a tensor")
    return expect.shape(found[name], shape, name)


def next_step(name, found, state, sizes, ids, mask):
    """Compute a step from the steps before it; `found` returns a step by its name."""
    heads, size = sizes[3]
    batch, length = ids.shape
    if name == "embedded":
        return state["embedding.weight"][ids]
    if name in ("query", "key", "value"):
        layer = state[f"attention.{name[0]}_linear.weight"]
        projected = F.linear(found("embedded"), layer)
        return projected.reshape(batch, length, heads, size).transpose(1, 2)
    if name == "attention_weights":
        scores = torch.einsum("bhqd,bhkd->bhqk", found("query"), found("key")) / size**0.5
        return scores.masked_fill(~mask[:, None], float("-inf")).softmax(-1)
    if name == "attention_values":
        mixed = torch.einsum("bhqk,bhkd->bqhd", found("attention_weights"), found("value"))
        return mixed.reshape(batch, length, heads * size)
    if name == "attention_output":
        return F.linear(found("attention_values"), state["attention.out_proj.weight"])
    if name == "after_attention":
        return found("embedded") + found("attention_output")
    if name == "feed_forward_output":
        inside = F.linear(found("after_attention"), state["feed_forward.linear1.weight"])
        return F.linear(F.gelu(inside), state["feed_forward.linear2.weight"])
    if name == "block_output":
        return found("after_attention") + found("feed_forward_output")
    return F.linear(found("block_output")[:, 0], state["classifier.weight"])[:, 0]


@pytest.mark.criterion(points=1, source="walkthrough, attention and feed_forward")
@given(seed=SEEDS, sizes=SIZES, masked=st.sampled_from([True, True, False]))
def test_random(component, reference, expect, make, seed, sizes, masked):
    """the logits are right for random parameters, tokens and masks"""
    ids, mask = draw_ids(make, sizes, seed), draw_mask(make, sizes, seed, masked)
    right = classifier(reference, make, sizes, seed)(ids, mask).output
    found = classifier(component, make, sizes, seed)(ids, mask).output
    expect.close(found, right, "the logits", scale=5, names="B")


@pytest.mark.criterion(
    points=1.5, form=True, source="walkthrough, attention and feed_forward", examples=2
)
@pytest.mark.parametrize("name", STEPS)
@given(seed=SEEDS, sizes=SIZES)
def test_steps(component, expect, make, seed, sizes, name):
    """every step of trace follows from your own previous steps, for random parameters"""
    batch, length, hidden, (heads, size) = sizes
    ids, mask = draw_ids(make, sizes, seed), draw_mask(make, sizes, seed)
    answer = classifier(component, make, sizes, seed).call("trace", ids, mask)
    split, whole = (batch, heads, length, size), (batch, length, heads * size)
    shapes = dict.fromkeys(STEPS, whole) | dict.fromkeys(("query", "key", "value"), split)
    shapes |= {"attention_weights": (batch, heads, length, length), "logits": (batch,)}

    def found(name):
        return step(expect, answer, name, shapes[name]).double()

    state = drawn_state(make, heads * size, hidden, seed)
    right = next_step(name, found, state, sizes, ids, mask)
    expect.close(found(name), right, name, scale=3)


@pytest.mark.criterion(points=0.5, source="walkthrough, introduction", examples=2)
@given(seed=SEEDS, sizes=SIZES)
def test_gradients(component, reference, expect, make, seed, sizes):
    """the gradients of all parameters are right"""
    ids, mask = draw_ids(make, sizes, seed), draw_mask(make, sizes, seed)
    cotangent = make.normal(sizes[0], seed=seed, dtype=torch.float64)
    gradients = []
    for source in (component, reference):
        built = classifier(source, make, sizes, seed).asking(cotangent=cotangent)
        answer = built(ids, mask)
        expect.shape(answer.output, (sizes[0],), "the logits", names="B")
        gradients.append(answer.parameter_gradients)
    for name, gradient in gradients[1].items():
        expect.close(gradients[0].get(name), gradient, f"the gradient of {name}", scale=20)


@pytest.mark.criterion(points=0.25, source="handout")
def test_one_of_everything(component, reference, expect, make):
    """the logits are right for one sequence of one token, one head, D = 1 and d_ff = 1"""
    sizes = (1, 1, 1, (1, 1))
    ids, mask = draw_ids(make, sizes, 3), torch.ones(1, 1, 1, dtype=torch.bool)
    right = classifier(reference, make, sizes, 4)(ids, mask).output
    found = classifier(component, make, sizes, 4)(ids, mask).output
    expect.close(found, right, "the logits", names="B")


@pytest.mark.criterion(points=0.25, source="walkthrough, attention, step 1", examples=2)
@given(seed=SEEDS, batch=st.sampled_from([2, 1, 3]), length=st.sampled_from([4, 2, 1]))
def test_visible_mask_of_any_size(component, reference, expect, make, seed, batch, length):
    """visible_mask is right for random tokens and any number of hidden ids"""
    ids = make.integers(batch, length, seed=seed, below=5)
    hidden = [seed % 5, (seed + 2) % 5, 7][: seed % 4]
    right = reference.call("visible_mask", ids, hidden).output
    found = component.call("visible_mask", ids, hidden).output
    expect.equal(found, right, "the mask", names="B T T")


@pytest.mark.criterion(points=0.25, source="handout", examples=2)
@given(seed=SEEDS, batch=st.integers(1, 6))
def test_cross_entropy_random(component, reference, expect, make, seed, batch):
    """the cross-entropy is right for random logits, in every dtype"""
    labels = make.integers(batch, seed=seed, below=2)
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        logits = make.normal(batch, seed=seed, dtype=torch.bfloat16, deviation=2.0).to(dtype)
        right = reference.call("cross_entropy", logits.double(), labels).output
        found = component.call("cross_entropy", logits, labels).output
        what = f"the cross-entropy for {dtype}"
        expect.dtype(found, dtype, what)
        expect.close(found, right.to(dtype), what)


@pytest.mark.criterion(points=0.25, source="handout", examples=3)
@given(seed=SEEDS, batch=st.integers(1, 5))
def test_cross_entropy_gradient(component, expect, make, seed, batch):
    """the gradient of the cross-entropy is (probability - label) / B"""
    logits = make.normal(batch, seed=seed, dtype=torch.float64, deviation=2.0)
    labels = make.integers(batch, seed=seed, below=2)
    asked = component.asking(cotangent=torch.tensor(1.0, dtype=torch.float64))
    answer = asked.call("cross_entropy", logits, labels)
    right = (torch.sigmoid(logits) - labels) / batch
    expect.close(answer.gradients[0], right, "the gradient of the logits", names="B")


@pytest.mark.criterion(points=0.5, source="handout", examples=3)
@given(seed=SEEDS, batch=st.integers(1, 7), flags=st.booleans())
def test_accuracy_random(component, reference, expect, make, seed, batch, flags):
    """the accuracy is right for random logits and integer or boolean labels"""
    logits = make.normal(batch, seed=seed)
    labels = make.integers(batch, seed=seed, below=2)
    labels = labels.bool() if flags else labels
    right = reference.call("accuracy", logits, labels).number
    expect.same(float(component.call("accuracy", logits, labels).number), right, "the accuracy")
