"""The language model's solution, proven against torch's own encoder and plain arithmetic."""

import importlib
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import Tensor, nn

ROOT = Path(__file__).parents[2]
EXACT = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(scope="module")
def lm() -> Iterator[ModuleType]:
    """Load language_model.py with what it imports, and leave no plain name behind."""
    folders = [str(ROOT / kind / "language_model") for kind in ("reference", "assignments")]
    before = dict(sys.modules)
    sys.path[:0] = folders
    try:
        for name in ("provided", "encoder", "learned_positions", "language_model"):
            sys.modules.pop(name, None)
        yield importlib.import_module("language_model")
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
    model.double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)
    return model.eval()


def torchs_own(model: nn.Module, tokens: Tensor, heads: int) -> Tensor:
    """Compute the logits with `nn.TransformerEncoder`, given the model's weights."""
    state = model.state_dict()
    words = state["encoder.token_embedding.weight"]
    features = words.shape[1]
    layers = len({key.split(".")[2] for key in state if ".blocks." in key})
    hidden = len(state["encoder.blocks.0.feed_forward.linear1.bias"])
    layer = nn.TransformerEncoderLayer(
        features, heads, hidden, dropout=0.0, batch_first=True, norm_first=True
    )
    stack = nn.TransformerEncoder(
        layer, layers, norm=nn.LayerNorm(features), enable_nested_tensor=False
    ).double()
    theirs = {f"norm.{kind}": state[f"encoder.final_norm.{kind}"] for kind in ("weight", "bias")}
    for number in range(layers):
        mine, their = f"encoder.blocks.{number}", f"layers.{number}"
        for kind in ("weight", "bias"):
            inputs = [state[f"{mine}.attention.{part}_linear.{kind}"] for part in "qkv"]
            theirs[f"{their}.self_attn.in_proj_{kind}"] = torch.cat(inputs)
            theirs[f"{their}.self_attn.out_proj.{kind}"] = state[
                f"{mine}.attention.out_proj.{kind}"
            ]
            for name in ("linear1", "linear2"):
                theirs[f"{their}.{name}.{kind}"] = state[f"{mine}.feed_forward.{name}.{kind}"]
            for name in ("norm1", "norm2"):
                theirs[f"{their}.{name}.{kind}"] = state[f"{mine}.{name}.{kind}"]
    stack.load_state_dict(theirs)
    x = words[tokens] + state["encoder.positions.weight"][: tokens.shape[1]]
    later = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1)
    return stack.eval()(x, mask=later) @ words.T


@pytest.mark.parametrize(("layers", "heads", "length"), [(1, 1, 1), (2, 2, 5), (3, 4, 7)])
def test_logits_are_those_of_torchs_own_stack(
    lm: ModuleType, layers: int, heads: int, length: int
) -> None:
    model = drawn(lm.LanguageModel(9, 7, 8, heads, 12, layers, 0.3), layers)
    tokens = torch.randint(9, (3, length), generator=torch.Generator().manual_seed(7))
    torch.testing.assert_close(model(tokens), torchs_own(model, tokens, heads), **EXACT)


def test_the_models_own_parameters_are_the_encoders(lm: ModuleType) -> None:
    model = lm.LanguageModel(9, 7, 8, 2, 12, 2)
    named = dict(model.named_parameters())
    assert set(named) == set(model.state_dict())
    assert {key.partition(".")[0] for key in named} == {"encoder"}
    assert len(list(model.parameters())) == 2 + 2 * 16 + 2


def test_the_embedding_is_trained_from_both_of_its_places(lm: ModuleType) -> None:
    """The gradient is the slope of the loss along any direction."""
    model = drawn(lm.LanguageModel(5, 4, 6, 2, 8, 1, 0.0), 3)
    tokens, weight = torch.tensor([[0, 3, 1, 4]]), model.encoder.token_embedding.weight
    (gradient,) = torch.autograd.grad(lm.next_token_loss(model(tokens), tokens), [weight])
    direction = torch.randn(5, 6, generator=torch.Generator().manual_seed(1)).double()
    ends = []
    for step in (1e-5, -1e-5):
        with torch.no_grad():
            weight += step * direction
            ends.append(float(lm.next_token_loss(model(tokens), tokens)))
            weight -= step * direction
    assert float((gradient * direction).sum()) == pytest.approx(
        (ends[0] - ends[1]) / 2e-5, rel=1e-5
    )


@pytest.mark.parametrize("pad", [None, 0, 3])
def test_the_loss_is_the_mean_surprise(lm: ModuleType, pad: int | None) -> None:
    """By plain arithmetic, position after position."""
    generator = torch.Generator().manual_seed(5)
    logits = torch.randn(3, 6, 4, generator=generator).double()
    tokens = torch.randint(4, (3, 6), generator=generator)
    surprises = []
    for scores, words in zip(logits.tolist(), tokens.tolist(), strict=True):
        for row, word in zip(scores, words[1:], strict=False):
            if word != pad:
                total = math.fsum(math.exp(score) for score in row)
                surprises.append(math.log(total) - row[word])
    loss = lm.next_token_loss(logits, tokens, pad)
    assert loss.shape == ()
    assert loss.item() == pytest.approx(math.fsum(surprises) / len(surprises), rel=1e-12)
    assert lm.perplexity(loss).item() == pytest.approx(math.exp(loss.item()), rel=1e-12)


@pytest.mark.parametrize(
    ("tokens", "pad"), [([[2]], None), ([[2, 0, 0], [0, 0, 0]], 0), ([[1, 1]], 1)]
)
def test_a_loss_of_no_position_is_an_error(lm: ModuleType, tokens: list, pad: int | None) -> None:
    ids = torch.tensor(tokens)
    with pytest.raises(ValueError, match="no position counts"):
        lm.next_token_loss(torch.zeros(*ids.shape, 3), ids, pad)


def test_worked_examples(lm: ModuleType) -> None:
    """Those of the handout."""
    model = lm.LanguageModel(3, 6, 2, 1, 4, 0)
    with torch.no_grad():
        model.encoder.token_embedding.weight.copy_(torch.tensor([[3.0, 1], [1, 3], [2, -2]]))
        model.encoder.positions.weight.zero_()
    tokens = torch.tensor([[0, 2, 0]])
    logits = model(tokens)
    torch.testing.assert_close(logits, torch.tensor([[[2.0, -2, 4]] * 3]), rtol=0, atol=5e-5)
    chances = torch.tensor([0.1189, 0.0022, 0.8789])
    torch.testing.assert_close(logits[0, 0].softmax(-1), chances, rtol=0, atol=6e-5)
    loss = lm.next_token_loss(logits, tokens)
    assert loss.item() == pytest.approx(1.1291, abs=6e-5)
    assert lm.perplexity(loss).item() == pytest.approx(3.093, abs=6e-4)
    chances = torch.tensor([[[0.5, 0.25, 0.25], [0.75, 0.125, 0.125], [1, 1, 1]]])
    loss = lm.next_token_loss(chances.log(), torch.tensor([[2, 0, 1]]))
    assert loss.item() == pytest.approx(2 * math.log(2))
    assert lm.perplexity(loss).item() == pytest.approx(4)
