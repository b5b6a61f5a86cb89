"""Hidden checks of training.py: comparison with the reference, with the provided models."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
WORDS = 5
# D of the recurrent model, and its parameters.
SIZE = 4
SHAPES = {
    "embedding.weight": (WORDS, SIZE),
    "layer.weight_ih_l0": (3 * SIZE, SIZE),
    "layer.weight_hh_l0": (3 * SIZE, SIZE),
    "layer.bias_ih_l0": (3 * SIZE,),
    "layer.bias_hh_l0": (3 * SIZE,),
    "head.weight": (WORDS, SIZE),
    "head.bias": (WORDS,),
}


def bigram(source, make, seed):
    """Build the provided table of logits, in float64."""
    state = make.state({"table.weight": (WORDS, WORDS), "bias": (WORDS,)}, seed=seed, deviation=2.0)
    model = source.provided("models").build("Bigram", WORDS).to(torch.float64)
    return model.load({key: value.double() for key, value in state.items()})


def recurrent(source, make, seed):
    """Build the provided recurrent model, in float64."""
    model = source.provided("models").build("Recurrent", WORDS, SIZE).to(torch.float64)
    state = make.state(SHAPES, seed=seed, deviation=1.0)
    return model.load({key: value.double() for key, value in state.items()})


def plain(log):
    """Read numbers or tensors; the checks of log and step reject tensors."""
    return [
        {k: v.item() if isinstance(v, torch.Tensor) else v for k, v in entry.items()}
        for entry in log
    ]


def expect_alike(expect, found, right, what, scale=5):
    """Expect two models to have the same parameters."""
    parameters = found.state().parameters
    for name, tensor in right.state().parameters.items():
        expect.close(parameters.get(name), tensor, f"{name} {what}", scale=scale)


@pytest.mark.criterion(points=0.5, source="handout", examples=2)
@given(step=st.integers(0, 60), peak=st.floats(0.001, 2.0), warmup=st.integers(0, 40))
def test_random_rates(component, reference, expect, step, peak, warmup):
    """the learning rate is right for random steps, peaks and warm-ups"""
    right = reference.call("learning_rate", step, peak, warmup).number
    expect.same(component.call("learning_rate", step, peak, warmup).number, right, "the rate")


@pytest.mark.criterion(points=1, source="handout", examples=2)
@given(
    seed=SEEDS,
    peak=st.sampled_from([0.05, 0.3]),
    warmup=st.sampled_from([4, 9]),
    clip=st.sampled_from([0.3, 0.9, 5.0]),
    decay=st.sampled_from([0.1, 0.0]),
    pad=st.sampled_from([2, None]),
)
def test_random_steps(component, reference, expect, make, seed, peak, warmup, clip, decay, pad):
    """four steps and their log are right for random logits, batches and settings"""
    answers = []
    for source in (reference, component):
        model = bigram(source, make, seed)
        trainer = source.make("Trainer", model, peak, warmup, clip, decay, pad)
        for number in range(4):
            batch = make.integers(2, 4, seed=seed + number, below=WORDS)
            batch[0, 1] = 3
            expect.that(trainer.call("step", batch))
        answers.append((model, plain(trainer.get("log").items(4))))
    (right, right_log), (found, log) = answers
    expect_alike(expect, found, right, "after four steps")
    expect.same(log, right_log, "the log", scale=5)


@pytest.mark.criterion(points=1.5, source="handout", examples=2)
@given(seed=SEEDS, clip=st.sampled_from([0.2, 1.0]))
def test_every_parameter(component, reference, expect, make, seed, clip):
    """three steps of a model with seven parameters are right, clipped by the joint norm"""
    models, norms = [], []
    for source in (reference, component):
        model = recurrent(source, make, seed)
        trainer = source.make("Trainer", model, 0.03, 3, clip, 0.1)
        for number in range(3):
            expect.that(trainer.call("step", make.integers(3, 5, seed=seed + number, below=WORDS)))
        models.append(model)
        norms.append([entry["gradient_norm"] for entry in plain(trainer.get("log").items(3))])
    expect.same(norms[1], norms[0], "the norms of the gradients", scale=20)
    expect_alike(expect, models[1], models[0], "after three steps", scale=20)


@pytest.mark.criterion(points=0.5, source="handout")
def test_default_settings(component, reference, expect, make):
    """the defaults of peak, warmup, clip, weight_decay and pad_id are right"""
    models, logs = [], []
    for source in (reference, component):
        model = source.provided("models").build("Bigram", 3)
        table = torch.tensor([[6.0, 0.0, 0.0], [1000.0] * 3, [1000.0] * 3])
        model.load({"table.weight": table, "bias": torch.zeros(3)})
        trainer = source.make("Trainer", model)
        for pair in ([0, 1], [0, 0], [0, 1], [0, 0], [0, 2]):
            expect.that(trainer.call("step", torch.tensor([pair])))
        models.append(model)
        logs.append(plain(trainer.get("log").items(5)))
    expect.same(logs[1], logs[0], "the log", scale=2)
    expect_alike(expect, models[1], models[0], "after five steps", scale=1)


@pytest.mark.criterion(points=0.5, source="handout", examples=2)
@given(seed=SEEDS, rows=st.integers(1, 3))
def test_fit_on_full_batches(component, reference, expect, make, seed, rows):
    """five steps of fit are right if a batch holds all sequences"""
    sequences = make.integers(rows, 4, seed=seed, below=WORDS)
    models = []
    for source in (reference, component):
        model = bigram(source, make, seed)
        trainer = source.make("Trainer", model, 0.1)
        expect.that(trainer.call("fit", sequences, 5, rows, seed))
        models.append(model)
    expect_alike(expect, models[1], models[0], "after five steps")


@pytest.mark.criterion(points=0.5, source="handout", examples=2)
@given(seed=SEEDS, before=st.integers(0, 3))
def test_random_resumed(component, reference, expect, make, seed, before):
    """training that is resumed after any number of steps is right, log included"""
    batches = [make.integers(2, 4, seed=seed + n, below=WORDS) for n in range(5)]
    model = bigram(reference, make, seed)
    trainer = reference.make("Trainer", model, 0.1, 6, 0.5, 0.1)
    for batch in batches:
        expect.that(trainer.call("step", batch))
    first, second = bigram(component, make, seed), bigram(component, make, seed + 1)
    stopped, resumed = (component.make("Trainer", m, 0.1, 6, 0.5, 0.1) for m in (first, second))
    for batch in batches[:before]:
        expect.that(stopped.call("step", batch))
    expect.that(resumed.call("load", stopped.make("state")))
    for batch in batches[before:]:
        expect.that(resumed.call("step", batch))
    expect_alike(expect, second, model, "after five steps, with save and load in between")
    found, right = (plain(one.get("log").items(5)) for one in (resumed, trainer))
    expect.same(found, right, "the log", scale=5)
