"""An error costs its points once: what imports a broken component is graded with a stand-in."""

import pytest

from autograder.assignment import Assignment
from autograder.results import ComponentResult
from tests.conftest import ROOT
from tests.sources import DOUBLED, RIGHT, block

pytestmark = pytest.mark.slow

SOLUTIONS = ROOT / "reference" / "transformer_block"

UNIMPORTABLE = "def layer_norm(x: pass\n"
HALVED = """
from layer_norm import LayerNorm as Norm


class LayerNorm(Norm):
    def forward(self, x):
        return super().forward(x) / 2
"""
FORBIDDEN = """
from torch.nn import functional as F
from layer_norm import LayerNorm as Norm


class LayerNorm(Norm):
    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:]) * self.weight + self.bias
"""
ENDED = """
import os


def layer_norm(x, eps=1e-5):
    os._exit(7)


class LayerNorm:
    def __init__(self, d_model, eps=1e-5):
        layer_norm(d_model)
"""
# Added to what is right: scores that are not divided, and a helper of the student's own.
UNSCALED = """

_scaled = scaled_dot_product_attention


def scaled_dot_product_attention(query, *others, **named):
    return _scaled(query * query.size(-1) ** 0.5, *others, **named)


def split_heads(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)
"""
HEADS = """\
from attention import scaled_dot_product_attention, split_heads
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if num_heads < 1 or d_model % num_heads:
            raise ValueError(num_heads)
        self.num_heads = num_heads
        for name in ("q_linear", "k_linear", "v_linear", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))

    def forward(self, x, mask=None):
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        parts = (self.q_linear(x), self.k_linear(x), self.v_linear(x))
        heads = (split_heads(part, self.num_heads) for part in parts)
        mixed, weights = scaled_dot_product_attention(*heads, mask)
        return self.out_proj(mixed.transpose(1, 2).reshape(x.shape)), weights
"""


def without_import(source: str) -> str:
    """Return a block that has its norm from elsewhere."""
    return source.replace("from layer_norm import LayerNorm\n", "")


STUDENTS = {
    # A broken norm, and a right block.
    "broken": {"layer_norm.py": DOUBLED},
    # Two errors that cancel: the block works with this norm only.
    "cancel": {"layer_norm.py": DOUBLED, "transformer_block.py": block(HALVED)},
    # The norm cannot even be imported.
    "unimportable": {"layer_norm.py": UNIMPORTABLE},
    # A broken norm must not hide that the block calls what it may not.
    "forbidden": {"layer_norm.py": UNIMPORTABLE, "transformer_block.py": block(FORBIDDEN)},
    # The norm ends the process that the block is in, too.
    "ended": {"layer_norm.py": ENDED},
    # A broken attention, in a file that also has a helper of the student's own.
    "helper": {
        "attention.py": (SOLUTIONS / "attention.py").read_text() + UNSCALED,
        "multi_head_attention.py": HEADS,
    },
    # What two components share is wrong, and neither is to blame for what the other does with it.
    "shared": {
        "parts.py": DOUBLED,
        "layer_norm.py": "from parts import LayerNorm, layer_norm\n",
        "transformer_block.py": without_import(block("from parts import LayerNorm")),
    },
    # Nothing was handed in of what is written out here.
    "own": {"layer_norm.py": "", "transformer_block.py": without_import(block(RIGHT, "0"))},
    # Both are wrong, each in its own way.
    "both": {"layer_norm.py": DOUBLED, "transformer_block.py": block(residual="0")},
    # What is written here is right where it is not meant to be wrong.
    "right": {"layer_norm.py": RIGHT, "transformer_block.py": block()},
}


@pytest.fixture(scope="module")
def results(assignment: Assignment, grade) -> dict[str, dict[str, ComponentResult]]:
    solutions = {path.name: path.read_text() for path in assignment.secret.glob("*.py")}
    return {student: grade({**solutions, **files}) for student, files in STUDENTS.items()}


def test_a_block_of_ones_own_is_right(results) -> None:
    assert {name for name, part in results["right"].items() if part.score < part.max_score} == set()


@pytest.mark.parametrize("student", ["broken", "unimportable", "ended"])
def test_a_right_block_gets_every_point(results, student: str) -> None:
    found = results[student]
    assert found["layer_norm"].score < 14
    assert found["transformer_block"].score == 16
    assert found["transformer_block"].status == "graded"
    assert found["transformer_block"].stand_ins == ["layer_norm"]
    messages = {c.message for c in found["transformer_block"].criteria}
    assert "graded with a working layer_norm" in messages


def test_helpers_beside_a_broken_component_are_still_found(results) -> None:
    found = results["helper"]
    assert found["attention"].score < 18
    assert found["multi_head_attention"].score == 18
    assert found["multi_head_attention"].stand_ins == ["attention"]
    assert found["transformer_block"].score == 16


def test_what_is_not_imported_has_no_stand_in(results) -> None:
    for student in ("shared", "own"):
        found = results[student]["transformer_block"]
        assert found.score < 16
        assert found.stand_ins == []
        assert not any("graded with a working" in criterion.message for criterion in found.criteria)
    # It is the block's own mistake that is named, and none where it may be the helper's.
    assert results["own"]["transformer_block"].misconceptions
    assert not results["shared"]["transformer_block"].misconceptions


def test_errors_that_cancel_show_beside_a_working_part(results) -> None:
    block = results["cancel"]["transformer_block"]
    assert results["cancel"]["layer_norm"].score < 14
    assert 0 < block.score < 16
    assert block.stand_ins == ["layer_norm"]


def test_the_rules_hold_beside_a_stand_in(results) -> None:
    component = results["forbidden"]["transformer_block"]
    assert (component.status, component.score) == ("forbidden", 0)
    assert "transformer_block.py, line" in component.message


def test_an_error_of_the_block_itself_still_costs(results) -> None:
    assert 0 < results["both"]["transformer_block"].score < 16


def test_what_uses_nothing_broken_is_untouched(results) -> None:
    for student, found in results.items():
        if student == "helper":
            continue
        for name in ("attention", "multi_head_attention", "feed_forward", "lm_head"):
            assert found[name].score == found[name].max_score
            assert found[name].stand_ins == []


def test_a_stand_in_holds_nothing_of_a_solution() -> None:
    for path in ROOT.glob("*/transformer_block/stand_ins/*.py"):
        solution = (SOLUTIONS / path.name).read_text()
        inside = solution.split("### BEGIN SOLUTION")[1:]
        secret = {
            line.strip()
            for part in inside
            for line in part.split("### END SOLUTION")[0].splitlines()
            # Shorter lines, and the parameters that the contract names, say nothing.
            if len(line.strip()) > 30 and "nn.Linear(" not in line
        }
        given = {line.strip() for line in path.read_text().splitlines()}
        assert not secret & given, path.name
