"""torch, imported at its first use or once and for good."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import gc, sys, warnings
warnings.simplefilter("error")
from autograder.api.lazy import load_for_good, loaded
assert not loaded() and gc.isenabled()
load_for_good()
print(loaded(), gc.isenabled(), gc.get_freeze_count() > 100_000)
from hypothesis import given, settings, strategies
settings.register_profile("once", max_examples=1, database=None)
settings.load_profile("once")
@given(strategies.integers())
def holds(number):
    import numpy
    assert isinstance(numpy.random.rand(), float)
holds()
"""


def test_what_is_loaded_for_good_is_put_aside_and_hypothesis_has_nothing_to_warn_of() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "True", "True"]


def test_a_torch_that_cannot_be_imported_is_told_of_where_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise OSError('a library is missing')")
    program = f"""
import gc, sys
sys.path.insert(0, {str(tmp_path)!r})
from autograder.api.lazy import load_for_good, loaded
load_for_good()
print(loaded(), gc.isenabled(), gc.get_freeze_count())
import torch
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True", "0"]
    assert "a library is missing" in done.stderr
