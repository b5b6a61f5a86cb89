"""The smallest project there can be: one component, a public and a hidden criterion."""

from pathlib import Path

from tests import sources

TOML = """\
schema = 1
name = "norm"
title = "Norm"
seed = 7

[limits]
call_cpu_s = 1.0
call_wall_s = 5.0
component_cpu_s = 5
component_wall_s = 20.0
memory_mb = 400
output_kb = 100
deaths = 2

[[components]]
name = "layer_norm"
points = 2
"""
PUBLIC = '''
@pytest.mark.criterion(points=1, form=True, source="page 1")
def test_shape(component, expect, make):
    """the shape is kept"""
    x = make.normal(2, 3, seed=1)
    expect.shape(component.call("layer_norm", x).output, x.shape)
'''
HIDDEN = '''
@pytest.mark.criterion(points=1, source="page 2")
@given(seed=st.integers(0, 1000), size=st.integers(2, 5))
def test_values(component, reference, expect, make, seed, size):
    """the values are right"""
    x = make.normal(3, size, seed=seed)
    right = reference.call("layer_norm", x).output
    expect.close(component.call("layer_norm", x).output, right)
'''
HEAD = (
    '"""A suite."""\n\nimport pytest\nimport torch\nfrom hypothesis import given\n'
    "from hypothesis import strategies as st\n\n"
)


PLAIN = "def double(x):\n    return 2 * x\n"
_PLAIN_TEST = '''"""A suite without tensors, whose workers start at once."""

import pytest


@pytest.mark.criterion(points=1, source="page 1")
def test_{name}(component, expect):
    """{number} is doubled"""
    expect.same(component.call("double", {number}).value, {twice})
'''


def write_plain(root: Path) -> Path:
    """Write a project whose assignment `plain` needs no torch; return its folder."""
    for place, number in (("assignments", 2), ("reference", 5)):
        folder = root / place / "plain"
        (folder / "tests").mkdir(parents=True)
        solved = place == "reference"
        stub = PLAIN.replace("return 2 * x", "raise NotImplementedError")
        (folder / "double.py").write_text(PLAIN if solved else stub)
        text = _PLAIN_TEST.format(name=f"of_{number}", number=number, twice=2 * number)
        (folder / "tests" / "test_double.py").write_text(text)
    settings = TOML.replace('"norm"', '"plain"').replace('"Norm"', '"Plain"')
    path = root / "assignments" / "plain" / "assignment.toml"
    path.write_text(settings.replace('"layer_norm"', '"double"'))
    return root


def write_tiny(root: Path, public: str = PUBLIC, hidden: str = HIDDEN) -> Path:
    """Write a project whose assignment is called `norm`; return its folder."""
    for place, text in (("assignments", public), ("reference", hidden)):
        folder = root / place / "norm"
        (folder / "tests").mkdir(parents=True, exist_ok=True)
        solved = place == "reference"
        (folder / "layer_norm.py").write_text(sources.RIGHT if solved else sources.STUB)
        (folder / "tests" / "test_layer_norm.py").write_text(HEAD + text)
    (root / "assignments" / "norm" / "assignment.toml").write_text(TOML)
    return root
