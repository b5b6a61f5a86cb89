"""Public checks of generate.py. Source: slides, page 28; no numbers are printed there.

The models are provided (provided/scripted.py): `Adder` predicts the sum of all words so far,
modulo V, as the next word.
"""

import pytest
import torch

# Four words with the probabilities 0.15, 0.5, 0.1 and 0.25.
SHARES = [0.15, 0.5, 0.1, 0.25]
LOGITS = torch.tensor(SHARES).log() + 3.0


def adder(component, **more):
    """Build the model that adds up, modulo 10."""
    return component.provided("scripted").build("Adder", 10, **more)


@pytest.mark.criterion(points=0.5, source="handout")
@pytest.mark.parametrize(
    ("temperature", "right"),
    [
        (1.0, SHARES),
        (0.5, [0.0652174, 0.7246377, 0.0289855, 0.1811594]),
        (2.0, [0.2027068, 0.3700903, 0.1655094, 0.2616934]),
    ],
    ids=["temperature 1", "temperature 0.5", "temperature 2"],
)
def test_temperature(component, expect, temperature, right):
    """next_probabilities divides the logits by the temperature before the softmax"""
    asked = component.asking(keep_inputs=True)
    answer = asked.call("next_probabilities", LOGITS, temperature=temperature)
    expect.close(answer.output, right, names="V")
    expect.unchanged(answer, LOGITS)


@pytest.mark.criterion(points=0.5, source="handout")
def test_temperature_of_zero(component, expect):
    """at temperature 0, the most likely word of every row has the probability 1"""
    rows = torch.stack([LOGITS, LOGITS.roll(2)])
    answer = component.call("next_probabilities", rows, temperature=0.0)
    expect.close(answer.output, [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]], names="B V")


@pytest.mark.criterion(points=0.5, source="handout")
@pytest.mark.parametrize(
    ("top_k", "right"),
    [(1, [0.0, 1.0, 0.0, 0.0]), (2, [0.0, 2 / 3, 0.0, 1 / 3]), (4, SHARES), (9, SHARES)],
    ids=["top_k 1", "top_k 2", "top_k 4", "top_k 9"],
)
def test_top_k(component, expect, top_k, right):
    """top_k keeps the k most likely words: with 2, 0.15, 0.5, 0.1, 0.25 become 0, 2/3, 0, 1/3"""
    answer = component.call("next_probabilities", LOGITS, top_k=top_k)
    expect.close(answer.output, right, names="V")


@pytest.mark.criterion(points=1, source="handout")
@pytest.mark.parametrize(
    ("top_p", "right"),
    [
        (0.01, [0.0, 1.0, 0.0, 0.0]),
        (0.6, [0.0, 2 / 3, 0.0, 1 / 3]),
        (0.8, [1 / 6, 5 / 9, 0.0, 5 / 18]),
        (1.0, SHARES),
    ],
    ids=["top_p 0.01", "top_p 0.6", "top_p 0.8", "top_p 1"],
)
def test_top_p(component, expect, top_p, right):
    """top_p keeps the smallest set that reaches it: with 0.8 it is 1/6, 5/9, 0, 5/18"""
    answer = component.call("next_probabilities", LOGITS, top_p=top_p)
    expect.close(answer.output, right, names="V")


@pytest.mark.criterion(points=0.5, source="handout")
@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p", "right"),
    [
        # Among two words, 0.5 and 0.25 become 2/3 and 1/3.
        (1.0, 2, 0.6, [0.0, 1.0, 0.0, 0.0]),
        # At temperature 0.5 the likeliest word alone has 0.72.
        (0.5, None, 0.7, [0.0, 1.0, 0.0, 0.0]),
        (2.0, 3, 0.7, [0.0, 0.5857864, 0.0, 0.4142136]),
    ],
    ids=["top_k, then top_p", "temperature, then top_p", "all three"],
)
def test_order(component, expect, temperature, top_k, top_p, right):
    """temperature is applied first, then top_k, then top_p"""
    answer = component.call("next_probabilities", LOGITS, temperature, top_k, top_p)
    expect.close(answer.output, right, names="V")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
@pytest.mark.parametrize(
    ("name", "value"),
    [("temperature", -0.5), ("top_k", 0), ("top_k", -1), ("top_p", 0.0), ("top_p", 1.5)],
    ids=["temperature -0.5", "top_k 0", "top_k -1", "top_p 0", "top_p 1.5"],
)
def test_errors(component, expect, name, value):
    """a negative temperature, top_k < 1, top_p <= 0 or top_p > 1 raises ValueError

    With a temperature of 0, too, where top_k and top_p change nothing.
    """
    for given in ({}, {"temperature": 0.0}):
        answer = component.call("next_probabilities", LOGITS, **{**given, name: value})
        expect.raises(answer, "ValueError")


@pytest.mark.criterion(points=0.5, source="handout")
@pytest.mark.parametrize("counts", [(0, 1), (4,)], ids=["at most one word", "four words"])
def test_written_on(component, expect, counts):
    """new tokens follow the prompt: [1, 2] is continued by 3, 6, 2, 4"""
    prompt = torch.tensor([[1, 2], [4, 1], [9, 9]])
    right = torch.tensor([[3, 6, 2, 4], [5, 0, 0, 0], [8, 6, 2, 4]])
    for count in counts:
        answer = component.call("generate", adder(component), prompt, count)
        expect.equal(answer.output, torch.cat([prompt, right[:, :count]], dim=1), names="B T")


