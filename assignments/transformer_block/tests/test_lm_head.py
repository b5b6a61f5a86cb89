"""Public checks of lm_head.py. Source: slides, pages 28 to 30; no numbers are printed there."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
SIZES = st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(1, 6), st.integers(2, 7))
WORDS = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


@pytest.mark.criterion(points=1, source="slides, page 30")
def test_logits(component, expect, make):
    """with the embedding [1, 0], [0, 1], [1, 1], the vector (2, 1) has the logits [2, 1, 3]"""
    head = component.build("TiedLMHead", make.embedding(WORDS))
    x, right = torch.tensor([[[2.0, 1.0], [-1.0, 3.0]]]), [[[2.0, 1.0, 3.0], [-1.0, 3.0, 2.0]]]
    expect.close(head(x).output, right, names="B T V")
    expect.that(component.build("TiedLMHead", make.embedding(WORDS * 2))(x))
    what = "the result in evaluation, after another head was made,"
    expect.close(head.train(False)(x).output, right, what, names="B T V")


@pytest.mark.criterion(points=0.5, source="slides, page 28")
def test_probabilities(component, expect, make):
    """the logits [2, 1, 3] give the probabilities [0.2447, 0.0900, 0.6652]"""
    head = component.build("TiedLMHead", make.embedding(WORDS))
    answer = head.call("next_token_probabilities", torch.tensor([[[2.0, 1.0]]]))
    expect.close(answer.output, [[0.2447285, 0.0900306, 0.6652410]], names="B V")
    # The logits [1, 2, 3].
    x, right = torch.tensor([[[1.0, 2.0]]]), [[0.0900306, 0.2447285, 0.6652410]]
    answer = head.train(False).call("next_token_probabilities", x)
    expect.close(answer.output, right, "the result for (1, 2) in evaluation", names="B V")


@pytest.mark.criterion(points=0.5, source="slides, page 30", examples=2)
@given(seed=SEEDS, words=st.integers(2, 7), features=st.integers(1, 6))
def test_transpose_of_the_embedding(component, expect, make, seed, words, features):
    """the logits are hidden · Eᵀ, with no bias and no scaling"""
    weight = make.normal(words, features, seed=seed)
    head = component.build("TiedLMHead", make.embedding(weight))
    # Unit vectors return the rows of Eᵀ; a vector of zeros scores 0.
    answer = head(torch.eye(features + 1, features).unsqueeze(0))
    rows = torch.cat([weight.T, torch.zeros(1, words)])
    expect.close(
        answer.output, rows.unsqueeze(0), "the result for unit vectors and zeros", names="B T V"
    )


@pytest.mark.criterion(points=0.5, form=True, source="slides, page 28", examples=2)
@given(seed=SEEDS, sizes=SIZES)
def test_last_token_only(component, expect, make, seed, sizes):
    """next_token_probabilities depends on the last token only"""
    batch, length, features, words = sizes
    weight = make.normal(words, features, seed=seed)
    hidden = make.normal(batch, length + 1, features, seed=seed + 1)
    head = component.build("TiedLMHead", make.embedding(weight))
    whole = head.call("next_token_probabilities", hidden).output
    alone = head.call("next_token_probabilities", hidden[:, -1:]).output
    expect.close(whole, alone, "the result with the earlier tokens", names="B V")


@pytest.mark.criterion(points=0.5, source="slides, page 28", examples=2)
@given(seed=SEEDS, sizes=SIZES)
def test_sum_to_one(component, expect, make, seed, sizes):
    """next_token_probabilities gives each sequence V probabilities that sum to 1"""
    batch, length, features, words = sizes
    weight = make.normal(words, features, seed=seed)
    hidden = make.normal(batch, length, features, seed=seed + 1)
    head = component.build("TiedLMHead", make.embedding(weight))
    answer = head.call("next_token_probabilities", hidden)
    result = expect.shape(answer.output, (batch, words), names="B V")
    expect.that(
        bool((result >= 0).all()), "a probability is negative; expected a softmax over the words"
    )
    expect.close(result.sum(-1), torch.ones(batch), "the sum of the probabilities", names="B")


@pytest.mark.criterion(points=0.5, form=True, source="slides, page 30")
def test_parameters(component, expect, make):
    """the only parameter is embedding.weight, with the given values"""
    state = component.build("TiedLMHead", make.embedding(WORDS)).state()
    expect.keys(
        list(state.entries),
        ["embedding.weight"],
        "the keys of the state_dict",
        learned=state.parameters,
    )
    expect.keys(
        list(state.parameters), ["embedding.weight"], "the parameters", learned=state.parameters
    )
    expect.close(state.entries["embedding.weight"], WORDS, "embedding.weight", names="V D")


@pytest.mark.criterion(points=0.5, source="slides, page 30")
def test_embedding_changes_the_head(component, expect, make):
    """the head shares the embedding's Parameter: new weights of the embedding change the logits"""
    x = torch.tensor([[[2.0, 1.0]]])
    head = component.build("TiedLMHead", make.embedding(WORDS))
    expect.that(head(x))
    actual = head.write_given(WORDS * 10)(x).output
    what = "the result after the embedding was multiplied by 10"
    expect.close(actual, [[[20.0, 10.0, 30.0]]], what, names="B T V")


