"""Training's solution, proven against AdamW written out, and the handout's numbers."""

import copy
import importlib
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

ROOT = Path(__file__).parents[2]
SENTENCE = ["So", "long", "and", "thanks", "for", "all", "the", "fish"]


@pytest.fixture(scope="module")
def lm() -> Iterator[SimpleNamespace]:
    """Load training.py and the provided models, and leave no plain name behind."""
    folders = [str(ROOT / kind / "language_model") for kind in ("reference", "assignments")]
    before = dict(sys.modules)
    sys.path[:0] = folders
    names = {"training": "training", "models": "provided.models", "model": "language_model"}
    try:
        for name in ("provided", "encoder", "learned_positions", *names.values()):
            sys.modules.pop(name, None)
        yield SimpleNamespace(**{key: importlib.import_module(n) for key, n in names.items()})
    finally:
        for folder in folders:
            sys.path.remove(folder)
        for name in set(sys.modules) - set(before):
            if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(ROOT):
                del sys.modules[name]
        sys.modules.update(before)


def drawn(model: nn.Module, seed: int) -> nn.Module:
    """Give every parameter random values, in float64."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.double().parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return model


def table(lm: SimpleNamespace, row: list[float], others: float = 0.0) -> nn.Module:
    """Make the provided table of logits for three words."""
    model = lm.models.Bigram(3)
    with torch.no_grad():
        model.table.weight.copy_(torch.tensor([row, [others] * 3, [others] * 3]))
    return model


def values(model: nn.Module) -> list[Tensor]:
    return [parameter.detach().clone() for parameter in model.parameters()]


def written_out(
    model: nn.Module, lm: SimpleNamespace, batches: list[Tensor], rates: list[float], clip, decay
) -> list[float]:
    """Train by the formulas of AdamW's paper; return the norms of the gradients."""
    means = [(torch.zeros_like(p), torch.zeros_like(p)) for p in model.parameters()]
    norms = []
    for number, (batch, rate) in enumerate(zip(batches, rates, strict=True), start=1):
        logs = torch.log_softmax(model(batch)[:, :-1], -1)
        loss = -logs.gather(2, batch[:, 1:, None]).mean()
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        norms.append(math.sqrt(sum(float(g.square().sum()) for g in gradients)))
        factor = min(1.0, clip / norms[-1])
        with torch.no_grad():
            for p, g, (m, v) in zip(model.parameters(), gradients, means, strict=True):
                m.mul_(0.9).add_(0.1 * factor * g)
                v.mul_(0.999).add_(0.001 * (factor * g) ** 2)
                p -= rate * decay * p
                p -= rate * (m / (1 - 0.9**number)) / ((v / (1 - 0.999**number)).sqrt() + 1e-8)
    return norms


@pytest.mark.parametrize("kind", ["Bigram", "Recurrent"])
@pytest.mark.parametrize(("clip", "decay"), [(0.3, 0.0), (100.0, 0.2), (0.8, 0.1)])
def test_steps_are_those_of_adamw(
    lm: SimpleNamespace, kind: str, clip: float, decay: float
) -> None:
    sizes = (5,) if kind == "Bigram" else (5, 4)
    mine, theirs = (drawn(getattr(lm.models, kind)(*sizes), 3) for _ in range(2))
    generator = torch.Generator().manual_seed(1)
    batches = [torch.randint(5, (2, 4), generator=generator) for _ in range(6)]
    trainer = lm.training.Trainer(mine, 0.2, 4, clip, decay)
    for batch in batches:
        trainer.step(batch)
    rates = [0.05, 0.1, 0.15, 0.2, 0.2, 0.2]
    norms = written_out(theirs, lm, batches, rates, clip, decay)
    # torch adds 1e-6 to the norm before it divides by it.
    torch.testing.assert_close(values(mine), values(theirs), rtol=2e-6, atol=2e-6)
    assert [entry["gradient_norm"] for entry in trainer.log] == pytest.approx(norms, rel=1e-5)
    assert [entry["learning_rate"] for entry in trainer.log] == pytest.approx(rates)


def test_worked_example(lm: SimpleNamespace) -> None:
    """The table of the handout."""
    model = table(lm, [0.0] * 3)
    trainer = lm.training.Trainer(model, peak=0.1, warmup=2, clip=10.0, weight_decay=0.0)
    rows = []
    for _ in range(3):
        trainer.step(torch.tensor([[0, 1]]))
        assert torch.equal(model.table.weight[0], model.bias)
        rows.append([round(value, 4) for value in model.table.weight[0].tolist()])
    assert rows == [[-x, x, -x] for x in (0.05, 0.1498, 0.2484)]
    found = [[round(entry[key], 4) for entry in trainer.log] for key in trainer.log[0]]
    assert found == [[1.0986, 0.9698, 0.7413], [0.05, 0.1, 0.1], [1.1547, 1.0753, 0.9068]]


