"""The classifier of `language_model` agrees with the walkthrough and with plain arithmetic."""

import importlib
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

ROOT = Path(__file__).parents[2]
REFERENCE, GIVEN = ROOT / "reference/language_model", ROOT / "assignments/language_model"
WALKTHROUGH = json.loads((GIVEN / "tests" / "walkthrough.json").read_text(encoding="utf-8"))
EXACT: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-11}
examples = settings(deadline=None, database=None, derandomize=True, max_examples=40)
seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def solution() -> Iterator[ModuleType]:
    """Load the solution apart: plain names like `classifier` stay out of other tests."""
    names = [path.stem for path in REFERENCE.glob("*.py")] + ["provided", "provided.blocks"]
    hidden = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    places = [str(REFERENCE), str(GIVEN)]
    sys.path[:0] = places
    try:
        yield importlib.import_module("classifier")
    finally:
        for place in places:
            sys.path.remove(place)
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)


def trained(solution: ModuleType) -> Any:
    """Build the walkthrough's classifier in float64."""
    built = solution.Classifier(5, 2, 2, 2).double()
    weights = WALKTHROUGH["weights"].items()
    built.load_state_dict({key: torch.tensor(w, dtype=torch.float64) for key, w in weights})
    return built.eval()


def by_hand(ids: list[int], mask: list[list[bool]]) -> dict[str, list[Any]]:
    """Compute the walkthrough's model for one sequence with Python's own floats.

    Two features, and two heads of one feature each: nothing but numbers.
    """
    w = WALKTHROUGH["weights"]

    def times(key: str, vector: list[float]) -> list[float]:
        return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in w[key]]

    def added(one: list[float], other: list[float]) -> list[float]:
        return [a + b for a, b in zip(one, other, strict=True)]

    places = range(len(ids))
    x = [w["embedding.weight"][i] for i in ids]
    q, k, v = ([times(f"attention.{n}_linear.weight", token) for token in x] for n in "qkv")
    weights = []
    for head in (0, 1):
        rows = []
        for i in places:
            powers = [math.exp(q[i][head] * k[j][head]) if mask[i][j] else 0.0 for j in places]
            rows.append([power / sum(powers) for power in powers])
        weights.append(rows)
    mixed = [
        [sum(weights[head][i][j] * v[j][head] for j in places) for head in (0, 1)] for i in places
    ]
    output = [times("attention.out_proj.weight", token) for token in mixed]
    after = [added(a, b) for a, b in zip(x, output, strict=True)]
    inside = [times("feed_forward.linear1.weight", token) for token in after]
    active = [[z * 0.5 * (1 + math.erf(z / math.sqrt(2))) for z in token] for token in inside]
    fed = [times("feed_forward.linear2.weight", token) for token in active]
    block = [added(a, b) for a, b in zip(after, fed, strict=True)]

    def heads(tokens: list[list[float]]) -> list[list[list[float]]]:
        return [[[token[head]] for token in tokens] for head in (0, 1)]

    return {
        "embedded": x,
        "query": heads(q),
        "key": heads(k),
        "value": heads(v),
        "attention_weights": weights,
        "attention_values": mixed,
        "attention_output": output,
        "after_attention": after,
        "feed_forward_output": fed,
        "block_output": block,
        "logits": times("classifier.weight", block[0]),
    }


def test_every_step_of_the_walkthrough_is_that_of_plain_arithmetic(solution: ModuleType) -> None:
    ids, mask = WALKTHROUGH["token_ids"], WALKTHROUGH["mask"]
    trace = trained(solution).trace(torch.tensor(ids), torch.tensor(mask))
    for number in (0, 1):
        steps = by_hand(ids[number], mask[number])
        assert list(trace) == list(steps)
        for name, right in steps.items():
            expected = torch.tensor(right, dtype=torch.float64)
            found = trace[name][number]
            torch.testing.assert_close(found.reshape(expected.shape), expected, **EXACT)


def test_the_file_has_the_numbers_of_float64_to_seven_digits(solution: ModuleType) -> None:
    asked = torch.tensor(WALKTHROUGH["token_ids"]), torch.tensor(WALKTHROUGH["mask"])
    trace = trained(solution).trace(*asked)
    for name, right in WALKTHROUGH["expected"].items():
        expected = torch.tensor(right, dtype=torch.float64)
        torch.testing.assert_close(trace[name], expected, rtol=2e-5, atol=2e-6)
    assert trained(solution)(*asked).tolist() == pytest.approx([-8.29451942, 10.958724], abs=2e-6)