@pytest.mark.criterion(points=0.5, source="handout")
def test_end(component, expect):
    """after a sequence draws end_id, all its tokens are end_id; in prompts end_id has no effect

    The end token may be 0: the second model predicts 1 after 0, 2 after 1, and 0 after 2.
    """
    prompt = torch.tensor([[1, 1], [1, 2], [4, 1], [2, 2]])
    right = torch.tensor([[2, 2, 2, 2], [3, 6, 2, 2], [5, 0, 0, 0], [4, 8, 6, 2]])
    answer = component.call("generate", adder(component), prompt, 4, end_id=2)
    expect.equal(answer.output, torch.cat([prompt, right], dim=1), names="B T")
    sure = 50 * torch.eye(4)[[1, 2, 0, 3]]
    model = component.provided("scripted").build("Table", sure)
    right = torch.tensor([[1, 2, 0, 0, 0], [0, 1, 2, 0, 0], [3, 3, 3, 3, 3]])
    answer = component.call("generate", model, right[:, :1], 4, end_id=0)
    expect.equal(answer.output, right, "the text with the end token 0", names="B T")


@pytest.mark.criterion(points=0.25, source="handout")
def test_draws_anew(component, expect):
    """tokens are sampled separately for each sequence and each step, and for each seed"""
    model = component.provided("scripted").build("Table", torch.zeros(64, 64))
    prompt = torch.zeros(2, 1, dtype=torch.int64)
    tokens = component.asking(seed=1).call("generate", model, prompt, 20).output
    drawn = expect.shape(tokens, (2, 21), names="B T")[:, 1:]
    # The probability of either by chance is 1 / 64 ** 19.
    same = bool((drawn[0] == drawn[1]).all())
    expect.that(
        not same,
        "two sequences with the same prompt got the same 20 words, expected separate draws",
    )
    same = bool((drawn == drawn[:, :1]).all())
    expect.that(
        not same, "every sequence got the same word 20 times, expected a new draw at every step"
    )
    other = component.asking(seed=2).call("generate", model, prompt, 20).output
    expect.that(
        not torch.equal(expect.shape(other, (2, 21), names="B T"), tokens),
        "after torch.manual_seed(1) and after torch.manual_seed(2) the text is the same",
        hint="does generate set a seed, or have a generator of its own?",
    )


@pytest.mark.criterion(points=0.5, source="handout")
def test_asked_in_evaluation(component, expect):
    """generate calls the model in eval mode, whatever its mode was"""
    prompt = torch.tensor([[1, 2]])
    for training in (True, False):
        model = adder(component).train(training)
        answer = component.call("generate", model, prompt, 3)
        expect.equal(answer.output, torch.tensor([[1, 2, 3, 6, 2]]), names="B T")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_mode_afterwards(component, expect):
    """generate restores the model's mode (model.training)

    The second model, with one word, has a dropout layer that drops all logits in training mode.
    """
    prompt = torch.tensor([[1, 2]])
    for training in (True, False):
        model = adder(component).train(training)
        expect.that(component.call("generate", model, prompt, 2))
        word = "training" if training else "evaluation"
        expect.that(
            model.get("training").flag == training,
            f"the model was in {word} mode before generate, but not afterwards",
            hint="store model.training first, and restore it with model.train(...)",
        )
    model = component.provided("models").build("Bigram", 1, 1.0)
    model.load({"table.weight": torch.tensor([[5.0]]), "bias": torch.zeros(1)}).train()
    expect.that(component.call("generate", model, torch.tensor([[0]]), 2))
    logits = expect.shape(model(torch.tensor([[0]])).output, (1, 1, 1), names="B T V")
    expect.that(
        bool((logits == 0).all()),
        "the model was in training mode before generate, but a submodule was not afterwards",
        hint="model.train(...) switches all submodules; model.training = ... switches none of them",
    )


@pytest.mark.criterion(points=0.5, source="handout", free=True)
def test_trained(component, expect):
    """your own language model, trained by your own trainer, writes the sentence that it learned

    The sentence is "the cat chased the dog and the dog chased the cat"; it goes on after "the cat".
    """
    chase = torch.tensor([[0, 1, 2, 0, 3, 4, 0, 3, 2, 0, 1]])
    whole = component.provided("whole")
    model = whole.build("language_model", 5, 11)
    trainer = whole.make("trainer", model, peak=0.02)
    expect.that(trainer.call("fit", chase, 60, 1))
    text = component.call("generate", model, chase[:, :2], 9, temperature=0.0).output
    expect.equal(text, chase, "the text", names="B T")


@pytest.mark.criterion(points=0.5, source="handout")
@pytest.mark.parametrize(
    ("max_len", "right"),
    [
        (1, [5, 5, 5, 5]),
        (2, [6, 1, 7, 8]),
        (5, [4, 5, 9, 4]),
        (6, [4, 8, 3, 5]),
        (30, [4, 8, 6, 2]),
    ],
)
def test_window(component, expect, max_len, right):
    """the model gets the last max_len tokens, and generate returns the whole text"""
    prompt = torch.tensor([[3, 1, 4, 1, 5]])
    model = adder(component, max_len=max_len)
    answer = component.call("generate", model, prompt, 4, max_len=max_len)
    expect.equal(answer.output, torch.cat([prompt, torch.tensor([right])], dim=1), names="B T")


@pytest.mark.criterion(points=0.5, source="handout")
def test_nothing_recorded(component, expect):
    """generate calls the model without recording gradients (torch.no_grad)"""
    model = adder(component)
    answer = component.call("generate", model, torch.tensor([[1, 2]]), 2)
    expect.equal(answer.output, torch.tensor([[1, 2, 3, 6]]), names="B T")
    expect.that(
        not model.get("recorded").flag,
        "the model was called while gradients were recorded",
        hint="call it under torch.no_grad(); otherwise every step keeps its whole graph",
    )
