"""Public checks of training.py, with a table of logits as the model. Source: handout; slides."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
SENTENCE = ["So", "long", "and", "thanks", "for", "all", "the", "fish"]
# "the cat chased the dog and the dog chased the cat"
CHASE = torch.tensor([[0, 1, 2, 0, 3, 4, 0, 3, 2, 0, 1]])
# Batches of one sequence of two words: the model predicts the second from the first.
FIRST, SECOND, THIRD = (torch.tensor([pair]) for pair in ([0, 1], [0, 0], [0, 2]))


def bigram(component, table, dropout=0.0):
    """Build the provided model with this table of logits (V, V), and a bias of zeros."""
    built = component.provided("models").build("Bigram", len(table), dropout)
    return built.load({"table.weight": torch.as_tensor(table), "bias": torch.zeros(len(table))})


def row(values, others=0.0):
    """Make a table for three words with this first row."""
    return torch.tensor([values, [others] * 3, [others] * 3])


def train(expect, trainer, *batches):
    """Take a step on each batch."""
    for batch in batches:
        expect.that(trainer.call("step", batch))


def plain(value):
    """Read a number or a tensor; the checks of log and step reject tensors."""
    return value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 else value


def expect_table(expect, model, table, what="the table of logits after the steps"):
    """Expect the provided model to have this table."""
    expect.close(model.state().parameters["table.weight"], table, what, scale=2, names="V V")


def expect_same(expect, model, other, what):
    """Expect two provided models to have the same parameters."""
    found, right = model.state().parameters, other.state().parameters
    for name, tensor in right.items():
        expect.close(found[name], tensor, f"{name} {what}", scale=2)


@pytest.mark.criterion(points=0.5, source="handout")
def test_vocabulary(component, expect):
    """vocabulary numbers the different words from 0, in order of first occurrence"""
    found = component.call("vocabulary", SENTENCE).value
    expect.same(found, {word: n for n, word in enumerate(SENTENCE)}, "the sentence's vocabulary")
    words = ["the", "fish", "and", "the", "So", "fish", "so"]
    right = {"the": 0, "fish": 1, "and": 2, "So": 3, "so": 4}
    expect.same(component.call("vocabulary", words).value, right, "the vocabulary of seven words")


@pytest.mark.criterion(points=1, source="handout")
@pytest.mark.parametrize("warmup", [4, 1, 0], ids=["warm-up 4", "warm-up 1", "warm-up 0"])
def test_learning_rate(component, expect, warmup):
    """learning_rate grows linearly to peak during the warm-up, then stays there"""
    growing = [0.25, 0.5, 0.75, 1.0] if warmup == 4 else [1.0] * 4
    for step, part in enumerate([*growing, 1.0, 1.0]):
        found = component.call("learning_rate", step, 0.8, warmup).number
        expect.same(found, 0.8 * part, f"the rate of step {step} with a warm-up of {warmup}")


@pytest.mark.criterion(points=0.5, source="handout", free=True)
@given(seed=SEEDS, rows=st.integers(1, 9), size=st.integers(1, 4))
def test_every_row_once(component, expect, seed, rows, size):
    """batches yields every sequence once, in full batches and a smaller last one"""
    sequences = torch.arange(rows * 3).reshape(rows, 3)
    found = component.make("batches", sequences, size, seed).take(12).items()
    count = math.ceil(rows / size)
    expect.same(len(found), count, "the number of batches")
    sizes = [size] * (count - 1) + [rows - size * (count - 1)]
    for number, (batch, right) in enumerate(zip(found, sizes, strict=True)):
        what = f"batch {number}"
        expect.that(isinstance(batch, torch.Tensor), f"{what} is not a tensor")
        expect.shape(batch, (right, 3), what, names="B T")
    whole = torch.cat(found)
    expect.equal(whole[whole[:, 0].argsort()], sequences, "all batches, sorted", names="N T")


@pytest.mark.criterion(points=0.5, source="handout", free=True, examples=2)
@given(seed=st.integers(0, 1000))
def test_order(component, expect, seed):
    """batches has the same order for the same seed, and another order for another seed"""
    sequences, orders = torch.arange(20).reshape(20, 1), []
    for number in (seed, seed + 1, seed):
        found = component.make("batches", sequences, 20, number).take(2).items(1)
        orders.append(expect.shape(found[0], (20, 1), "the batch", names="B T"))
    expect.equal(orders[2], orders[0], "the order of a second call with the same seed", names="B T")
    # The probability of this by chance is 1 / 20!.
    expect.that(not torch.equal(orders[0], orders[1]), "two seeds give the same order")
    expect.that(
        not torch.equal(orders[0], sequences),
        "the batches are in the order of the sequences, expected a random order",
    )


@pytest.mark.criterion(points=0.5, source="handout")
def test_first_step(component, expect):
    """the worked example's first step returns the loss ln 3 and moves the logits by 0.05"""
    model = bigram(component, row([0.0] * 3))
    trainer = component.make("Trainer", model, 0.1, 2, 10.0, 0.0)
    expect.same(trainer.call("step", FIRST).number, math.log(3), "the loss that step returns")
    expect_table(expect, model, row([-0.05, 0.05, -0.05]), "the table of logits after the step")
    bias = model.state().parameters["bias"]
    expect.close(bias, [-0.05, 0.05, -0.05], "the bias after the step", names="V")