@pytest.mark.criterion(points=0.5, form=True, source="slides, page 30")
def test_head_changes_the_embedding(component, expect, make):
    """weights loaded into the head also change the embedding"""
    head = component.build("TiedLMHead", make.embedding(WORDS))
    state = head.load({"embedding.weight": WORDS * 10}).state()
    expect.close(state.given, WORDS * 10, "the embedding after loading the head", names="V D")


@pytest.mark.criterion(points=0.5, source="handout")
def test_large_logits(component, expect, make):
    """logits in the hundreds give correct probabilities, not NaN"""
    head = component.build("TiedLMHead", make.embedding(WORDS))
    hidden = torch.tensor([[[400.0, 0.0]], [[-400.0, 0.0]]])
    answer = head.call("next_token_probabilities", hidden)
    # The logits are 400, 0 and 400; in the second sequence -400, 0 and -400.
    expect.close(answer.output, [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]], names="B V")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_dtypes(component, expect, make):
    """the result has the input's dtype: float32, float64 or bfloat16"""
    hidden, weight = make.normal(2, 3, 6, seed=1), make.normal(5, 6, seed=2, deviation=0.5)
    head = component.build("TiedLMHead", make.embedding(weight))
    method = "next_token_probabilities"
    logits, probabilities = head(hidden).output, head.call(method, hidden).output
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        same, what = hidden.to(dtype), f"the result for {dtype}"
        expect.close(head.to(dtype)(same).output, logits, what, like=same, names="B T V")
        actual = head.call(method, same).output
        expect.close(actual, probabilities, what, like=same, names="B V")


@pytest.mark.criterion(points=0.5, source="handout")
def test_gradients_flow(component, expect, make):
    """gradients flow from the logits to the hidden vectors and to the embedding

    For hidden · Eᵀ they are matrix products: with E, and with the hidden vectors.
    """
    hidden, cotangent = torch.tensor([[[2.0, 1.0], [-1.0, 3.0]]]), make.normal(1, 2, 3, seed=1)
    head = component.build("TiedLMHead", make.embedding(WORDS))
    answer = head.asking(cotangent=cotangent)(hidden)
    expect.close(answer.gradients[0], cotangent @ WORDS, "the gradient of the input", names="B T D")
    right = cotangent[0].T @ hidden[0]
    expect.close(answer.given_gradient, right, "the gradient of the embedding", names="V D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_non_contiguous(component, expect, make):
    """a transposed, strided or expanded input gives the same result as a contiguous one"""
    x = make.normal(3, 4, 4, seed=1)
    head = component.build("TiedLMHead", make.embedding(make.normal(5, 4, seed=2)))
    for view in (x.transpose(1, 2), x[:, ::2], x[:1].expand(2, 4, 4)):
        right = head(view.contiguous()).output
        expect.close(head(view).output, right, names="B T V")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_input_untouched(component, expect, make):
    """the hidden vectors and the embedding are not modified"""
    weight, hidden = make.normal(5, 4, seed=3), make.normal(2, 3, 4, seed=4)
    head = component.build("TiedLMHead", make.embedding(weight))
    for method in ("", "next_token_probabilities"):
        expect.unchanged(head.asking(keep_inputs=True).call(method, hidden), hidden)
    expect.close(head.state().given, weight, "the embedding after the calls", names="V D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_device(component, expect, make):
    """results are on the input's device (no hard-coded device)"""
    hidden = torch.empty(2, 3, 4, device="meta")
    head = component.build("TiedLMHead", make.embedding(torch.ones(5, 4))).to(device="meta")
    expect.follows_device(head(hidden))
    expect.follows_device(head.call("next_token_probabilities", hidden))
