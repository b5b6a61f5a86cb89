"""A criterion of the assignment is lost for what its title says, and public ones for all of it."""

import ast
import shutil
from pathlib import Path

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.judge.misconceptions import read
from autograder.judge.reference import import_apart
from autograder.judge.suite import Suite

ROOT = Path(__file__).resolve().parents[2]

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


@pytest.mark.parametrize("name", ["transformer_block", "language_model"])
def test_a_component_is_asked_for_nothing_that_another_one_defines(name: str) -> None:
    """It may import that by `import encoder`, or not at all: what it imports is not its answer."""
    assignment = load_assignment(ROOT, name)
    defined = {
        component: names_defined(assignment.secret / f"{component}.py")
        for component in assignment.totals
    }
    foreign = [
        (folder.name, path, asked)
        for component in assignment.totals
        for folder in (assignment.public, assignment.secret)
        for path in [f"tests/test_{component}.py"]
        for asked in names_asked(folder / path)
        if asked not in defined[component] and any(asked in names for names in defined.values())
    ]
    assert foreign == []


def names_defined(path: Path) -> set[str]:
    """Return the classes and functions of a file."""
    body = ast.parse(path.read_text()).body
    return {node.name for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}


def names_asked(path: Path) -> set[str]:
    """Return what a test file builds, calls or makes by name."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return {
        str(call.args[0].value).partition(".")[0]
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("build", "call", "make")
        if call.args and isinstance(call.args[0], ast.Constant)
    }