@pytest.mark.criterion(points=0.5, source="handout")
def test_steps(component, expect):
    """five steps move the logits as AdamW does, each with its own gradients"""
    model = bigram(component, row([0.0] * 3))
    trainer = component.make("Trainer", model, 0.5, 10, 10.0, 0.0)
    train(expect, trainer, FIRST, FIRST, FIRST, THIRD, SECOND)
    expect_table(expect, model, row([-0.4826889, 0.3834721, -0.3033717]))


@pytest.mark.criterion(points=0.5, source="handout")
def test_log(component, expect):
    """log holds loss, learning_rate and gradient_norm of every step, as plain numbers"""
    trainer = component.make("Trainer", bigram(component, row([0.0] * 3)), 0.1, 2, 0.5, 0.0)
    expect.same(trainer.get("log").items(), [], "the log before the first step")
    train(expect, trainer, FIRST, FIRST)
    right = [
        {"loss": 1.0986123, "learning_rate": 0.05, "gradient_norm": 1.1547005},
        {"loss": 0.9698169, "learning_rate": 0.1, "gradient_norm": 1.0753395},
    ]
    expect.same(trainer.get("log").items(2), right, "the log", scale=2)


@pytest.mark.criterion(points=0.5, source="handout")
def test_warm_up(component, expect):
    """every step uses its own learning rate

    The gradients hardly change, so AdamW moves the logits by nearly the rate.
    """
    model = bigram(component, row([0.0] * 3))
    trainer = component.make("Trainer", model, 0.004, 4, 10.0, 0.0)
    moved = 0.0
    for number, rate in enumerate([0.001, 0.002, 0.003, 0.004, 0.004]):
        train(expect, trainer, FIRST)
        moved += rate
        what = f"the table of logits after step {number}"
        expect_table(expect, model, row([-moved, moved, -moved]), what)


@pytest.mark.criterion(points=0.5, source="handout")
def test_clipping(component, expect):
    """gradients are scaled down to the norm clip by one factor, and never scaled up

    The first step's norm is 1.947 and is clipped to 0.1; those of the others are below it.
    """
    model = bigram(component, row([4.0, 0.0, 0.0]))
    trainer = component.make("Trainer", model, 0.5, 10, 0.1, 0.0)
    train(expect, trainer, FIRST, SECOND, SECOND)
    expect_table(expect, model, row([3.9870692, 0.0796621, -0.2586595]))


@pytest.mark.criterion(points=0.5, source="handout")
def test_weight_decay(component, expect):
    """weight decay shrinks every parameter by the factor 1 - rate · weight_decay per step

    A logit of 2 that nothing else moves decays to 2 · (1 - 0.25 · 0.1) · (1 - 0.5 · 0.1). So does a
    bias of 2: its word is so unlikely that its gradient is 0.
    """
    model = bigram(component, row([0.0, 0.0, -1000.0], others=2.0))
    model.load({"bias": torch.tensor([0.0, 0.0, 2.0])})
    trainer = component.make("Trainer", model, 0.5, 2, 1.0, 0.1)
    train(expect, trainer, FIRST, FIRST)
    table = model.state().parameters["table.weight"]
    decayed = expect.shape(table, (3, 3), "the table of logits", names="V V")[1:]
    what = "the part of the table that only decays"
    expect.close(decayed, torch.full((2, 3), 1.8525), what, names="V V")
    bias = expect.shape(model.state().parameters["bias"], (3,), "the bias", names="V")[2]
    expect.close(bias, torch.tensor(1.8525), "the bias that only decays")


