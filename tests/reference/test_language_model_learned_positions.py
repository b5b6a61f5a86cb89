"""The model answer for learned positions agrees with torch's own embedding, in float64."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

REFERENCE = Path(__file__).parents[2] / "reference/language_model"
ASSIGNMENT = Path(__file__).parents[2] / "assignments/language_model"

examples = settings(deadline=None, database=None, derandomize=True, max_examples=60)
sizes = st.integers(1, 6)
seeds = st.integers(0, 2**32 - 1)


def loaded(path: Path) -> ModuleType:
    """Load a file that stands for itself."""
    spec = importlib.util.spec_from_file_location(f"_{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", params=["solution", "stand-in"])
def positions(request):
    folder = REFERENCE if request.param == "solution" else REFERENCE / "stand_ins"
    return loaded(folder / "learned_positions.py").LearnedPositionalEmbedding


@examples
@given(seed=seeds, batch=sizes, length=sizes, more=st.integers(0, 3), features=sizes)
def test_values_and_gradients_are_those_of_an_embedding(
    positions, seed, batch, length, more, features
):
    rng = torch.Generator().manual_seed(seed)
    oracle = nn.Embedding(length + more, features, dtype=torch.float64)
    module = positions(length + more, features).double()
    with torch.no_grad():
        table = torch.randn(length + more, features, generator=rng, dtype=torch.float64)
        oracle.weight.copy_(table)
        module.weight.copy_(table)
    x = torch.randn(batch, length, features, generator=rng, dtype=torch.float64).requires_grad_()
    cotangent = torch.randn(x.shape, generator=rng, dtype=torch.float64)
    found, right = module(x), x + oracle(torch.arange(length)).unsqueeze(0)
    torch.testing.assert_close(found, right, rtol=0, atol=0)
    mine = torch.autograd.grad(found, (x, module.weight), cotangent)
    theirs = torch.autograd.grad(right, (x, oracle.weight), cotangent)
    torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-12)


def test_the_start_is_normal_with_a_deviation_of_0_02(positions):
    torch.manual_seed(5)
    module = positions(500, 200)
    assert {key: tuple(value.shape) for key, value in module.state_dict().items()} == {
        "weight": (500, 200)
    }
    z = module.weight.detach().double().flatten() / 0.02
    # The moments of 100,000 normal numbers, each within six standard errors.
    assert abs(z.mean()) < 0.02
    assert abs(z.square().mean() - 1) < 0.03
    assert abs(z.pow(4).mean() - 3) < 0.19


@pytest.mark.parametrize(("max_len", "length"), [(1, 2), (4, 5), (4, 40)])
def test_what_is_too_long_is_a_value_error(positions, max_len, length):
    assert positions(max_len, 3)(torch.zeros(2, max_len, 3)).shape == (2, max_len, 3)
    with pytest.raises(ValueError, match=rf"{length}\b.*\b{max_len}\b"):
        positions(max_len, 3)(torch.zeros(2, length, 3))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_dtype_and_device_are_kept(positions, dtype):
    module = positions(4, 3).to(dtype=dtype, device="meta")
    found = module(torch.empty(2, 4, 3, dtype=dtype, device="meta"))
    assert (found.dtype, found.device.type, found.shape) == (dtype, "meta", (2, 4, 3))


def test_the_handout_s_example():
    positions = loaded(REFERENCE / "learned_positions.py").LearnedPositionalEmbedding
    module = positions(3, 4).double()
    rows = [[0.0] * 4, [0.02, -0.01, 0.03, 0.0], [-0.03, 0.01, 0.0, 0.02]]
    table = torch.tensor(rows, dtype=torch.float64)
    module.load_state_dict({"weight": table})
    cat = torch.tensor([0.5, 0.3, -0.2, 0.8], dtype=torch.float64)
    found = module(cat.expand(1, 3, 4))[0, 1:]
    right = [[0.52, 0.29, -0.17, 0.8], [0.47, 0.31, -0.2, 0.82]]
    torch.testing.assert_close(found, found.new_tensor(right), rtol=0, atol=1e-12)
    handout = (ASSIGNMENT / "README.md").read_text("utf-8")
    assert "[0.52, 0.29, -0.17, 0.8]" in handout
    assert "[0.47, 0.31, -0.2, 0.82]" in handout
