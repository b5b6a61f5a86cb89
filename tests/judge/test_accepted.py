"""Right work that was held and accepted has the marks that it has where nothing is held."""

from collections.abc import Mapping

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from autograder.results import ComponentResult
from tests.conftest import CLASSES, ROOT
from tests.judge.conftest import Grade

pytestmark = pytest.mark.slow

SOLUTIONS = {
    path.name: path.read_text("utf-8")
    for path in (ROOT / "reference" / "transformer_block").glob("*.py")
}
# What is held, and harms nothing: at the end of a file.
ODD = [
    "import pdb",
    "import ctypes",
    "RAN = eval('1 + 1')",
    "exec('RAN = 2')",
    "import sys\nMAIN = sys._getframe(0).f_code",
    "KINDS = object.__subclasses__()",
    "PLUGIN = __import__('plugin' + str(1))",
    "import importlib\nPLUGIN = importlib.import_module('plugin' + str(1))",
    "exec(open('plugin' + '1.py').read())",
    "import runpy\nPLUGIN = runpy.run_path('plugin' + '1.py')",
    "from helper import MAIN",
    "import torch\n\n\n@torch.jit.script\ndef twice(x: int) -> int:\n    return 2 * x",
]
BESIDE = {
    "helper.py": "import sys\nMAIN = sys._getframe(0).f_code\n",
    "plugin1.py": "import ctypes\nSIZE = ctypes.sizeof(ctypes.c_void_p)\n",
}
# As students write it who want their file to work alone, too.
ALONE = """\
try:
    from layer_norm import LayerNorm
except ImportError:
    LayerNorm = nn.LayerNorm
"""


def total(found: Mapping[str, ComponentResult]) -> float:
    return sum(component.score for component in found.values())


def held(found: Mapping[str, ComponentResult]) -> dict[str, str]:
    return {name: part.review[0].digest for name, part in found.items() if part.review}


def with_odd(odd: Mapping[str, str]) -> dict[str, str]:
    """Return the solutions, with something out of the ordinary behind some of them."""
    files = {**BESIDE, **SOLUTIONS}
    for name, text in odd.items():
        files[name] += f"\n\n{text}\n"
    block = files["transformer_block.py"]
    files["transformer_block.py"] = block.replace("from layer_norm import LayerNorm\n", ALONE)
    return files


@settings(max_examples=3, phases=[Phase.generate])
@given(odd=st.dictionaries(st.sampled_from(sorted(SOLUTIONS)), st.sampled_from(ODD), min_size=1))
def test_to_accept_what_is_held_of_right_work_gives_all_points(
    grade: Grade, odd: dict[str, str]
) -> None:
    files = with_odd(odd)
    waiting = grade(files, diagnose=False)
    accepted = held(waiting)
    assert {f"{name}.py" for name in accepted} == set(odd)
    # What builds on what is held has a stand-in for it.
    assert {name for name, part in waiting.items() if not part.score} == set(accepted)
    found = grade(files, diagnose=False, accepted=accepted)
    assert {name: part.message for name, part in found.items() if part.message} == {}
    assert total(found) == 100


@pytest.mark.parametrize("text", ODD)
def test_each_kind_of_what_is_held_counts_where_it_is_imported(grade: Grade, text: str) -> None:
    only = ("layer_norm", "transformer_block")
    files = with_odd({"layer_norm.py": text})
    accepted = held(grade(files, diagnose=False, only=only))
    assert list(accepted) == ["layer_norm"]
    found = grade(files, diagnose=False, only=only, accepted=accepted)
    assert {name: part.message for name, part in found.items()} == dict.fromkeys(only, "")
    assert all(part.score == part.max_score for part in found.values())


def test_who_imports_accepted_work_of_the_demo_class_loses_nothing(grade: Grade) -> None:
    folder = CLASSES / "transformer_block" / "s19"
    files = {path.name: path.read_text("utf-8") for path in folder.glob("*.py")}
    # Nothing isolates it here: it would find the solution.
    files["attention.py"] = files["attention.py"].replace("found = look()", "found = None")
    only = ("layer_norm", "attention", "multi_head_attention", "transformer_block")
    waiting = grade(files, diagnose=False, only=only)
    assert waiting["multi_head_attention"].stand_ins == ["attention"]
    found = grade(files, diagnose=False, only=only, accepted=held(waiting))
    assert found["attention"].status == "graded"
    assert 0 < found["attention"].score < found["attention"].max_score
    heads = found["multi_head_attention"]
    # What is wrong is followed through.
    assert (heads.score, heads.stand_ins) == (heads.max_score, ["attention"])
    for name in ("layer_norm", "transformer_block"):
        assert found[name].score == found[name].max_score


# By ctypes a file can be run that the text does not name.
UNREAD = """
import ctypes
if ctypes.pythonapi.PyRun_SimpleString(b"import plugin" + b"1") == 0:
    raise ValueError("what nobody has read was run")
"""


def test_a_file_in_no_digest_does_not_run_beside_what_was_accepted(grade: Grade) -> None:
    only = ("layer_norm", "transformer_block")
    files = {**with_odd({"layer_norm.py": UNREAD}), "plugin1.py": ""}
    accepted = held(grade(files, diagnose=False, only=only))
    found = grade(files, diagnose=False, only=only, accepted=accepted)
    assert {name: part.message for name, part in found.items()} == dict.fromkeys(only, "")