@pytest.mark.criterion(points=0.5, source="handout")
def test_training_mode(component, expect):
    """every step runs in training mode, whatever the model's mode was

    The model drops all logits in training mode, so the loss is ln 3.
    """
    what = "the loss of a model that drops all logits in training and was in"
    model = bigram(component, row([5.0, 0.0, 0.0]), dropout=1.0)
    trainer = component.make("Trainer", model)
    loss = plain(trainer.call("step", FIRST).value)
    expect.same(loss, math.log(3), f"{what} training mode")
    model = bigram(component, row([5.0, 0.0, 0.0]), dropout=1.0).train(False)
    trainer = component.make("Trainer", model)
    expect.same(trainer.get("log").items(), [], "the log before the first step")
    loss = plain(trainer.call("step", FIRST).value)
    expect.same(loss, math.log(3), f"{what} evaluation mode")
    expect.that(model.train(False)(FIRST))
    loss = plain(trainer.call("step", FIRST).value)
    expect.same(loss, math.log(3), f"{what} evaluation mode again")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_padding(component, expect):
    """Trainer passes pad_id to the loss: padding is not a target"""
    plain, padded = (bigram(component, row([0.0, 1.0, 2.0])) for _ in range(2))
    train(expect, component.make("Trainer", plain), FIRST)
    trainer = component.make("Trainer", padded, pad_id=2)
    train(expect, trainer, torch.tensor([[0, 1, 2, 2]]))
    expect_same(expect, padded, plain, "after a step on a padded sequence")


@pytest.mark.criterion(points=0.5, source="handout")
@pytest.mark.parametrize("steps", [0, 2, 7], ids=["no step", "two steps", "seven steps"])
def test_fit_counts_steps(component, expect, steps):
    """fit takes exactly `steps` steps"""
    # It predicts 1 after 0 and 2 after 1, so the loss is about 0.00002.
    model = bigram(component, 12 * torch.eye(4)[[1, 2, 3, 0]])
    trainer = component.make("Trainer", model)
    # Equal sequences, so that every order has the same log.
    sequences = torch.tensor([[0, 1, 2]]).repeat(5, 1)
    expect.unchanged(trainer.asking(keep_inputs=True).call("fit", sequences, steps, 2), sequences)
    expect.same(len(trainer.get("log").items()), steps, "the number of steps")


@pytest.mark.criterion(points=0.5, form=True, source="handout", free=True)
def test_fit_takes_the_batches(component, expect, make):
    """fit uses the batches of `seed` (default 0), then those of seed + 1, and so on

    The last batch of a pass is smaller. Another call of fit starts with the first pass again.
    """
    sequences, table = make.integers(5, 3, seed=2, below=4), make.normal(4, 4, seed=1)
    fitted, stepped = bigram(component, table), bigram(component, table)
    fitter, trainer = (component.make("Trainer", model) for model in (fitted, stepped))
    passes = [
        component.make("batches", sequences, 2, seed).take(3).items() for seed in range(40, 44)
    ]
    batches = [batch for one in passes for batch in one]
    expect.that(fitter.call("fit", sequences, 7, 2, 40))
    train(expect, trainer, *batches[:7])
    expect_same(expect, fitted, stepped, "after 7 steps of fit")
    expect.that(fitter.call("fit", sequences, 2, 2, 40))
    train(expect, trainer, *batches[:2])
    expect_same(expect, fitted, stepped, "after 2 more steps in a second call of fit")
    fitted, seeded = bigram(component, table), bigram(component, table)
    expect.that(component.make("Trainer", fitted).call("fit", sequences, 3, 1))
    expect.that(component.make("Trainer", seeded).call("fit", sequences, 3, 1, 0))
    expect_same(expect, fitted, seeded, "after 3 steps of fit with the default seed, 0")


