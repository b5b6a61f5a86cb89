"""Text that students are given is recognised by its form, and other text never is."""

import pytest

from autograder.assignment import load_assignment
from autograder.given import given_by, open_names
from autograder.rules.given import WHOLE, Given, code_in, module_of, spell
from tests.conftest import ROOT

NAMES = {"mixer": ["Mixer", "mixed"]}
PASTED = '''
import torch
from torch import nn

_DEFAULT = 0.5


class Mixer(nn.Module):
    """Mix each row with its neighbours."""

    def __init__(self, size: int, share: float = _DEFAULT) -> None:
        super().__init__()
        self.inner = nn.Linear(size, size)
        self.share = share

    def forward(self, x):
        before = torch.roll(x, 1, dims=-2)  # the row before
        return self.share * self.inner(x) + (1 - self.share) * before
'''
RENAMED = """
import torch as t
import torch.nn as layers
class Mixer(layers.Module):
    def __init__(self, width, part=PART):
        super().__init__()
        self.weights = layers.Linear(width, width)
        self.part = part
    def forward(self, rows):
        shifted = t.roll(rows, 1, dims=-2)
        return (self.part * self.weights(rows)
                + (1 - self.part) * shifted)
PART = 0.5
"""


def form(text: str, name: str = "Mixer") -> str:
    module = module_of(text)
    assert module is not None
    return module.form(name)


GIVEN = Given(NAMES, {form(PASTED): "the text of provided/mix.py"})


def said(**files: str) -> str:
    sources = {f"{name}.py": text.encode() for name, text in files.items()}
    return GIVEN.found_in(spell(sources, NAMES)).get("mixer", "")


@pytest.mark.parametrize("text", [PASTED, RENAMED, PASTED.replace("\n", "\r\n")])
def test_names_layout_comments_and_annotations_are_no_part_of_a_form(text: str) -> None:
    assert form(text) == form(PASTED) != ""
    assert said(mixer=text).startswith("Mixer is the text of provided/mix.py, handed in as")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("nn.Linear", "nn.Bilinear"),
        ("torch.roll", "torch.rot90"),
        ("0.5", "0.25"),
        ("self.inner(x) + (1", "self.inner(x) - (1"),
        ("- self.share) * before", "- self.share) * x"),
        ("import torch\n", "import numpy as torch\n"),
    ],
)
def test_other_work_has_another_form(old: str, new: str) -> None:
    assert old in PASTED
    text = PASTED.replace(old, new)
    assert form(text) not in ("", form(PASTED))
    assert not said(mixer=text)


@pytest.mark.parametrize(
    "files",
    [
        {"mixer": "from provided.mix import Mixer\n"},
        {"mixer": "from provided.mix import Blend as Mixer\n"},
        {"mixer": "from provided.mix import *\n"},
        {"mixer": "import provided.mix as given\nMixer = given.Blend\n"},
        {"mixer": "from provided.mix import Blend\nclass Mixer(Blend):\n    '''Mine.'''\n"},
        {"mixer": "try:\n    from provided.mix import Mixer\nexcept ImportError:\n    pass\n"},
        {"mixer": "from helper import Mixer\n", "helper": "from provided.mix import Mixer\n"},
        {
            "mixer": "from helper import Blend as Mixer\n",
            "helper": PASTED.replace("Mixer", "Blend"),
        },
        {"mixer": f"{PASTED}\n\ndef mixed(x):\n    return x\n"},
        {"mixer": PASTED.replace("Mixer", "Blend") + "\n\nMixer = Blend\n"},
    ],
)
def test_a_name_that_stands_for_given_text_is_found(files: dict[str, str]) -> None:
    assert said(**files)


@pytest.mark.parametrize(
    "text",
    [
        # Provided code may be used.
        "from provided.mix import Mixer as Given\nclass Mixer(Given):\n"
        "    def forward(self, x):\n        return super().forward(x) + x\n",
        "from provided import mix\n\n\ndef mixed(x):\n    return mix.Mixer(4)(x)\n",
        # What is not a public name is nobody's component.
        PASTED.replace("Mixer", "Other") + "\n\nclass Mixer:\n    pass\n",
        "def broken(:\n",
        "Mixer = Mixer\n",
        "from mixer import Mixer\n",
        "",
    ],
)
def test_own_work_is_not(text: str) -> None:
    assert not said(mixer=text)


@pytest.mark.parametrize(
    "text",
    [
        "def mixed(x):\n    return x.exp()\n",
        "def mixed(x):\n    total = 0\n    for one in x:\n        total += one\n    return total\n",
        "def mixed(x, eps=1e-6):\n    return x / (x.norm() + eps)\n",
    ],
)
def test_short_texts_are_the_same_by_chance(text: str) -> None:
    assert form(text, "mixed") == form(text, WHOLE) == ""


def test_blocks_of_code_are_fenced_or_indented() -> None:
    page = "Write\n\n```python\nx = 1\n```\n\nor\n\n    y = 2\n\n    z = 3\n\nand `w`.\n"
    assert [block.split() for block in code_in(page)] == [
        ["x", "=", "1"],
        ["y", "=", "2", "z", "=", "3"],
    ]


@pytest.mark.parametrize("name", ["language_model", "transformer_block"])
def test_no_variant_of_ours_is_given_text(name: str) -> None:
    assignment = load_assignment(ROOT, name)
    given = given_by(assignment)
    assert all(open_names(assignment, component) for component in assignment.totals)
    folders = [assignment.secret, assignment.public]
    folders += list((assignment.secret / "right_variants").iterdir())
    for folder in folders:
        files = {path.name: path.read_bytes() for path in folder.glob("*.py")}
        assert given.found_in(spell(files, given.names)) == {}, folder
    for component in assignment.totals:
        for path in (assignment.secret / "wrong_variants" / component).glob("*.py"):
            files = {f"{component}.py": path.read_bytes()}
            assert given.found_in(spell(files, given.names)) == {}, path


@pytest.mark.parametrize("name", ["language_model", "transformer_block"])
def test_every_stand_in_of_ours_is(name: str) -> None:
    assignment = load_assignment(ROOT, name)
    given = given_by(assignment)
    used = {one for spec in assignment.components for one in spec.uses}
    files = {f"{one}.py": assignment.stand_in(one).read_bytes() for one in used}
    assert given.found_in(spell(files, given.names)).keys() == used
    # What stays with the grader is not told at home, not even as a digest.
    shipped = given_by(assignment, released=True)
    assert not any("stand-in" in words for words in shipped.forms.values()) or all(
        "which the handout gives" in words for words in shipped.forms.values()
    )
