"""What earns full marks under nbgrader's own execution earns nothing here.

Every attack stands in the module, where it runs when the module is imported and when it is called,
and in the workbook: in a cell of the student's own and in place of the grade cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.platforms.nbgrader.conftest import Course, Mark
from tests.platforms.nbgrader.test_autograde import FULL
from tests.sources import SQUARES, by_variance

# tests/e2e/test_hostile.py has a student who attacks from modules and from the workbook.
pytestmark = pytest.mark.release

# Wrong in every value, but it keeps the points for leaving its input alone and the like.
HONEST = """\
import torch
from torch import nn


def attack():
    pass


def layer_norm(x, eps=1e-5):
    attack()
    return x * 0 + 0.5


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return layer_norm(x) * self.weight + self.bias
"""


def attacks(course: Course) -> Mapping[str, str]:
    """Return the code of every attack; it knows where everything is."""
    gradebook = str(course.folder / "gradebook.db")
    places = [
        "../../../source/norm/layer_norm.py",
        str(course.folder / "source" / "norm" / "layer_norm.py"),
        str(course.project / "reference" / "norm" / "layer_norm.py"),
    ]
    return {
        "an input transformer that empties later cells": (
            "from IPython import get_ipython\n"
            "shell = get_ipython()\n"
            "shell.input_transformers_cleanup.append(lambda lines: ['pass\\n'])\n"
        ),
        "patched comparisons": (
            "import torch, math, builtins\n"
            "for name in ('allclose', 'equal', 'isclose'):\n"
            "    setattr(torch, name, lambda *a, **k: True)\n"
            "    setattr(torch.Tensor, name, lambda *a, **k: True)\n"
            "torch.testing.assert_close = lambda *a, **k: None\n"
            "math.isclose = lambda *a, **k: True\n"
            "torch.Tensor.__eq__ = lambda *a: torch.ones(1, dtype=torch.bool)\n"
        ),
        "the solution out of the source folder": (
            "import runpy\n"
            f"for place in {places!r}:\n"
            "    try:\n"
            "        found = runpy.run_path(place)\n"
            "        globals()['layer_norm'] = found['layer_norm']\n"
            "        globals()['LayerNorm'] = found['LayerNorm']\n"
            "    except Exception:\n"
            "        pass\n"
        ),
        "a manual mark written into the gradebook": (
            "import sqlite3\n"
            f"for place in ('../../../gradebook.db', {gradebook!r}):\n"
            "    try:\n"
            "        book = sqlite3.connect(place)\n"
            "        book.execute('update grade set manual_score = 10, auto_score = 10')\n"
            "        book.commit()\n"
            "    except Exception:\n"
            "        pass\n"
        ),
        "a mark displayed before an error": (
            "import sys\nsys.displayhook(14.0)\nprint(14.0)\nraise SystemExit\n"
        ),
        "a mark above the highest": "import sys\nsys.displayhook(1e9)\nfloat('inf')\n",
        "no output at all": "pass\n",
    }


def in_module(attack: str) -> str:
    body = "".join(f"    {line}\n" for line in attack.splitlines())
    tried = f"def attack():\n{body}\n\ntry:\n    attack()\nexcept BaseException:\n    pass\n"
    called = "\n\n_attack = attack\n\n\ndef attack():\n    try:\n        _attack()\n"
    called += "    except BaseException:\n        pass\n"
    return HONEST.replace("def attack():\n    pass\n", tried + called)


def in_workbook(attack: str) -> Any:
    def change(notebook: Any) -> None:
        for cell in notebook["cells"]:
            about = cell["metadata"].get("nbgrader", {})
            if about.get("grade") and cell["cell_type"] == "code":
                cell["source"] = attack
                claimed = {"output_type": "execute_result", "execution_count": 1, "metadata": {}}
                cell["outputs"] = [{**claimed, "data": {"text/plain": "14.0"}}]
        own = {"cell_type": "code", "id": "own", "metadata": {}, "outputs": []}
        notebook["cells"].insert(0, {**own, "source": attack, "execution_count": None})

    return change


@pytest.fixture(scope="module")
def attacked(blank: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A class of attackers, with an honest student beside them, marked by nbgrader."""
    course = blank.copy(tmp_path_factory.mktemp("attacked") / "course")
    course.hand_in("s00", {"layer_norm.py": HONEST})
    for number, attack in enumerate(attacks(course).values(), start=1):
        course.hand_in(f"s{number:02}", {"layer_norm.py": in_module(attack)}, in_workbook(attack))
    warning = "import sys, warnings\nwarnings.warn('x')\nprint('x', file=sys.stderr)\n"
    loud = by_variance(SQUARES, "    warnings.warn('called')\n")
    course.hand_in("s99", {"layer_norm.py": warning + loud}, in_workbook(warning))
    # A link to a neighbour's work, had it got this far.
    (course.folder / "submitted" / "s98").mkdir()
    (course.folder / "submitted" / "s98" / "norm").symlink_to("../s99/norm")
    course.autograde(fails=True)  # the link is refused, and nobody else
    return course


def test_no_attack_earns_a_point(attacked: Course) -> None:
    marks = attacked.marks()
    honest = marks["s00"].auto
    assert honest is not None
    assert 0 < honest < 5
    for number, name in enumerate(attacks(attacked), start=1):
        found = marks[f"s{number:02}"]
        assert found.auto is not None, name
        assert found.auto <= honest, name


def test_the_gradebook_is_as_the_grader_left_it(attacked: Course) -> None:
    results = attacked.results()
    marks = attacked.marks()
    assert marks.keys() - results.keys() == {"s98"}
    for student, result in results.items():
        score = result["components"]["layer_norm"]["score"]
        # What is held waits for a person.
        held = bool(result["review"])
        assert marks[student] == Mark(score, None, None, held, None), student
    # Nobody answered the question, and nobody has a mark for it.
    answers = attacked.marks("question_scale")
    assert {answers[student] for student in results} == {Mark(0.0, None, None, False, None)}


def test_a_right_solution_that_warns_earns_everything(attacked: Course) -> None:
    assert attacked.marks()["s99"] == FULL


def test_a_link_to_anothers_work_is_not_marked(attacked: Course) -> None:
    marks = attacked.marks()
    assert (marks["s98"].auto, marks["s99"].auto) == (None, 14.0)


def test_the_solution_is_not_where_the_attack_looks_for_it(attacked: Course) -> None:
    # Or the attack above would prove nothing: what it finds in the course is the stub.
    stub = (attacked.folder / "source" / "norm" / "layer_norm.py").read_text()
    assert "NotImplementedError" in stub
    assert (attacked.project / "reference" / "norm" / "layer_norm.py").is_file()
    assert Path(attacked.folder, "gradebook.db").is_file()
