"""The encoder of `language_model` agrees with torch's own stack of encoder layers."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

ROOT = Path(__file__).parents[2]
REFERENCE, GIVEN = ROOT / "reference/language_model", ROOT / "assignments/language_model"
EXACT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-10}
examples = settings(deadline=None, database=None, derandomize=True, max_examples=25)
seeds = st.integers(0, 2**32 - 1)
masks = st.sampled_from(["none", "causal", "per sequence"])
norms = st.sampled_from(["pre", "post"])


@pytest.fixture(scope="module")
def encoder() -> Iterator[Any]:
    """Load the solution apart: plain names like `encoder` stay out of other tests."""
    names = [path.stem for path in REFERENCE.glob("*.py")] + ["provided", "provided.blocks"]
    hidden = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    places = [str(REFERENCE), str(GIVEN)]
    sys.path[:0] = places
    try:
        yield importlib.import_module("encoder").Encoder
    finally:
        for place in places:
            sys.path.remove(place)
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)


def randomised(module: Any, seed: int) -> Any:
    """Give every parameter random float64 values; the module is in evaluation."""
    generator = torch.Generator().manual_seed(seed)
    module.double().eval()
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(1 + 0.1 * drawn if "norm" in name and "weight" in name else 0.5 * drawn)
    return module


def torch_stack(module: Any, heads: int, norm: str, x: Tensor, mask: Tensor | None) -> list[Tensor]:
    """Run torch's own encoder layers with the weights of the blocks; return each one's output."""
    outputs, forbidden = [], None
    if mask is not None:
        forbidden = ~mask.expand(len(x), -1, -1).repeat_interleave(heads, dim=0)
    for block in module.blocks:
        attention, hidden = block.attention, block.feed_forward
        linears = (attention.q_linear, attention.k_linear, attention.v_linear)
        size = hidden.linear1.out_features
        layer = nn.TransformerEncoderLayer(
            x.size(-1), heads, size, 0.0, F.relu, batch_first=True, norm_first=norm == "pre"
        )
        layer.double().eval()
        state = {
            "self_attn.in_proj_weight": torch.cat([linear.weight for linear in linears]),
            "self_attn.in_proj_bias": torch.cat([linear.bias for linear in linears]),
            "self_attn.out_proj.weight": attention.out_proj.weight,
            "self_attn.out_proj.bias": attention.out_proj.bias,
        }
        for name, part in (("linear1", hidden.linear1), ("linear2", hidden.linear2)):
            state |= {f"{name}.weight": part.weight, f"{name}.bias": part.bias}
        for name, part in (("norm1", block.norm1), ("norm2", block.norm2)):
            state |= {f"{name}.weight": part.weight, f"{name}.bias": part.bias}
        layer.load_state_dict(state)
        x = layer(x, src_mask=forbidden)
        outputs.append(x)
    return outputs


def drawn_mask(kind: str, batch: int, length: int, seed: int) -> Tensor | None:
    """Draw a mask in which every query has its own key."""
    if kind == "none":
        return None
    if kind == "causal":
        return torch.ones(length, length).tril() > 0
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.rand(batch, length, length, generator=generator) < 0.5
    return drawn | torch.eye(length, dtype=torch.bool)


@examples
@given(
    seed=seeds, kind=masks, norm=norms, blocks=st.integers(0, 3), batch=st.integers(1, 3),
    length=st.integers(1, 6), heads=st.sampled_from([1, 2, 4]),
)  # fmt: skip
def test_stream_and_result_are_those_of_torch(
    encoder: Any, seed: int, kind: str, norm: str, blocks: int, batch: int, length: int, heads: int
) -> None:
    module = randomised(encoder(9, 6, 8, heads, 5, blocks, 0.3, norm), seed)
    ids = torch.randint(0, 9, (batch, length), generator=torch.Generator().manual_seed(seed))
    mask = drawn_mask(kind, batch, length, seed)
    start = F.embedding(ids, module.token_embedding.weight) + module.positions.weight[:length]
    stream = module.stream(ids, mask)
    right = [start, *torch_stack(module, heads, norm, start, mask)]
    torch.testing.assert_close(stream, torch.stack(right), **EXACT)
    last = right[-1]
    if norm == "pre":
        last = F.layer_norm(last, (8,), module.final_norm.weight, module.final_norm.bias)
    torch.testing.assert_close(module(ids, mask), last, **EXACT)


def test_causal_mask_holds_through_the_whole_stack(encoder: Any) -> None:
    module = randomised(encoder(9, 6, 8, 2, 5, 4), 1)
    mask = torch.ones(6, 6).tril() > 0
    start = torch.randn(1, 6, 8, dtype=torch.float64).requires_grad_()
    x = start
    for block in module.blocks:
        x = block(x, mask)
    for place in range(6):
        (gradient,) = torch.autograd.grad(x[0, place].sum(), start, retain_graph=True)
        assert torch.equal(gradient[0].abs().amax(-1) > 0, torch.arange(6) <= place)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_keys_and_start(encoder: Any, norm: str) -> None:
    torch.manual_seed(0)
    module = encoder(400, 300, 16, 4, 8, 2, norm=norm)
    state = module.state_dict()
    outside = {key for key in state if not key.startswith("blocks.")}
    final = {"final_norm.weight", "final_norm.bias"} if norm == "pre" else set()
    assert outside == {"token_embedding.weight", "positions.weight"} | final
    assert {key.split(".")[1] for key in set(state) - outside} == {"0", "1"}
    assert state["token_embedding.weight"].std().item() == pytest.approx(0.02, abs=0.001)
    assert state["positions.weight"].std().item() == pytest.approx(0.02, abs=0.002)
    assert not torch.equal(
        state["blocks.0.feed_forward.linear1.weight"], state["blocks.1.feed_forward.linear1.weight"]
    )


def test_dropout_is_the_blocks_alone(encoder: Any) -> None:
    module = encoder(9, 6, 8, 2, 5, 2, 1.0).train()
    stream = module.stream(torch.zeros(2, 4, dtype=torch.int64))
    assert torch.equal(stream[0], stream[2])  # with everything dropped, the blocks add nothing
    assert stream[0].abs().min() > 0


def test_what_is_refused(encoder: Any) -> None:
    with pytest.raises(ValueError, match="middle"):
        encoder(9, 6, 8, 2, 5, 0, norm="middle")
    module = encoder(9, 3, 8, 2, 5, 1)
    ids = torch.zeros(1, 4, dtype=torch.int64)
    for call in (module, module.stream):
        assert call(ids[:, :3]).shape[-2:] == (3, 8)
        with pytest.raises(ValueError, match="4 tokens"):
            call(ids)


def test_the_handouts_worked_example(encoder: Any) -> None:
    module = encoder(3, 8, 4, 1, 3, 2).double().eval()
    state = {key: torch.zeros_like(value) for key, value in module.state_dict().items()}
    state["final_norm.weight"] += 1
    state["token_embedding.weight"][2] = torch.tensor([0.3, 0.0, 0.2, 0.1])
    state["positions.weight"][0] = torch.tensor([0.1, 0.2, 0.0, 0.0])
    state["blocks.0.attention.out_proj.bias"][:] = torch.tensor([0.3, 0.2, 0.3, 0.1])
    state["blocks.1.feed_forward.linear2.bias"][:] = torch.tensor([0.1, 0.05, 1.12, 0.3])
    module.load_state_dict(state)
    ids = torch.tensor([[2]])
    rows = [[0.4, 0.2, 0.2, 0.1], [0.7, 0.4, 0.5, 0.2], [0.8, 0.45, 1.62, 0.5]]
    right = torch.tensor(rows, dtype=torch.float64)
    torch.testing.assert_close(module.stream(ids)[:, 0, 0], right, rtol=0, atol=1e-6)
    normed = torch.tensor([-0.0907282, -0.8379014, 1.6597919, -0.7311623], dtype=torch.float64)
    torch.testing.assert_close(module(ids)[0, 0], normed, rtol=0, atol=2e-6)
