"""The model answers agree with PyTorch's own operations, with the course, and with the contract.

What a model answer computes is compared, in float64, with the built-in that does the same thing:
values, and gradients to the inputs and to every parameter. The built-ins are told apart from the
answers by construction, since no answer may call one.
"""

import copy
import inspect
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

EXACT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12}
PRINTED: dict[str, Any] = {"rtol": 0.0, "atol": 1e-7}  # seven decimals are written down
ROUNDED_TO_3: dict[str, Any] = {"rtol": 0.0, "atol": 5.1e-4}
MASKS = ("none", "causal", "padding", "causal and padding", "random", "random per sequence")
WALKTHROUGH = json.loads(Path(__file__).with_name("walkthrough.json").read_text(encoding="utf-8"))

examples = settings(deadline=None, database=None, derandomize=True, max_examples=100)
sizes = st.integers(1, 6)
lengths = st.integers(1, 9)
seeds = st.integers(0, 2**32 - 1)
masks = st.sampled_from(MASKS)
flags = st.booleans()


def f64(data: Any) -> Tensor:
    """Make a float64 tensor of `data`."""
    return torch.tensor(data, dtype=torch.float64)


def generator(seed: int) -> torch.Generator:
    """Make a source of random numbers that nothing else draws from."""
    return torch.Generator().manual_seed(seed)


def normal(rng: torch.Generator, *shape: int) -> Tensor:
    """Draw a float64 tensor that asks for its gradient."""
    return torch.randn(*shape, generator=rng, dtype=torch.float64).requires_grad_()


def randomize(module: nn.Module, rng: torch.Generator) -> Any:
    """Give every parameter of `module` random float64 values, biases and norms included."""
    module.double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=rng, dtype=torch.float64))
    return module


def make_mask(kind: str, batch: int, length: int, rng: torch.Generator) -> Tensor | None:
    """Draw a mask of a kind, True = may attend, with at least one allowed key in every row."""
    if kind == "none":
        return None
    causal = torch.ones(length, length).tril() > 0
    used = torch.randint(1, length + 1, (batch,), generator=rng)
    padding = (torch.arange(length) < used[:, None])[:, None, :].expand(batch, length, length)
    if kind == "causal":
        return causal
    if kind == "padding":
        return padding
    if kind == "causal and padding":
        return causal & padding
    shape = (length, length) if kind == "random" else (batch, length, length)
    allowed = torch.randint(0, length, shape[:-1], generator=rng)[..., None]
    return (torch.rand(shape, generator=rng) < 0.4).scatter(-1, allowed, True)


def assert_agree(actual: Tensor, oracle: Tensor, leaves: Sequence[Tensor]) -> None:
    """Demand equal values, and equal gradients to all `leaves` for one random cotangent."""
    torch.testing.assert_close(actual, oracle, **EXACT)
    cotangent = torch.randn(oracle.shape, generator=generator(0), dtype=oracle.dtype)
    gradients = torch.autograd.grad(actual, leaves, cotangent, retain_graph=True)
    expected = torch.autograd.grad(oracle, leaves, cotangent, retain_graph=True)
    for mine, theirs in zip(gradients, expected, strict=True):
        # A gradient is a sum of terms that may cancel, so its error is judged by its largest entry.
        scale = theirs.abs().max().clamp(min=1.0)
        torch.testing.assert_close(mine / scale, theirs / scale, rtol=1e-11, atol=1e-11)


def keys_of(module: nn.Module) -> dict[str, tuple[int, ...]]:
    """List the state_dict as names and shapes."""
    return {name: tuple(value.shape) for name, value in module.state_dict().items()}


# --- PyTorch's own operations, on the parameters of the module under test ------------------------


def oracle_multi_head(
    x: Tensor, module: nn.Module, num_heads: int, mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Run torch's multi-head attention with the weights of `module` (`out_proj` may be absent)."""
    batch, length, width = x.shape
    linears: list[Any] = [module.q_linear, module.k_linear, module.v_linear]
    has_bias = linears[0].bias is not None
    out_proj: Any = getattr(module, "out_proj", None)
    forbidden = None
    if mask is not None:
        forbidden = ~mask.expand(batch, length, length).repeat_interleave(num_heads, dim=0)
    output, weights = F.multi_head_attention_forward(
        *(x.transpose(0, 1),) * 3,
        embed_dim_to_check=width,
        num_heads=num_heads,
        in_proj_weight=torch.cat([linear.weight for linear in linears]),
        in_proj_bias=torch.cat([linear.bias for linear in linears]) if has_bias else None,
        bias_k=None,
        bias_v=None,
        add_zero_attn=False,
        dropout_p=0.0,
        out_proj_weight=torch.eye(width, dtype=x.dtype) if out_proj is None else out_proj.weight,
        out_proj_bias=None if out_proj is None else out_proj.bias,
        attn_mask=forbidden,
        average_attn_weights=False,
    )
    assert weights is not None
    return output.transpose(0, 1), weights


def oracle_feed_forward(x: Tensor, module: Any, activation: str) -> Tensor:
    """Run torch's linear layers and activation with the weights of `module`."""
    hidden = F.linear(x, module.linear1.weight, module.linear1.bias)
    hidden = F.gelu(hidden) if activation == "gelu" else F.relu(hidden)
    return F.linear(hidden, module.linear2.weight, module.linear2.bias)


def oracle_encoder_layer(
    x: Tensor, block: Any, num_heads: int, norm: str, activation: str, mask: Tensor | None
) -> Tensor:
    """Run torch's encoder layer with the weights of `block`, which must have biases."""
    attention, feed_forward = block.attention, block.feed_forward
    linears = (attention.q_linear, attention.k_linear, attention.v_linear)
    layer = nn.TransformerEncoderLayer(
        x.size(-1),
        num_heads,
        feed_forward.linear1.out_features,
        activation=activation,
        norm_first=norm == "pre",
        batch_first=True,
        dtype=torch.float64,
    ).eval()
    weights = {
        "self_attn.in_proj_weight": torch.cat([linear.weight for linear in linears]),
        "self_attn.in_proj_bias": torch.cat([linear.bias for linear in linears]),
        "self_attn.out_proj.weight": attention.out_proj.weight,
        "self_attn.out_proj.bias": attention.out_proj.bias,
        **{
            f"{part}.{kind}": getattr(getattr(block, part), kind)
            for part in ("norm1", "norm2")
            for kind in ("weight", "bias")
        },
        **{
            f"{part}.{kind}": getattr(getattr(feed_forward, part), kind)
            for part in ("linear1", "linear2")
            for kind in ("weight", "bias")
        },
    }
    assert set(weights) == set(layer.state_dict())
    forbidden = None
    if mask is not None:
        forbidden = ~mask.expand(x.size(0), -1, -1).repeat_interleave(num_heads, dim=0)
    output: Tensor = torch.func.functional_call(layer, weights, (x, forbidden))
    return output


def oracle_block(
    x: Tensor, block: Any, num_heads: int, norm: str, activation: str, mask: Tensor | None
) -> Tensor:
    """Compose torch's operations as the contract words the three kinds of block."""

    def normalise(part: Any, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], part.weight, part.bias)

    def attend(x: Tensor) -> Tensor:
        return oracle_multi_head(x, block.attention, num_heads, mask)[0]

    def look_up(x: Tensor) -> Tensor:
        return oracle_feed_forward(x, block.feed_forward, activation)

    if norm == "post":
        x = normalise(block.norm1, x + attend(x))
        return normalise(block.norm2, x + look_up(x))
    if norm == "pre":
        x = x + attend(normalise(block.norm1, x))
        return x + look_up(normalise(block.norm2, x))
    x = x + attend(x)
    return x + look_up(x)