@pytest.mark.parametrize("head", [0, 1])
def test_printed_weights_of_cls(solution: ModuleType, head: int) -> None:
    """Five digits are printed; the last can be off by one."""
    asked = torch.tensor(WALKTHROUGH["token_ids"]), torch.tensor(WALKTHROUGH["mask"])
    weights = trained(solution).trace(*asked)["attention_weights"]
    printed = WALKTHROUGH["printed"][f"attention_weights[:,{head},0]"]
    for found, said in zip(weights[:, head, 0].tolist(), printed, strict=True):
        assert found == pytest.approx(said, rel=6e-5, abs=0.0)


def test_the_handouts_other_numbers(solution: ModuleType) -> None:
    logits = torch.tensor([-8.29451942, 10.958724], dtype=torch.float64)
    labels = torch.tensor([0, 1])
    assert solution.cross_entropy(logits, labels).item() == pytest.approx(0.0001336, abs=5e-8)
    assert solution.accuracy(logits, labels) == 1.0
    logits = torch.tensor([0.0, 2.0, -1.0], dtype=torch.float64)
    loss = solution.cross_entropy(logits, torch.tensor([1, 1, 0])).item()
    assert loss == pytest.approx(0.3777790, abs=5e-8)


@examples
@given(
    seed=seeds, batch=st.integers(1, 3), length=st.integers(1, 5),
    heads=st.sampled_from([(1, 4), (2, 3), (3, 1)]), masked=st.booleans(),
)  # fmt: skip
def test_trace_is_what_the_provided_parts_compute(
    solution: ModuleType, seed: int, batch: int, length: int, heads: tuple[int, int], masked: bool
) -> None:
    """The parts run torch's own multi-head attention, the trace computes in the open."""
    generator = torch.Generator().manual_seed(seed)
    width = heads[0] * heads[1]
    built = solution.Classifier(6, width, heads[0], 7).double()
    with torch.no_grad():
        for parameter in built.parameters():
            drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(drawn)
    ids = torch.randint(0, 6, (batch, length), generator=generator)
    mask: Tensor | None = None
    if masked:
        mask = torch.rand(batch, length, length, generator=generator) < 0.5
        mask = mask | torch.eye(length, dtype=torch.bool)
    trace = built.trace(ids, mask)
    x = F.embedding(ids, built.embedding.weight)
    output, weights = built.attention(x, mask)
    torch.testing.assert_close(trace["attention_weights"], weights, **EXACT)
    torch.testing.assert_close(trace["attention_output"], output, **EXACT)
    x = x + output
    x = x + built.feed_forward(x)
    torch.testing.assert_close(trace["block_output"], x, **EXACT)
    logits = (x[:, 0] * built.classifier.weight[0]).sum(-1)
    torch.testing.assert_close(built(ids, mask), logits, **EXACT)
    assert {name for name in built.state_dict() if "bias" in name} == set()


@examples
@given(seed=seeds, batch=st.integers(1, 6))
def test_losses_one_by_one(solution: ModuleType, seed: int, batch: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    logits = 5 * torch.randn(batch, generator=generator, dtype=torch.float64)
    labels = torch.randint(0, 2, (batch,), generator=generator)
    pairs = list(zip(logits.tolist(), labels.tolist(), strict=True))
    chances = [1 / (1 + math.exp(-logit)) for logit, _ in pairs]
    losses = [
        -math.log(chance if label else 1 - chance)
        for chance, (_, label) in zip(chances, pairs, strict=True)
    ]
    for kind in (torch.int64, torch.bool):
        found = solution.cross_entropy(logits, labels.to(kind))
        assert found.item() == pytest.approx(sum(losses) / batch, rel=1e-9)
        right = sum((logit > 0) == (label == 1) for logit, label in pairs) / batch
        assert solution.accuracy(logits, labels.to(kind)) == pytest.approx(right)


def test_large_logits_and_a_logit_of_zero(solution: ModuleType) -> None:
    logits = torch.tensor([4e4, -4e4])
    assert solution.cross_entropy(logits, torch.tensor([1, 0])).item() == 0.0
    assert solution.cross_entropy(logits, torch.tensor([0, 1])).item() == 4e4
    assert solution.accuracy(torch.zeros(2), torch.tensor([0, 1])) == 0.5


@examples
@given(
    ids=st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), min_size=1, max_size=3),
    hidden=st.lists(st.integers(0, 6), max_size=3),
)
def test_visible_mask_cell_by_cell(
    solution: ModuleType, ids: list[list[int]], hidden: list[int]
) -> None:
    found = solution.visible_mask(torch.tensor(ids), hidden)
    right = [[[key not in hidden for key in sequence] for _ in sequence] for sequence in ids]
    assert found.tolist() == right
    assert found.dtype == torch.bool