@pytest.mark.criterion(points=0.5, source="slides, page 28")
def test_thanks_for_all_the(component, expect):
    """after 30 steps, "fish" follows "thanks for all the" with the probability 0.928"""
    words = component.call("vocabulary", SENTENCE).value
    expect.same(words, {word: n for n, word in enumerate(SENTENCE)}, "the vocabulary")
    model = bigram(component, torch.zeros(8, 8))
    trainer = component.make("Trainer", model, 0.1, 5)
    expect.that(trainer.call("fit", torch.arange(8)[None], 30, 1))
    logits = model.train(False)(torch.tensor([[3, 4, 5, 6]])).output
    chances = expect.shape(logits, (1, 4, 8), "the tensor of logits", names="B T V")[0, -1].softmax(
        -1
    )
    expect.close(chances[7], torch.tensor(0.9280158), "the probability of fish", scale=10)


@pytest.mark.criterion(points=0.5, source="handout", free=True)
def test_more_than_a_bigram(component, expect):
    """your language model learns in 60 steps what no bigram can: its loss falls below 0.1

    Of the ten words to predict, four follow "the" and two follow "dog", and half of each group are
    one word, half another: the best bigram has a loss of 6 ln 2 / 10 = 0.416.
    """
    model = component.provided("whole").build("language_model", 5, 11)
    trainer = component.make("Trainer", model, 0.02)
    expect.that(trainer.call("fit", CHASE, 60, 1))
    logits = model.train(False)(CHASE).output
    logits = expect.shape(logits, (1, 11, 5), "the tensor of logits", names="B T V")
    loss = float(F.cross_entropy(logits[0, :-1], CHASE[0, 1:]))
    fact = f"the loss after 60 steps is {loss:.3f}, expected less than 0.1"
    expect.that(loss < 0.1, fact, hint="the best bigram has a loss of 0.416")


@pytest.mark.criterion(points=0.5, source="handout")
def test_resumed(component, expect):
    """training after load continues like training that never stopped, log included

    The trainer that loads the state has taken a step before, which must have no effect.
    """
    table = row([4.0, 0.0, 0.0], others=2.0)
    whole, first, second = (bigram(component, start) for start in (table, table, 0 * table))
    settings = (0.1, 4, 0.5, 0.1)
    never = component.make("Trainer", whole, *settings)
    train(expect, never, FIRST, SECOND, THIRD, FIRST)
    stopped = component.make("Trainer", first, *settings)
    train(expect, stopped, FIRST, SECOND)
    resumed = component.make("Trainer", second, *settings)
    train(expect, resumed, THIRD)
    expect.that(resumed.call("load", stopped.make("state")))
    expect_same(expect, second, first, "after load")
    right = stopped.get("log").items(2)
    expect.same(resumed.get("log").items(2), right, "the loaded log", scale=0.1)
    train(expect, resumed, THIRD, FIRST)
    expect_same(expect, second, whole, "after four steps, with save and load in between")
    right = never.get("log").items(4)
    expect.same(resumed.get("log").items(4), right, "the log of all four steps", scale=2)


@pytest.mark.criterion(points=0.5, source="handout")
@pytest.mark.parametrize("who", ["who saved", "who loaded"])
def test_state_is_a_copy(component, expect, who):
    """steps after state or load do not change the saved state

    The trainer that saved it, or one that loaded it, takes steps before it is loaded again.
    """
    table, settings = row([4.0, 0.0, 0.0], others=2.0), (0.1, 4, 0.5, 0.1)
    models = [bigram(component, table) for _ in range(4)]
    never, saver, other, last = (component.make("Trainer", model, *settings) for model in models)
    train(expect, never, FIRST, SECOND, THIRD)
    train(expect, saver, FIRST, SECOND)
    saved = saver.make("state")
    # The state is made when it is first passed to load.
    expect.that(other.call("load", saved))
    train(expect, saver if who == "who saved" else other, SECOND, FIRST)
    expect.that(last.call("load", saved))
    train(expect, last, THIRD)
    expect_same(expect, models[3], models[0], "of a trainer that loaded the state afterwards")
    expect.same(len(last.get("log").items()), 3, "the number of entries in its log")