# --- layer_norm ----------------------------------------------------------------------------------


@examples
@given(
    lead=st.lists(sizes, max_size=3),
    width=st.integers(1, 40),
    eps=st.sampled_from([1e-5, 1e-12, 1e-3, 0.1, 2.0]),
    seed=seeds,
)
def test_layer_norm_agrees_with_torch(
    solution: SimpleNamespace, lead: list[int], width: int, eps: float, seed: int
) -> None:
    rng = generator(seed)
    x = normal(rng, *lead, width)
    module = randomize(solution.layer_norm.LayerNorm(width, eps), rng)
    if width > 1 or eps > 1e-4:  # a variance of 0 over a tiny eps magnifies rounding
        assert_agree(
            solution.layer_norm.layer_norm(x, eps), F.layer_norm(x, (width,), eps=eps), [x]
        )
        oracle = F.layer_norm(x, (width,), module.weight, module.bias, eps)
        assert_agree(module(x), oracle, [x, module.weight, module.bias])
    assert torch.isfinite(module(x)).all()


def test_layer_norm_has_the_default_eps(solution: SimpleNamespace) -> None:
    x = 1e-3 * normal(generator(0), 4, 8)
    module = solution.layer_norm.LayerNorm(8).double()
    assert_agree(solution.layer_norm.layer_norm(x), F.layer_norm(x, (8,)), [x])
    assert_agree(module(x), F.layer_norm(x, (8,)), [x])


def test_layer_norm_of_a_constant_vector_is_zero(solution: SimpleNamespace) -> None:
    result = solution.layer_norm.layer_norm(torch.full((2, 4), 3.0))
    assert torch.equal(result, torch.zeros(2, 4))


def test_layer_norm_starts_as_the_identity_scale(solution: SimpleNamespace) -> None:
    module = solution.layer_norm.LayerNorm(5)
    assert keys_of(module) == {"weight": (5,), "bias": (5,)}
    assert torch.equal(module.weight, torch.ones(5))
    assert torch.equal(module.bias, torch.zeros(5))


def test_layer_norm_worked_example(solution: SimpleNamespace) -> None:
    """Slides, page 8. The page leaves out eps in its last step; the answer does not."""
    result = solution.layer_norm.layer_norm(f64([2.0, 4.0, 6.0, 8.0]))
    torch.testing.assert_close(
        result, f64([-1.3416394, -0.4472131, 0.4472131, 1.3416394]), **PRINTED
    )
    assert [round(value, 2) for value in result.tolist()] == [-1.34, -0.45, 0.45, 1.34]
    assert result.mean().item() == pytest.approx(0.0, abs=1e-12)
    assert result.var(correction=0).item() == pytest.approx(1.0, abs=1e-5)
    without_eps = f64([-3.0, -1.0, 1.0, 3.0]) / math.sqrt(5.0)
    assert (result - without_eps).abs().max().item() == pytest.approx(1.3e-6, abs=1e-7)


# --- positional_encoding -------------------------------------------------------------------------


