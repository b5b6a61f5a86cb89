"""The model answer for relative positions agrees with torch's attention and plain arithmetic."""

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

SOLUTION = Path(__file__).parents[2] / "reference/language_model/relative_positions.py"

examples = settings(deadline=None, database=None, derandomize=True, max_examples=60)
sizes = st.integers(1, 5)
seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def relative() -> ModuleType:
    """Load the solution, which stands for itself."""
    spec = importlib.util.spec_from_file_location("_language_model_relative", SOLUTION)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawn_mask(kind: str, batch: int, length: int, rng: torch.Generator) -> Tensor | None:
    """Draw a mask in which every query has a key left."""
    if kind == "none":
        return None
    shape = (length, length) if kind == "shared" else (batch, length, length)
    chosen = torch.randint(0, length, (*shape[:-1], 1), generator=rng)
    return (torch.rand(shape, generator=rng) < 0.4).scatter(-1, chosen, True)


@examples
@given(length=st.integers(1, 9), far=st.integers(1, 11))
def test_distances_are_counted_one_by_one(relative, length, far):
    right = [[max(-far, min(far, j - i)) for j in range(length)] for i in range(length)]
    found = relative.relative_distances(length, far)
    assert found.dtype == torch.int64
    assert found.tolist() == right


@examples
@given(seed=seeds, heads=sizes, far=sizes, length=st.integers(1, 9))
def test_the_bias_is_looked_up_pair_by_pair(relative, seed, heads, far, length):
    rng = torch.Generator().manual_seed(seed)
    module = relative.RelativePositionBias(heads, far).double()
    table = torch.randn(2 * far + 1, heads, generator=rng, dtype=torch.float64)
    module.load_state_dict({"weight": table})
    cotangent = torch.randn(heads, length, length, generator=rng, dtype=torch.float64)
    found = module(length)
    right, gradient = torch.empty_like(cotangent), torch.zeros_like(table)
    for i in range(length):
        for j in range(length):
            row = max(-far, min(far, j - i)) + far
            right[:, i, j] = table[row]
            gradient[row] += cotangent[:, i, j]
    torch.testing.assert_close(found, right, rtol=0, atol=0)
    mine = torch.autograd.grad(found, module.weight, cotangent)[0]
    torch.testing.assert_close(mine, gradient, rtol=1e-12, atol=1e-12)


@examples
@given(
    seed=seeds,
    batch=sizes,
    heads=sizes,
    length=sizes,
    d_k=sizes,
    d_v=sizes,
    kind=st.sampled_from(["none", "shared", "per sequence"]),
)
def test_attention_is_torch_s_with_the_bias_as_its_mask(
    relative, seed, batch, heads, length, d_k, d_v, kind
):
    rng = torch.Generator().manual_seed(seed)
    shapes = [(batch, heads, length, size) for size in (d_k, d_k, d_v)] + [(heads, length, length)]
    leaves = [
        torch.randn(shape, generator=rng, dtype=torch.float64).requires_grad_() for shape in shapes
    ]
    mask = drawn_mask(kind, batch, length, rng)
    query, key, value, bias = leaves
    # Torch adds a mask of floats to the scaled scores; heads and sequences are spread by hand.
    added = torch.stack([bias] * batch)
    allowed = torch.ones(added.shape, dtype=torch.bool)
    if mask is not None:
        each = mask if mask.dim() == 3 else torch.stack([mask] * batch)
        allowed = torch.stack([each] * heads, dim=1)
    added = added.masked_fill(~allowed, -math.inf)
    right = F.scaled_dot_product_attention(query, key, value, attn_mask=added)
    found, weights = relative.relative_attention(query, key, value, bias, mask)
    torch.testing.assert_close(found, right, rtol=1e-12, atol=1e-12)
    cotangent = torch.randn(right.shape, generator=rng, dtype=torch.float64)
    mine = torch.autograd.grad(found, leaves, cotangent, retain_graph=True)
    theirs = torch.autograd.grad(right, leaves, cotangent)
    torch.testing.assert_close(mine, theirs, rtol=1e-10, atol=1e-11)
    # With an identity for values, torch's output is its weights.
    identity = torch.eye(length, dtype=torch.float64).expand(batch, heads, length, length)
    right = F.scaled_dot_product_attention(query, key, identity, attn_mask=added)
    torch.testing.assert_close(weights, right, rtol=1e-12, atol=1e-12)
    assert (weights[~allowed] == 0).all()


def test_the_start_is_normal_with_a_deviation_of_0_02(relative):
    torch.manual_seed(5)
    module = relative.RelativePositionBias(200, 250)
    assert {key: tuple(value.shape) for key, value in module.state_dict().items()} == {
        "weight": (501, 200)
    }
    z = module.weight.detach().double().flatten() / 0.02
    # The moments of 100,200 normal numbers, each within six standard errors.
    assert abs(z.mean()) < 0.02
    assert abs(z.square().mean() - 1) < 0.03
    assert abs(z.pow(4).mean() - 3) < 0.19


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_dtype_and_device_are_kept(relative, dtype):
    bias = relative.RelativePositionBias(2, 3).to(dtype=dtype, device="meta")(5)
    assert (bias.dtype, bias.device.type, bias.shape) == (dtype, "meta", (2, 5, 5))
    x = torch.empty(3, 2, 5, 4, dtype=dtype, device="meta")
    mask = torch.empty(3, 5, 5, dtype=torch.bool, device="meta")
    for found in relative.relative_attention(x, x, x, bias, mask):
        assert (found.dtype, found.device.type) == (dtype, "meta")


def test_the_handout_s_examples(relative):
    table = torch.tensor([[0.1, -0.4], [0.2, -0.5], [0.3, -0.6]])
    module = relative.RelativePositionBias(2, 1)
    module.load_state_dict({"weight": table})
    first, second = (
        [[0.2, 0.3, 0.3], [0.1, 0.2, 0.3], [0.1, 0.1, 0.2]],
        [
            [-0.5, -0.6, -0.6],
            [-0.4, -0.5, -0.6],
            [-0.4, -0.4, -0.5],
        ],
    )
    torch.testing.assert_close(module(3), torch.tensor([first, second]), rtol=0, atol=0)
    module.load_state_dict({"weight": torch.tensor([[1.0], [2.0], [3.0]]).log().expand(3, 2)})
    zeros = torch.zeros(1, 2, 3, 4)
    weights = relative.relative_attention(zeros, zeros, zeros, module(3))[1]
    right = torch.tensor([[0.25, 0.375, 0.375], [1 / 6, 1 / 3, 0.5], [0.25, 0.25, 0.5]])
    torch.testing.assert_close(weights, right.expand(1, 2, 3, 3), rtol=0, atol=1e-7)
    query = torch.tensor([[[[1.0] * 4, [0.0] * 4]]])
    bias = torch.tensor([[[0.0, 2.0], [0.0, 0.0]]])
    weights = relative.relative_attention(query, query, query, bias)[1]
    torch.testing.assert_close(weights[0, 0, 0], torch.tensor([0.5, 0.5]))
