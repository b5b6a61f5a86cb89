"""Writing on agrees with its definition, tried by brute force, and with a real language model."""

import importlib
import itertools
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

ROOT = Path(__file__).parents[2]
NAMES = ("generate", "language_model", "encoder", "learned_positions")
PROVIDED = ("provided", "provided.blocks", "provided.scripted")

examples = settings(deadline=None, database=None, derandomize=True, max_examples=60)


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, ModuleType]]:
    """Import the solutions and what is provided, apart from other modules of these names."""
    wanted = (*NAMES, *PROVIDED)
    hidden = {name: sys.modules.pop(name) for name in wanted if name in sys.modules}
    folders = [str(ROOT / top / "language_model") for top in ("reference", "assignments")]
    sys.path[:0] = folders
    try:
        yield {name: importlib.import_module(name) for name in wanted}
    finally:
        for folder in folders:
            sys.path.remove(folder)
        for name in wanted:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)


def by_definition(row: list[float], temperature: float, top_k: int, top_p: float) -> list[float]:
    """Compute the probabilities of one row: the smallest set that is enough, of all sets."""
    powers = [math.exp((score - max(row)) / temperature) for score in row]
    words = sorted(range(len(row)), key=lambda word: -row[word])[:top_k]
    whole = math.fsum(powers[word] for word in words)
    shares = {word: powers[word] / whole for word in words}
    enough = [
        chosen
        for size in range(1, len(words) + 1)
        for chosen in itertools.combinations(words, size)
        if math.fsum(shares[word] for word in chosen) >= top_p
    ]
    fewest = min((len(chosen) for chosen in enough), default=len(words))
    # Of sets of one size, that of the likeliest words has the largest sum.
    best = max(
        (chosen for chosen in enough if len(chosen) == fewest),
        key=lambda chosen: math.fsum(shares[word] for word in chosen),
        default=tuple(words),
    )
    kept = math.fsum(shares[word] for word in best)
    return [shares[word] / kept if word in best else 0.0 for word in range(len(row))]


@examples
@given(
    row=st.lists(st.floats(-6, 6), min_size=1, max_size=6, unique=True),
    temperature=st.floats(0.2, 4),
    top_k=st.integers(1, 7),
    top_p=st.floats(0.01, 0.999),
)
def test_probabilities_are_those_of_the_definition(
    modules: dict[str, Any], row: list[float], temperature: float, top_k: int, top_p: float
) -> None:
    ordered = sorted(row)
    assume(all(b - a > 1e-6 for a, b in itertools.pairwise(ordered)))
    right = by_definition(row, temperature, top_k, top_p)
    found = modules["generate"].next_probabilities(
        torch.tensor([row, row[::-1]], dtype=torch.float64), temperature, top_k, top_p
    )
    assert found[0].tolist() == pytest.approx(right, abs=1e-12)
    assert found[1].tolist() == pytest.approx(right[::-1], abs=1e-12)


def test_without_controls_it_is_the_softmax(modules: dict[str, Any]) -> None:
    logits = torch.randn(2, 3, 50, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found = modules["generate"].next_probabilities(logits)
    torch.testing.assert_close(found, logits.softmax(-1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("max_len", [None, 3, 1])
def test_a_language_model_writes_what_it_finds_likeliest(
    modules: dict[str, Any], max_len: int | None
) -> None:
    torch.manual_seed(3)
    model = modules["language_model"].LanguageModel(7, 12, 8, 2, 16, 2, dropout=0.5)
    prompt = torch.randint(0, 7, (4, 2))
    text = modules["generate"].generate(model, prompt, 8, top_k=1, max_len=max_len)
    assert torch.equal(text[:, :2], prompt)
    assert text.shape == (4, 10)
    assert model.training
    model.eval()
    for position in range(2, 10):
        start = 0 if max_len is None else max(0, position - max_len)
        best = model(text[:, start:position])[:, -1].argmax(-1)
        assert torch.equal(text[:, position], best)


def test_texts_come_as_often_as_a_markov_chain_says(modules: dict[str, Any]) -> None:
    table = torch.tensor([[0.0, 1.0, -1.0], [2.0, 0.0, 0.5], [0.3, 0.2, 0.1]])
    model = modules["provided.scripted"].Table(table)
    torch.manual_seed(11)
    count = 20_000
    prompt = torch.zeros(count, 1, dtype=torch.long)
    text = modules["generate"].generate(model, prompt, 2, temperature=0.7)
    step = (table / 0.7).softmax(-1)
    for first, second in itertools.product(range(3), repeat=2):
        right = float(step[0, first] * step[first, second])
        found = ((text[:, 1] == first) & (text[:, 2] == second)).double().mean()
        assert abs(float(found) - right) < 5 * math.sqrt(right * (1 - right) / count)


def test_the_handouts_adder(modules: dict[str, Any]) -> None:
    def written(prompt: list[list[int]], **options: Any) -> list[list[int]]:
        adder = modules["provided.scripted"].Adder(10)
        text: Tensor = modules["generate"].generate(
            adder, torch.tensor(prompt), 4, temperature=0.0, **options
        )
        new: list[list[int]] = text[:, len(prompt[0]) :].tolist()
        return new

    assert written([[1, 2]]) == [[3, 6, 2, 4]]
    assert written([[1, 2], [4, 1]], end_id=2) == [[3, 6, 2, 2], [5, 0, 0, 0]]
    assert written([[3, 1, 4, 1, 5]], max_len=2) == [[6, 1, 7, 8]]