def sine_table(seq_len: int, d_model: int) -> Tensor:
    """Compute every element of the encoding by itself, with Python's own sine and cosine."""
    return f64(
        [
            [
                (math.cos if column % 2 else math.sin)(
                    position / 10000 ** (2 * (column // 2) / d_model)
                )
                for column in range(d_model)
            ]
            for position in range(seq_len)
        ]
    )


@examples
@given(seq_len=st.integers(1, 40), pairs=st.integers(1, 24))
def test_encoding_agrees_with_sines_element_by_element(
    solution: SimpleNamespace, seq_len: int, pairs: int
) -> None:
    actual = solution.positional_encoding.sinusoidal_encoding(seq_len, 2 * pairs)
    torch.testing.assert_close(actual, sine_table(seq_len, 2 * pairs), **EXACT)


def test_encoding_is_accurate_at_the_last_default_position(solution: SimpleNamespace) -> None:
    x = torch.zeros(1, 512, 64, dtype=torch.float64)
    actual = solution.positional_encoding.PositionalEncoding(64)(x)
    torch.testing.assert_close(actual[0], sine_table(512, 64), **EXACT)


@examples
@given(batch=sizes, length=lengths, pairs=sizes, spare=st.integers(0, 3), seed=seeds)
def test_positional_encoding_adds_the_first_positions(
    solution: SimpleNamespace, batch: int, length: int, pairs: int, spare: int, seed: int
) -> None:
    x = normal(generator(seed), batch, length, 2 * pairs)
    module = solution.positional_encoding.PositionalEncoding(2 * pairs, max_len=length + spare)
    assert_agree(module(x), x + sine_table(length, 2 * pairs), [x])


def test_positional_encoding_has_nothing_to_learn_or_save(solution: SimpleNamespace) -> None:
    module = solution.positional_encoding.PositionalEncoding(6)
    assert list(module.parameters()) == []
    assert module.state_dict() == {}


def test_positional_encoding_stays_accurate_after_a_cast(solution: SimpleNamespace) -> None:
    module = solution.positional_encoding.PositionalEncoding(6).to(torch.bfloat16).double()
    x = torch.zeros(1, 9, 6, dtype=torch.float64)
    torch.testing.assert_close(module(x)[0], sine_table(9, 6), **EXACT)


def test_positional_encoding_drops_elements_of_the_sum(solution: SimpleNamespace) -> None:
    x = torch.full((8, 50, 20), 3.0, dtype=torch.float64)
    make = solution.positional_encoding.PositionalEncoding
    assert torch.equal(make(20, dropout=1.0)(x), torch.zeros_like(x))
    assert_is_dropped(make(20, dropout=0.25), x, x + sine_table(50, 20), keep=0.75)


def assert_is_dropped(module: nn.Module, x: Tensor, whole: Tensor, keep: float) -> None:
    """Demand that elements are dropped from `whole` in training, the rest scaled, none in eval."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        result = module.train()(x)
    kept = result != 0
    torch.testing.assert_close(result, torch.where(kept, whole / keep, 0.0), **EXACT)
    deviation = math.sqrt(keep * (1 - keep) / kept.numel())
    assert kept.double().mean().item() == pytest.approx(keep, abs=5 * deviation)
    torch.testing.assert_close(module.eval()(x), whole, **EXACT)


@pytest.mark.parametrize("d_model", [1, 3, 7])
def test_encoding_refuses_an_odd_width(solution: SimpleNamespace, d_model: int) -> None:
    with pytest.raises(ValueError, match=f"even, not {d_model}"):
        solution.positional_encoding.sinusoidal_encoding(3, d_model)
    with pytest.raises(ValueError, match=f"even, not {d_model}"):
        solution.positional_encoding.PositionalEncoding(d_model)


def test_positional_encoding_refuses_a_longer_sequence(solution: SimpleNamespace) -> None:
    module = solution.positional_encoding.PositionalEncoding(4, max_len=6)
    assert module(torch.zeros(2, 6, 4)).shape == (2, 6, 4)
    with pytest.raises(ValueError, match="at most 6, not 7"):
        module(torch.zeros(2, 7, 4))
    with pytest.raises(ValueError, match="at most 512, not 513"):
        solution.positional_encoding.PositionalEncoding(2)(torch.zeros(1, 513, 2))


def test_positional_encoding_worked_examples(solution: SimpleNamespace) -> None:
    """Slides, page 25. The page calls i the dimension index; it counts the pairs."""
    table = solution.positional_encoding.sinusoidal_encoding(3, 4)
    assert table[0].tolist() == [0.0, 1.0, 0.0, 1.0]
    torch.testing.assert_close(
        table[1], f64([0.8414710, 0.5403023, 0.0099998, 0.9999500]), **PRINTED
    )
    assert [round(value, 3) for value in table[1].tolist()] == [0.841, 0.540, 0.010, 1.000]
    cat = f64([[[0.0, 0.0, 0.0, 0.0], [0.5, 0.3, -0.2, 0.8]]])
    result = solution.positional_encoding.PositionalEncoding(4)(cat)[0, 1]
    torch.testing.assert_close(result, f64([1.341, 0.840, -0.190, 1.800]), **ROUNDED_TO_3)


# --- attention -----------------------------------------------------------------------------------


@given(length=st.integers(1, 20))
@examples
def test_causal_mask_forbids_what_torch_forbids(solution: SimpleNamespace, length: int) -> None:
    mask = solution.attention.causal_mask(length)
    assert mask.dtype == torch.bool
    assert torch.equal(mask, nn.Transformer.generate_square_subsequent_mask(length) == 0)


@examples
@given(batch=sizes, length=lengths, pad_id=st.integers(0, 2), seed=seeds)
def test_padding_mask_forbids_pad_keys(
    solution: SimpleNamespace, batch: int, length: int, pad_id: int, seed: int
) -> None:
    ids = torch.randint(0, 3, (batch, length), generator=generator(seed))
    mask = solution.attention.padding_mask(ids, pad_id)
    assert mask.dtype == torch.bool
    expected = [[[token != pad_id for token in row]] * length for row in ids.tolist()]
    assert torch.equal(mask, torch.tensor(expected))


@examples
@given(
    lead=st.lists(sizes, max_size=3),
    queries=lengths,
    keys=lengths,
    d_k=sizes,
    d_v=sizes,
    masked=st.sampled_from(["none", "shared", "own"]),
    seed=seeds,
)
def test_attention_agrees_with_torch(
    solution: SimpleNamespace,
    lead: list[int],
    queries: int,
    keys: int,
    d_k: int,
    d_v: int,
    masked: str,
    seed: int,
) -> None:
    rng = generator(seed)
    query, key = normal(rng, *lead, queries, d_k), normal(rng, *lead, keys, d_k)
    value = normal(rng, *lead, keys, d_v)
    mask = None
    if masked != "none":
        shape = (*(lead if masked == "own" else []), queries)
        allowed = torch.randint(0, keys, shape, generator=rng)[..., None]
        mask = (torch.rand(*shape, keys, generator=rng) < 0.4).scatter(-1, allowed, True)
    output, weights = solution.attention.scaled_dot_product_attention(query, key, value, mask)
    oracle = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    assert_agree(output, oracle, [query, key, value])
    # The weights are what attention makes of values that tell the keys apart.
    each_key = torch.eye(keys, dtype=torch.float64).expand(*lead, keys, keys)
    oracle = F.scaled_dot_product_attention(query, key, each_key, attn_mask=mask)
    assert_agree(weights, oracle, [query, key])
    assert ((weights.sum(dim=-1) - 1).abs() < 1e-12).all()
    if mask is not None:
        assert (weights.masked_select(~mask) == 0).all()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_attention_gives_a_masked_key_nothing_at_all(
    solution: SimpleNamespace, dtype: torch.dtype
) -> None:
    """However low the scores of the allowed keys are, a masked one stays at 0 and unread."""
    query = torch.full((1, 4), 1e6, dtype=dtype)
    key = torch.tensor([[-1e6] * 4, [1e6] * 4, [-1e6] * 4], dtype=dtype, requires_grad=True)
    value = torch.tensor([[1.0], [100.0], [3.0]], dtype=dtype, requires_grad=True)
    mask = torch.tensor([[True, False, True]])
    output, weights = solution.attention.scaled_dot_product_attention(query, key, value, mask)
    assert weights.tolist() == [[0.5, 0.0, 0.5]]
    assert output.tolist() == [[2.0]]
    to_key, to_value = torch.autograd.grad(output.sum(), [key, value])
    assert to_key[1].tolist() == [0.0] * 4
    assert to_value.tolist() == [[0.5], [0.0], [0.5]]


def test_attention_accepts_a_mask_that_broadcasts(solution: SimpleNamespace) -> None:
    rng = generator(0)
    query, key, value = (normal(rng, 2, 3, 5, 4) for _ in range(3))
    mask = make_mask("random per sequence", 2, 5, rng)
    assert mask is not None
    for small in (mask[:, None], mask[:1, None], mask[0], mask[0, 0] | mask[0, 1]):
        output, weights = solution.attention.scaled_dot_product_attention(query, key, value, small)
        oracle = F.scaled_dot_product_attention(query, key, value, small.expand(2, 3, 5, 5))
        assert weights.shape == (2, 3, 5, 5)
        assert_agree(output, oracle, [query, key, value])


@examples
@given(batch=sizes, length=lengths, width=st.integers(1, 12), bias=flags, kind=masks, seed=seeds)
def test_self_attention_agrees_with_torch(
    solution: SimpleNamespace,
    batch: int,
    length: int,
    width: int,
    bias: bool,
    kind: str,
    seed: int,
) -> None:
    rng = generator(seed)
    x = normal(rng, batch, length, width)
    module = randomize(solution.attention.SelfAttention(width, bias), rng)
    mask = make_mask(kind, batch, length, rng)
    output, weights = module(x, mask)
    expected_output, expected_weights = oracle_multi_head(x, module, 1, mask)
    assert_agree(output, expected_output, [x, *module.parameters()])
    torch.testing.assert_close(weights, expected_weights[:, 0], **EXACT)


@pytest.mark.parametrize("bias", [True, False])
def test_self_attention_names_its_parameters(solution: SimpleNamespace, bias: bool) -> None:
    names = ("q_linear", "k_linear", "v_linear")
    expected: dict[str, tuple[int, ...]] = {f"{name}.weight": (6, 6) for name in names}
    expected |= {f"{name}.bias": (6,) for name in names if bias}
    assert keys_of(solution.attention.SelfAttention(6, bias=bias)) == expected


def test_self_attention_shapes_of_the_course(solution: SimpleNamespace) -> None:
    """Session, knowledge point 3."""
    output, weights = solution.attention.SelfAttention(64)(torch.randn(2, 5, 64))
    assert output.shape == (2, 5, 64)
    assert weights.shape == (2, 5, 5)


def test_attention_worked_examples(solution: SimpleNamespace) -> None:
    """Walkthrough, attention, step 1: CLS in 'aac', first head; then the handout's own example."""
    attend = solution.attention.scaled_dot_product_attention
    key = f64([[1.99310], [-4.15117], [-4.15117], [1.05206], [0.0]])
    mask = torch.tensor([[False, True, True, True, False]])
    _, weights = attend(f64([[-1.39157]]), key, torch.zeros_like(key), mask)
    printed = f64([[0.0, 0.49982, 0.49982, 0.00035828, 0.0]])
    torch.testing.assert_close(weights, printed, rtol=5e-5, atol=0.0)
    _, weights = attend(f64([[1.0] * 4]), f64([[1.0] * 4, [0.0] * 4]), f64([[1.0], [0.0]]))
    torch.testing.assert_close(weights, f64([[0.8808, 0.1192]]), rtol=0.0, atol=5e-5)


# --- multi_head_attention ------------------------------------------------------------------------


@examples
@given(
    batch=sizes,
    length=lengths,
    num_heads=st.integers(1, 5),
    head_width=st.integers(1, 5),
    bias=flags,
    kind=masks,
    seed=seeds,
)
def test_multi_head_attention_agrees_with_torch(
    solution: SimpleNamespace,
    batch: int,
    length: int,
    num_heads: int,
    head_width: int,
    bias: bool,
    kind: str,
    seed: int,
) -> None:
    rng = generator(seed)
    width = num_heads * head_width
    x = normal(rng, batch, length, width)
    module = solution.multi_head_attention.MultiHeadAttention(width, num_heads, bias)
    randomize(module, rng)
    mask = make_mask(kind, batch, length, rng)
    output, weights = module(x, mask)
    expected_output, expected_weights = oracle_multi_head(x, module, num_heads, mask)
    assert_agree(output, expected_output, [x, *module.parameters()])
    torch.testing.assert_close(weights, expected_weights, **EXACT)
    if mask is not None:
        everywhere = mask.expand(batch, length, length)[:, None].expand_as(weights)
        assert (weights[~everywhere] == 0).all()


def test_multi_head_attention_agrees_with_the_module_of_torch(solution: SimpleNamespace) -> None:
    """As many heads as sequences: a mask for each sequence must not become one for each head."""
    rng = generator(3)
    theirs = randomize(nn.MultiheadAttention(12, 3, batch_first=True), rng)
    mine = solution.multi_head_attention.MultiHeadAttention(12, 3).double()
    state = theirs.state_dict()
    copied = {"out_proj.weight": state["out_proj.weight"], "out_proj.bias": state["out_proj.bias"]}
    for kind in ("weight", "bias"):
        thirds = state[f"in_proj_{kind}"].chunk(3)
        copied |= {f"{n}_linear.{kind}": part for n, part in zip("qkv", thirds, strict=True)}
    mine.load_state_dict(copied, strict=True)
    x = normal(rng, 3, 5, 12)
    mask = make_mask("random per sequence", 3, 5, rng)
    assert mask is not None
    forbidden = ~mask.repeat_interleave(3, dim=0)
    output, weights = theirs(x, x, x, attn_mask=forbidden, average_attn_weights=False)
    assert_agree(mine(x, mask)[0], output, [x])
    torch.testing.assert_close(mine(x, mask)[1], weights, **EXACT)


@pytest.mark.parametrize("bias", [True, False])
def test_multi_head_attention_names_its_parameters(solution: SimpleNamespace, bias: bool) -> None:
    names = ("q_linear", "k_linear", "v_linear", "out_proj")
    expected: dict[str, tuple[int, ...]] = {f"{name}.weight": (6, 6) for name in names}
    expected |= {f"{name}.bias": (6,) for name in names if bias}
    module = solution.multi_head_attention.MultiHeadAttention(6, 2, bias=bias)
    assert keys_of(module) == expected


@pytest.mark.parametrize(("d_model", "num_heads"), [(6, 4), (5, 2), (2, 3), (4, 0)])
def test_multi_head_attention_refuses_unequal_heads(
    solution: SimpleNamespace, d_model: int, num_heads: int
) -> None:
    with pytest.raises(ValueError, match=rf"\({d_model}\) .* divisible by .* \({num_heads}\)"):
        solution.multi_head_attention.MultiHeadAttention(d_model, num_heads)


def test_multi_head_attention_shapes_of_the_course(solution: SimpleNamespace) -> None:
    """Session, knowledge point 4."""
    module = solution.multi_head_attention.MultiHeadAttention(64, 4)
    output, weights = module(torch.randn(2, 5, 64))
    assert output.shape == (2, 5, 64)
    assert weights.shape == (2, 4, 5, 5)


def walkthrough_weights(prefix: str) -> dict[str, Tensor]:
    """Pick the trained weights below `prefix` and drop it from their names."""
    weights = WALKTHROUGH["weights"]
    return {
        name.removeprefix(prefix): f64(rows)
        for name, rows in weights.items()
        if name.startswith(prefix)
    }


def walkthrough_input(solution: SimpleNamespace) -> tuple[Tensor, Tensor]:
    """Embed the two sequences, and mask CLS and PAD keys as the document does."""
    ids = torch.tensor(WALKTHROUGH["token_ids"])
    vocabulary = WALKTHROUGH["vocabulary"]
    mask = torch.tensor(WALKTHROUGH["attention_mask"])
    padding_mask = solution.attention.padding_mask
    made = padding_mask(ids, vocabulary["PAD"]) & padding_mask(ids, vocabulary["CLS"])
    assert torch.equal(made, mask)
    return f64(WALKTHROUGH["weights"]["embedding.weight"])[ids], mask


def test_multi_head_attention_worked_example(solution: SimpleNamespace) -> None:
    """Walkthrough, attention, steps 1 to 3, for 'aac' and 'baac'."""
    module = solution.multi_head_attention.MultiHeadAttention(2, 2, bias=False).double()
    module.load_state_dict(walkthrough_weights("attention."), strict=True)
    x, mask = walkthrough_input(solution)
    output, weights = module(x, mask)
    expected = WALKTHROUGH["expected"]  # computed in float32
    torch.testing.assert_close(weights, f64(expected["attention_weights"]), rtol=1e-5, atol=0.0)
    torch.testing.assert_close(output, f64(expected["attention_output"]), rtol=1e-6, atol=1e-6)
    for head in (0, 1):
        printed = f64(WALKTHROUGH["printed_in_the_document"][f"attention_weights[:,{head},0]"])
        torch.testing.assert_close(weights[:, head, 0], printed, rtol=1e-4, atol=0.0)
        assert torch.equal(weights[:, head, 0] == 0, printed == 0)
    # "head 1 gives CLS the same value for both sequences; head 2 gives it c's, or b's"
    values = (weights @ f64(expected["value"]))[:, :, 0, 0]
    torch.testing.assert_close(
        values, f64([rows[0] for rows in expected["attention_values"]]), rtol=1e-6, atol=1e-6
    )
    assert values[0, 0].item() == pytest.approx(values[1, 0].item(), abs=1e-4)
    assert values[0, 1].item() == pytest.approx(expected["value"][0][1][3][0], abs=1e-3)
    assert values[1, 1].item() == pytest.approx(expected["value"][1][1][1][0], abs=2e-3)


# --- feed_forward --------------------------------------------------------------------------------


@examples
@given(lead=st.lists(sizes, max_size=3), width=sizes, inner=sizes, outer=sizes, seed=seeds)
def test_memory_lookup_agrees_with_torch(
    solution: SimpleNamespace, lead: list[int], width: int, inner: int, outer: int, seed: int
) -> None:
    rng = generator(seed)
    x, keys = normal(rng, *lead, width), normal(rng, inner, width)
    values = normal(rng, inner, outer)
    actual = solution.feed_forward.memory_lookup(x, keys, values)
    assert_agree(actual, F.linear(F.relu(F.linear(x, keys)), values.T), [x, keys, values])


@examples
@given(
    lead=st.lists(sizes, max_size=3),
    width=sizes,
    inner=st.integers(1, 20),
    activation=st.sampled_from(["relu", "gelu"]),
    bias=flags,
    seed=seeds,
)
def test_feed_forward_agrees_with_torch(
    solution: SimpleNamespace,
    lead: list[int],
    width: int,
    inner: int,
    activation: str,
    bias: bool,
    seed: int,
) -> None:
    rng = generator(seed)
    x = normal(rng, *lead, width)
    module = solution.feed_forward.FeedForward(width, inner, 0.5, activation, bias)
    randomize(module, rng).eval()
    oracle = oracle_feed_forward(x, module, activation)
    assert_agree(module(x), oracle, [x, *module.parameters()])


def test_feed_forward_is_the_memory_it_is_called(solution: SimpleNamespace) -> None:
    """Session, knowledge point 1: without biases, the rows of linear1 are the keys."""
    rng = generator(0)
    module = randomize(solution.feed_forward.FeedForward(4, 9, dropout=0.0, bias=False), rng)
    x = normal(rng, 2, 3, 4)
    keys, values = module.linear1.weight, module.linear2.weight.T
    assert_agree(module(x), solution.feed_forward.memory_lookup(x, keys, values), [x])


@pytest.mark.parametrize("bias", [True, False])
def test_feed_forward_names_its_parameters(solution: SimpleNamespace, bias: bool) -> None:
    expected: dict[str, tuple[int, ...]] = {"linear1.weight": (7, 3), "linear2.weight": (3, 7)}
    expected |= {"linear1.bias": (7,), "linear2.bias": (3,)} if bias else {}
    assert keys_of(solution.feed_forward.FeedForward(3, 7, bias=bias)) == expected


@pytest.mark.parametrize("activation", ["tanh", "", "ReLU", "gelu_tanh"])
def test_feed_forward_refuses_an_unknown_activation(
    solution: SimpleNamespace, activation: str
) -> None:
    with pytest.raises(ValueError, match=rf"'relu', 'gelu'.*, not '{activation}'"):
        solution.feed_forward.FeedForward(2, 2, activation=activation)


def test_feed_forward_drops_activated_features(solution: SimpleNamespace) -> None:
    """An identity as linear2 shows what it is given; gelu tells "before" from "after"."""
    module = solution.feed_forward.FeedForward(30, 30, dropout=0.3, activation="gelu").double()
    with torch.no_grad():
        for linear in (module.linear1, module.linear2):
            linear.weight.copy_(torch.eye(30))
            linear.bias.zero_()
    x = torch.randn(20, 10, 30, generator=generator(0), dtype=torch.float64)
    assert_is_dropped(module, x, F.gelu(x), keep=0.7)


def test_feed_forward_without_its_features_leaves_the_last_bias(solution: SimpleNamespace) -> None:
    module = randomize(solution.feed_forward.FeedForward(3, 8, dropout=1.0), generator(0))
    x = normal(generator(1), 2, 5, 3)
    assert torch.equal(module(x), module.linear2.bias.expand(2, 5, 3))
    assert solution.feed_forward.FeedForward(3, 8).dropout.p == 0.1


def test_feed_forward_shapes_of_the_course(solution: SimpleNamespace) -> None:
    """Session, knowledge point 1."""
    module = solution.feed_forward.FeedForward(64, 256)
    assert module(torch.randn(16, 10, 64)).shape == (16, 10, 64)


def test_memory_lookup_worked_examples(solution: SimpleNamespace) -> None:
    """Slides, pages 20 and 21: neurons 2847 and 5432, then dimensions 42, 73 and 158.

    The 1.2 and 0.4 of page 20 hold dimensions that it does not show: the four shown give 1.03
    and 0.35, and one more of size 1 with weights 0.17 and 0.05 makes the page's numbers exact.
    """
    lookup = solution.feed_forward.memory_lookup
    x, keys = f64([0.7, 0.4, 0.5, 0.2]), f64([[0.8, 0.1, 0.9, -0.1], [0.1, 0.8, -0.2, 0.3]])
    values = f64([[0.9, 0.8, 0.6], [0.1, 0.7, 0.05]])
    identity = torch.eye(2, dtype=torch.float64)
    torch.testing.assert_close(lookup(x, keys, identity), f64([1.03, 0.35]), **EXACT)
    x = torch.cat((x, f64([1.0])))
    keys = torch.cat((keys, f64([[0.17], [0.05]])), dim=1)
    torch.testing.assert_close(lookup(x, keys, identity), f64([1.2, 0.4]), **EXACT)
    torch.testing.assert_close(lookup(x, keys, values), f64([1.12, 1.24, 0.74]), **EXACT)


# --- transformer_block ---------------------------------------------------------------------------


@examples
@given(
    batch=st.integers(1, 4),
    length=lengths,
    num_heads=st.integers(1, 3),
    head_width=st.integers(2, 4),
    inner=st.integers(1, 9),
    norm=st.sampled_from(["pre", "post"]),
    activation=st.sampled_from(["relu", "gelu"]),
    kind=masks,
    seed=seeds,
)
def test_block_agrees_with_the_encoder_layer_of_torch(
    solution: SimpleNamespace,
    batch: int,
    length: int,
    num_heads: int,
    head_width: int,
    inner: int,
    norm: str,
    activation: str,
    kind: str,
    seed: int,
) -> None:
    rng = generator(seed)
    width = num_heads * head_width
    x = normal(rng, batch, length, width)
    block = solution.transformer_block.TransformerBlock(
        width, num_heads, inner, norm=norm, activation=activation
    )
    randomize(block, rng).eval()
    mask = make_mask(kind, batch, length, rng)
    oracle = oracle_encoder_layer(x, block, num_heads, norm, activation, mask)
    assert_agree(block(x, mask), oracle, [x, *block.parameters()])


@examples
@given(
    batch=st.integers(1, 4),
    length=lengths,
    num_heads=st.integers(1, 3),
    head_width=st.integers(2, 4),
    inner=st.integers(1, 9),
    norm=st.sampled_from(["pre", "post", "none"]),
    activation=st.sampled_from(["relu", "gelu"]),
    bias=flags,
    kind=masks,
    seed=seeds,
)
def test_block_agrees_with_torch_operations_composed(
    solution: SimpleNamespace,
    batch: int,
    length: int,
    num_heads: int,
    head_width: int,
    inner: int,
    norm: str,
    activation: str,
    bias: bool,
    kind: str,
    seed: int,
) -> None:
    rng = generator(seed)
    width = num_heads * head_width
    x = normal(rng, batch, length, width)
    block = solution.transformer_block.TransformerBlock(
        width, num_heads, inner, 0.5, norm, activation, bias
    )
    randomize(block, rng).eval()
    mask = make_mask(kind, batch, length, rng)
    oracle = oracle_block(x, block, num_heads, norm, activation, mask)
    assert_agree(block(x, mask), oracle, [x, *block.parameters()])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("norm", ["pre", "post", "none"])
def test_block_names_its_parameters(solution: SimpleNamespace, norm: str, bias: bool) -> None:
    projections = ("q_linear", "k_linear", "v_linear", "out_proj")
    expected: dict[str, tuple[int, ...]]
    expected = {f"attention.{name}.weight": (4, 4) for name in projections}
    expected |= {"feed_forward.linear1.weight": (6, 4), "feed_forward.linear2.weight": (4, 6)}
    if bias:
        expected |= {f"attention.{name}.bias": (4,) for name in projections}
        expected |= {"feed_forward.linear1.bias": (6,), "feed_forward.linear2.bias": (4,)}
    if norm != "none":
        expected |= {f"norm{n}.{kind}": (4,) for n in (1, 2) for kind in ("weight", "bias")}
    block = solution.transformer_block.TransformerBlock(4, 2, 6, norm=norm, bias=bias)
    assert keys_of(block) == expected


def test_block_refuses_what_it_does_not_know(solution: SimpleNamespace) -> None:
    make = solution.transformer_block.TransformerBlock
    with pytest.raises(ValueError, match=r"'pre', 'post', 'none'.*, not 'both'"):
        make(4, 2, 6, norm="both")
    with pytest.raises(ValueError, match="not 'tanh'"):
        make(4, 2, 6, activation="tanh")
    with pytest.raises(ValueError, match=r"\(4\) .* \(3\)"):
        make(4, 3, 6)


def test_block_with_everything_dropped_leaves_the_stream(solution: SimpleNamespace) -> None:
    x = normal(generator(0), 2, 5, 4)
    for norm in ("pre", "post", "none"):
        block = solution.transformer_block.TransformerBlock(4, 2, 6, dropout=1.0, norm=norm)
        randomize(block, generator(1))
        expected = x
        if norm == "post":
            for part in (block.norm1, block.norm2):
                expected = F.layer_norm(expected, (4,), part.weight, part.bias)
        torch.testing.assert_close(block(x), expected, **EXACT)
        assert not torch.allclose(block.eval()(x), expected)


@pytest.mark.parametrize("norm", ["pre", "none"])
def test_block_drops_what_attention_adds_once(solution: SimpleNamespace, norm: str) -> None:
    """Attention that adds 2 everywhere shows any dropout of weights, of heads, or of the stream."""
    block = solution.transformer_block.TransformerBlock(16, 2, 3, dropout=0.4, norm=norm).double()
    with torch.no_grad():
        for parameter in (*block.attention.parameters(), *block.feed_forward.parameters()):
            parameter.zero_()
        block.attention.v_linear.bias.fill_(2.0)
        block.attention.out_proj.weight.copy_(torch.eye(16))
    x = torch.randn(10, 30, 16, generator=generator(0), dtype=torch.float64)
    assert_is_dropped(Added(block), x, torch.full_like(x, 2.0), keep=0.6)


@pytest.mark.parametrize("norm", ["pre", "none"])
def test_block_drops_features_and_what_the_feed_forward_adds(
    solution: SimpleNamespace, norm: str
) -> None:
    """Twice kept is kept: 0.6 inside the feed-forward layer, 0.6 on what it adds."""
    block = solution.transformer_block.TransformerBlock(16, 2, 16, dropout=0.4, norm=norm).double()
    with torch.no_grad():
        for parameter in (*block.attention.parameters(), *block.feed_forward.parameters()):
            parameter.zero_()
        block.feed_forward.linear1.bias.fill_(2.0)
        block.feed_forward.linear2.weight.copy_(torch.eye(16))
    x = torch.randn(10, 30, 16, generator=generator(0), dtype=torch.float64)
    assert_is_dropped(Added(block), x, torch.full_like(x, 2.0), keep=0.36)


class Added(nn.Module):
    """What a block adds to its input, with rounding around 0 taken for 0."""

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block = block

    def forward(self, x: Tensor) -> Tensor:
        added = self.block(x) - x
        return torch.where(added.abs() < 1e-12, 0.0, added)


def test_block_shapes_of_the_course(solution: SimpleNamespace) -> None:
    """Session, knowledge point 5."""
    block = solution.transformer_block.TransformerBlock(64, 4, 256)
    assert block(torch.randn(2, 5, 64)).shape == (2, 5, 64)
    assert block.dropout.p == 0.1


def test_block_adds_to_the_stream_as_on_the_slides(solution: SimpleNamespace) -> None:
    """Slides, pages 19 and 21: the stream of 'Tower', two heads, then the feed-forward layer.

    The text of page 19 gives head 1's vector to 'Eiffel', its sum gives it to 'Tower'.
    """
    block = solution.transformer_block.TransformerBlock(4, 2, 3, 0.0, norm="none").double()
    with torch.no_grad():
        for parameter in block.parameters():
            parameter.zero_()
        block.attention.v_linear.bias.copy_(f64([1.0, 0.0, 1.0, 0.0]))
        block.attention.out_proj.weight[:, 0] = f64([0.1, 0.2, 0.0, 0.1])  # head 1
        block.attention.out_proj.weight[:, 2] = f64([0.2, 0.0, 0.3, 0.0])  # head 2
    tower = f64([[[0.4, 0.2, 0.2, 0.1]]])
    torch.testing.assert_close(block(tower), f64([[[0.7, 0.4, 0.5, 0.2]]]), **EXACT)
    with torch.no_grad():
        block.feed_forward.linear2.bias.copy_(f64([0.1, 0.05, 1.12, 0.3]))
    torch.testing.assert_close(block(tower), f64([[[0.8, 0.45, 1.62, 0.5]]]), **EXACT)


def test_block_worked_example(solution: SimpleNamespace) -> None:
    """Walkthrough, both sections, for 'aac' and 'baac'."""
    block = solution.transformer_block.TransformerBlock(
        2, 2, 2, norm="none", activation="gelu", bias=False
    ).double()
    weights = walkthrough_weights("")
    del weights["embedding.weight"]
    block.load_state_dict(weights, strict=True)
    x, mask = walkthrough_input(solution)
    output = block.eval()(x, mask)
    expected = f64(WALKTHROUGH["expected"]["block_output"])
    torch.testing.assert_close(output, expected, rtol=1e-6, atol=2e-6)
    at_cls = f64([[-6.4319, -0.9393], [0.2414, 9.1150]])
    torch.testing.assert_close(output[:, 0], at_cls, rtol=0.0, atol=5.1e-5)


# --- lm_head -------------------------------------------------------------------------------------


@examples
@given(batch=sizes, length=lengths, width=sizes, words=st.integers(1, 20), seed=seeds)
def test_head_agrees_with_torch(
    solution: SimpleNamespace, batch: int, length: int, width: int, words: int, seed: int
) -> None:
    rng = generator(seed)
    embedding = randomize(nn.Embedding(words, width), rng)
    head = solution.lm_head.TiedLMHead(embedding)
    hidden = normal(rng, batch, length, width)
    logits = F.linear(hidden, embedding.weight)
    assert_agree(head(hidden), logits, [hidden, embedding.weight])
    probabilities = head.next_token_probabilities(hidden)
    assert_agree(probabilities, F.softmax(logits[:, -1], dim=-1), [hidden, embedding.weight])
    assert ((probabilities.sum(dim=-1) - 1).abs() < 1e-12).all()


def test_head_shares_the_one_parameter(solution: SimpleNamespace) -> None:
    """Slides, page 30."""
    embedding = nn.Embedding(5, 3)
    head = solution.lm_head.TiedLMHead(embedding)
    assert keys_of(head) == {"embedding.weight": (5, 3)}
    assert [parameter is embedding.weight for parameter in head.parameters()] == [True]
    hidden = torch.ones(1, 1, 3)
    with torch.no_grad():
        embedding.weight.fill_(2.0)
    assert head(hidden).tolist() == [[[6.0] * 5]]
    head.load_state_dict({"embedding.weight": torch.ones(5, 3)})
    assert embedding(torch.tensor([4])).tolist() == [[1.0, 1.0, 1.0]]
    (gradient,) = torch.autograd.grad(head(hidden).sum(), [embedding.weight])
    assert torch.equal(gradient, torch.ones(5, 3))


def test_head_reads_the_last_position_only(solution: SimpleNamespace) -> None:
    """Slides, page 28: the last token predicts the word that follows."""
    head = solution.lm_head.TiedLMHead(nn.Embedding(7, 4))
    hidden = torch.randn(2, 5, 4, generator=generator(0))
    other = torch.cat((torch.zeros(2, 4, 4), hidden[:, -1:]), dim=1)
    expected = head.next_token_probabilities(hidden)
    assert expected.shape == (2, 7)
    assert torch.equal(head.next_token_probabilities(other), expected)


def test_head_worked_example(solution: SimpleNamespace) -> None:
    """The handout's own example; the slides (pages 28 to 30) print no numbers."""
    embedding = nn.Embedding(3, 2, _weight=f64([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    head = solution.lm_head.TiedLMHead(embedding)
    hidden = f64([[[9.0, 9.0], [2.0, 1.0]]])
    assert head(hidden)[0, -1].tolist() == [2.0, 1.0, 3.0]
    probabilities = head.next_token_probabilities(hidden)
    torch.testing.assert_close(probabilities, f64([[0.2447, 0.0900, 0.6652]]), rtol=0.0, atol=5e-5)


# --- what holds for every component --------------------------------------------------------------


SIGNATURES = {
    "layer_norm.layer_norm": "x, eps=1e-05",
    "layer_norm.LayerNorm": "d_model, eps=1e-05",
    "positional_encoding.sinusoidal_encoding": "seq_len, d_model",
    "positional_encoding.PositionalEncoding": "d_model, max_len=512, dropout=0.0",
    "attention.causal_mask": "seq_len",
    "attention.padding_mask": "token_ids, pad_id",
    "attention.scaled_dot_product_attention": "query, key, value, mask=None",
    "attention.SelfAttention": "d_model, bias=True",
    "multi_head_attention.MultiHeadAttention": "d_model, num_heads, bias=True",
    "feed_forward.memory_lookup": "x, keys, values",
    "feed_forward.FeedForward": "d_model, d_ff, dropout=0.1, activation='relu', bias=True",
    "transformer_block.TransformerBlock": (
        "d_model, num_heads, d_ff, dropout=0.1, norm='pre', activation='relu', bias=True"
    ),
    "lm_head.TiedLMHead": "embedding",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_public_names_take_the_promised_arguments(solution: SimpleNamespace, name: str) -> None:
    component, public = name.split(".")
    signature = inspect.signature(getattr(getattr(solution, component), public))
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    assert ", ".join(map(str, bare)) == SIGNATURES[name]


class Case(NamedTuple):
    """One way to call a component: what it computes, on which tensors, in which module."""

    module: nn.Module | None
    call: Callable[..., Any]
    inputs: list[Tensor]


def make_case(solution: SimpleNamespace, name: str, batch: int, length: int) -> Case:
    """Build a component with random weights and float64 inputs, by its public name."""
    rng = generator(7)
    x = normal(rng, batch, length, 8).detach()
    mask = torch.ones(length, length).tril() > 0
    component, public = name.split(".")
    target = getattr(getattr(solution, component), public)
    if name == "layer_norm.layer_norm":
        return Case(None, target, [x])
    if name == "feed_forward.memory_lookup":
        keys, values = normal(rng, 5, 8).detach(), normal(rng, 5, 3).detach()
        return Case(None, target, [x, keys, values])
    if name == "attention.scaled_dot_product_attention":
        others = [normal(rng, batch, length, 8).detach() for _ in range(2)]
        return Case(None, lambda *qkv: target(*qkv, mask.to(qkv[0].device)), [x, *others])
    arguments: dict[str, tuple[Any, ...]] = {
        "layer_norm.LayerNorm": (8,),
        "positional_encoding.PositionalEncoding": (8,),
        "attention.SelfAttention": (8,),
        "multi_head_attention.MultiHeadAttention": (8, 2),
        "feed_forward.FeedForward": (8, 12),
        "transformer_block.TransformerBlock": (8, 2, 12),
        "lm_head.TiedLMHead": (nn.Embedding(6, 8),),
    }
    module = randomize(target(*arguments[name]), rng).eval()
    if component in ("attention", "multi_head_attention", "transformer_block"):
        return Case(module, lambda x: module(x, mask.to(x.device)), [x])
    return Case(module, module, [x])


COMPONENTS = (
    "layer_norm.layer_norm",
    "layer_norm.LayerNorm",
    "positional_encoding.PositionalEncoding",
    "attention.scaled_dot_product_attention",
    "attention.SelfAttention",
    "multi_head_attention.MultiHeadAttention",
    "feed_forward.memory_lookup",
    "feed_forward.FeedForward",
    "transformer_block.TransformerBlock",
    "lm_head.TiedLMHead",
)
every_component = pytest.mark.parametrize("name", COMPONENTS)


def outputs_of(result: Any) -> list[Tensor]:
    """List the tensors of a result that may be a pair."""
    return list(result) if isinstance(result, tuple) else [result]


@every_component
@pytest.mark.parametrize(("batch", "length"), [(3, 4), (1, 4), (3, 1), (1, 1)])
@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(torch.float64, 0.0), (torch.float32, 1e-4), (torch.bfloat16, 0.03)],
)
def test_result_has_the_dtype_of_the_input(
    solution: SimpleNamespace,
    name: str,
    batch: int,
    length: int,
    dtype: torch.dtype,
    tolerance: float,
) -> None:
    case = make_case(solution, name, batch, length)
    expected = outputs_of(case.call(*case.inputs))
    if case.module is not None:
        case.module.to(dtype)
    actual = outputs_of(case.call(*(x.to(dtype) for x in case.inputs)))
    for mine, exact in zip(actual, expected, strict=True):
        assert mine.dtype == dtype
        assert mine.shape == exact.shape
        scale = exact.detach().abs().max().clamp(min=1.0)  # sums of large terms carry their error
        assert ((mine.double() - exact).abs() <= tolerance * scale).all()


@every_component
def test_result_follows_the_device_of_the_input(solution: SimpleNamespace, name: str) -> None:
    case = make_case(solution, name, 3, 4)
    expected = outputs_of(case.call(*case.inputs))
    if case.module is not None:
        case.module.to("meta")
    actual = outputs_of(case.call(*(x.to("meta") for x in case.inputs)))
    for mine, exact in zip(actual, expected, strict=True):
        assert mine.device.type == "meta"
        assert (mine.shape, mine.dtype) == (exact.shape, exact.dtype)


def test_padding_mask_follows_the_device_of_the_tokens(solution: SimpleNamespace) -> None:
    ids = torch.zeros(2, 3, dtype=torch.int64, device="meta")
    assert solution.attention.padding_mask(ids, 0).device.type == "meta"


@every_component
def test_inputs_may_be_strided_and_stay_as_they_were(solution: SimpleNamespace, name: str) -> None:
    case = make_case(solution, name, 3, 4)
    expected = outputs_of(case.call(*case.inputs))
    strided = [x.mT.contiguous().mT for x in case.inputs]
    assert not any(x.is_contiguous() for x in strided)
    before = copy.deepcopy(strided)
    state = copy.deepcopy(case.module.state_dict()) if case.module is not None else {}
    actual = outputs_of(case.call(*strided))
    for mine, exact in zip(actual, expected, strict=True):
        torch.testing.assert_close(mine, exact, **EXACT)
    for x, untouched in zip(strided, before, strict=True):
        assert torch.equal(x, untouched)
    if case.module is not None:
        for key, value in case.module.state_dict().items():
            assert torch.equal(value, state[key])


@every_component
def test_gradients_reach_inputs_and_parameters(solution: SimpleNamespace, name: str) -> None:
    case = make_case(solution, name, 3, 4)
    leaves = {f"input {n}": x.requires_grad_() for n, x in enumerate(case.inputs)}
    if case.module is not None:
        leaves |= dict(case.module.named_parameters())
    output = outputs_of(case.call(*case.inputs))[0]
    cotangent = torch.randn(output.shape, generator=generator(0), dtype=output.dtype)
    gradients = torch.autograd.grad(output, list(leaves.values()), cotangent)
    for leaf, gradient in zip(leaves, gradients, strict=True):
        assert torch.isfinite(gradient).all(), leaf
        # Softmax does not see what is added to all scores of a row: this one gradient is 0.
        if "k_linear.bias" not in leaf:
            assert gradient.abs().max() > 1e-3, leaf
