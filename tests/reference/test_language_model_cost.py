"""The costs agree with what torch counts in its own modules, and with their definitions."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

ROOT = Path(__file__).parents[2]
WANTED = ("cost", "encoder", "learned_positions", "provided", "provided.blocks")

examples = settings(deadline=None, database=None, derandomize=True, max_examples=25)
sizes = st.integers(1, 24)


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, ModuleType]]:
    """Import the solutions and what is provided, apart from other modules of these names."""
    hidden = {name: sys.modules.pop(name) for name in WANTED if name in sys.modules}
    folders = [str(ROOT / top / "language_model") for top in ("reference", "assignments")]
    sys.path[:0] = folders
    try:
        yield {name: importlib.import_module(name) for name in WANTED}
    finally:
        for folder in folders:
            sys.path.remove(folder)
        for name in WANTED:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)


def multiplied(module: nn.Module, *inputs: Any) -> int:
    """Count the multiplications of a module of torch's own."""
    with FlopCounterMode(display=False) as counter:
        module(*inputs)
    return int(counter.get_total_flops()) // 2


@examples
@given(n=sizes, half=st.integers(1, 12), f=sizes, layers=st.integers(1, 3))
def test_torchs_own_modules_cost_as_much(
    modules: dict[str, Any], n: int, half: int, f: int, layers: int
) -> None:
    d = 2 * half
    x = torch.zeros(1, n, d)
    # With weights asked for: what torch fuses for the CPU, its counter does not see.
    attention = multiplied(nn.MultiheadAttention(d, 2, batch_first=True), x, x, x)
    layer = multiplied(nn.Sequential(nn.Linear(d, f), nn.ReLU(), nn.Linear(f, d)), x)
    cost = modules["cost"]
    assert cost.projection_cost(n, d) + cost.attention_cost(n, d) == attention
    assert cost.encoder_cost(n, d, f, layers) == layers * (attention + layer)


@examples
@given(n=sizes, d=sizes, f=sizes)
def test_layers_cost_what_their_shapes_say(modules: dict[str, Any], n: int, d: int, f: int) -> None:
    x = torch.zeros(n, d)
    projection, expand, contract = nn.Linear(d, d), nn.Linear(d, f), nn.Linear(f, d)
    cost = modules["cost"]
    assert cost.projection_cost(n, d) == 4 * multiplied(projection, x)
    layers = multiplied(nn.Sequential(expand, nn.ReLU(), contract), x)
    assert cost.feed_forward_cost(n, d, f) == layers
    block = cost.projection_cost(n, d) + cost.attention_cost(n, d) + layers
    assert cost.encoder_cost(n, d, f, 1) == block


@examples
@given(d=st.integers(1, 500), f=st.integers(1, 2000))
def test_from_the_meeting_length_on_attention_costs_more(
    modules: dict[str, Any], d: int, f: int
) -> None:
    cost = modules["cost"]
    met = cost.meeting_length(d, f)

    def more(n: int) -> bool:
        rest = cost.projection_cost(n, d) + cost.feed_forward_cost(n, d, f)
        return bool(cost.attention_cost(n, d) >= rest)

    assert more(met)
    assert more(met + 1)
    assert not more(met - 1)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("training", [True, False])
def test_the_encoder_counts_what_the_formula_says(
    modules: dict[str, Any], norm: str, training: bool
) -> None:
    encoder = modules["encoder"].Encoder(3, 30, 12, 3, 20, 2, norm=norm).train(training)
    for n in (1, 7, 30):
        right = modules["cost"].encoder_cost(n, 12, 20, 2)
        assert modules["cost"].counted_cost(encoder, n) == right
    assert encoder.training == training
    assert all(parameter.grad is None for parameter in encoder.parameters())


def test_the_handouts_numbers(modules: dict[str, Any]) -> None:
    cost = modules["cost"]
    parts = cost.projection_cost(5, 64), cost.attention_cost(5, 64)
    assert (*parts, cost.feed_forward_cost(5, 64, 256)) == (81_920, 3_200, 163_840)
    assert cost.encoder_cost(5, 64, 256, 2) == 497_920
    assert cost.meeting_length(64, 256) == 384
    assert cost.attention_cost(384, 64) == 18_874_368
    encoder = modules["encoder"].Encoder(9, 5, 64, 4, 256, 2)
    assert multiplied(encoder, torch.zeros(1, 5, dtype=torch.long)) == 497_920
