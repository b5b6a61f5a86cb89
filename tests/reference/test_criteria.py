"""A criterion of the assignment is lost for what its title says, and public ones for all of it."""

import shutil
from pathlib import Path

import pytest

from autograder.assignment import Assignment
from autograder.judge.misconceptions import read
from autograder.judge.reference import import_apart
from autograder.judge.suite import Suite

NO_BUILDING_BLOCK = """import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e4)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

"""


def lost(assignment: Assignment, suite: Suite, component: str, source: str, folder: Path):
    """Return the names of the criteria that a component loses, the public ones and all."""
    shutil.copytree(assignment.secret, folder, ignore=shutil.ignore_patterns("*s"))
    (folder / f"{component}.py").write_text(source)
    session = import_apart(folder, component)
    found = [
        criterion
        for criterion in suite.criteria[component]
        if suite.run(criterion, session).failure is not None
    ]
    public = [criterion for criterion in found if criterion.visibility == "public"]
    return [{one.id.partition(".")[2] for one in some} for some in (public, found)]


@pytest.mark.parametrize(
    ("component", "old", "new", "charged"),
    [
        ("layer_norm", "eps: float = 1e-5", "eps: float = 1e-6", {"default_eps"}),
        (
            "layer_norm",
            "/ torch.sqrt(variance + eps)",
            "/ (variance + eps).sqrt().double()",
            {"dtypes"},
        ),
        ("attention", ".repeat(1, seq_len, 1)", "", {"padding_mask", "padding_mask_of_any_size"}),
        ("attention", "!= pad_id", "!= 0", {"padding_mask", "padding_mask_of_any_size"}),
        (
            "multi_head_attention",
            "from attention import scaled_dot_product_attention\n",
            NO_BUILDING_BLOCK,
            {"mask_beats_every_score"},
        ),
        (
            "feed_forward",
            "self.dropout(self.activation(self.linear1(x)))",
            "self.activation(self.linear1(x))",
            {"dropout", "default_dropout"},
        ),
        ("positional_encoding", "self.dropout(x + encoding)", "x + encoding", {"dropout"}),
        (
            "positional_encoding",
            "self.dropout(x + encoding)",
            "self.dropout(x + encoding).double()",
            {"dtypes"},
        ),
        (
            "transformer_block",
            "LayerNorm(d_model)",
            "LayerNorm(d_model, 1e-12)",
            {"eps_of_the_norms"},
        ),
        ("transformer_block", "dropout: float = 0.1", "dropout: float = 0.0", {"default_dropout"}),
        ("transformer_block", "d_ff, dropout,", "d_ff, 0.0,", {"dropout_inside_feed_forward"}),
    ],
)
def test_a_mistake_is_charged_under_its_own_title(
    assignment: Assignment, suite: Suite, tmp_path: Path, component, old, new, charged
) -> None:
    source = (assignment.secret / f"{component}.py").read_text()
    assert old in source
    public, both = lost(assignment, suite, component, source.replace(old, new), tmp_path / "in")
    assert public
    assert both == charged


@pytest.mark.release
def test_every_known_mistake_loses_public_points(
    assignment: Assignment, suite: Suite, tmp_path: Path
) -> None:
    unseen = []
    for component in assignment.totals:
        for name, one in read(assignment, component).items():
            place = tmp_path / f"{component}.{name}"
            public, _ = lost(assignment, suite, component, one.wrong, place)
            if not public:
                unseen.append(f"{component}.{name}")
    assert unseen == []