def test_the_sentence_is_learned(lm: SimpleNamespace) -> None:
    numbers = lm.training.vocabulary(SENTENCE)
    assert list(numbers.items()) == [(word, n) for n, word in enumerate(SENTENCE)]
    model = lm.models.Bigram(8)
    nn.init.zeros_(model.table.weight)
    trainer = lm.training.Trainer(model, peak=0.1, warmup=5)
    trainer.fit(torch.tensor([[numbers[word] for word in SENTENCE]]), 30, 1)
    assert trainer.log[0]["loss"] == pytest.approx(math.log(8))
    assert trainer.log[29]["loss"] == pytest.approx(0.0810, abs=6e-5)
    prompt = torch.tensor([[numbers[word] for word in ("thanks", "for", "all", "the")]])
    assert float(model(prompt)[0, -1].detach().softmax(-1)[7]) == pytest.approx(0.928, abs=6e-4)


def test_a_language_model_learns_it_too(lm: SimpleNamespace) -> None:
    """The student's own model, with the trainer's defaults."""
    torch.manual_seed(0)
    model = lm.model.LanguageModel(8, 8, 16, 2, 32, 1, dropout=0.0)
    trainer = lm.training.Trainer(model)
    trainer.fit(torch.arange(8)[None], 60, 1)
    assert trainer.log[-1]["loss"] < 0.1 < 2 < trainer.log[0]["loss"]
    assert int(model(torch.arange(7)[None])[0, -1].argmax()) == 7


@pytest.mark.parametrize(("rows", "size"), [(1, 1), (7, 3), (6, 3), (2, 5)])
def test_a_pass_has_every_row_once(lm: SimpleNamespace, rows: int, size: int) -> None:
    sequences = torch.arange(rows * 2).reshape(rows, 2)
    orders = []
    for seed in (3, 4, 3):
        found = list(lm.training.batches(sequences, size, seed))
        assert [len(batch) for batch in found[:-1]] == [size] * (len(found) - 1)
        assert 1 <= len(found[-1]) <= size
        orders.append([tuple(row) for batch in found for row in batch.tolist()])
        assert sorted(orders[-1]) == [tuple(row) for row in sequences.tolist()]
    assert orders[0] == orders[2]
    if rows == 7:
        assert orders[0] != orders[1]


def test_the_learning_rate_is_warmed_up(lm: SimpleNamespace) -> None:
    rate = lm.training.learning_rate
    assert [rate(step, 2.0, 4) for step in range(6)] == [0.5, 1.0, 1.5, 2.0, 2.0, 2.0]
    assert [rate(step, 2.0, 0) for step in range(3)] == [2.0] * 3


def test_fit_goes_on_with_the_next_seed(lm: SimpleNamespace, monkeypatch) -> None:
    seen = []
    trainer = lm.training.Trainer(table(lm, [0.0] * 3))
    monkeypatch.setattr(trainer, "step", lambda batch: seen.append(batch.tolist()))
    sequences = torch.arange(10).reshape(5, 2)
    trainer.fit(sequences, 7, 2, seed=8)
    passes = [list(lm.training.batches(sequences, 2, seed)) for seed in (8, 9, 10)]
    assert seen == [batch.tolist() for one in passes for batch in one][:7]
    trainer.fit(sequences, 0, 2)
    assert len(seen) == 7


def test_a_model_is_switched_to_training(lm: SimpleNamespace) -> None:
    model = lm.models.Bigram(3, dropout=1.0)
    trainer = lm.training.Trainer(model)
    for _ in range(2):
        assert trainer.step(torch.tensor([[0, 1]])) == pytest.approx(math.log(3))
        model.eval()


def test_resumed_training_is_the_one_that_never_stopped(lm: SimpleNamespace) -> None:
    """Bit by bit, whoever goes on in between; and a state can be loaded twice."""
    batches = [torch.tensor([[0, 1, 2]]), torch.tensor([[0, 0, 1]]), torch.tensor([[2, 0, 2]])]

    def begun(start: float) -> tuple[nn.Module, object]:
        model = table(lm, [start, 0.0, 0.0], 2.0)
        return model, lm.training.Trainer(model, 0.1, 4, 0.5, 0.1)

    whole, never = begun(4.0)
    _, stopped = begun(4.0)
    for batch in batches[:2]:
        never.step(batch)
        stopped.step(batch)
    state = stopped.state()
    kept = copy.deepcopy(state)
    never.step(batches[2])
    stopped.step(batches[0])
    for _ in range(2):
        model, resumed = begun(0.0)
        resumed.load(state)
        resumed.step(batches[2])
        assert all(map(torch.equal, values(model), values(whole)))
        assert resumed.log == never.log
    assert state["log"] == kept["log"]
    assert all(map(torch.equal, state["model"].values(), kept["model"].values()))
    for mine, theirs in zip(
        *(one["optimizer"]["state"].values() for one in (state, kept)), strict=True
    ):
        assert all(map(torch.equal, mine.values(), theirs.values()))


def test_padding_is_not_learned(lm: SimpleNamespace) -> None:
    plain, padded = (table(lm, [0.0, 1.0, 2.0]) for _ in range(2))
    lm.training.Trainer(plain).step(torch.tensor([[0, 1]]))
    lm.training.Trainer(padded, pad_id=2).step(torch.tensor([[0, 1, 2, 2]]))
    assert all(map(torch.equal, values(plain), values(padded)))
