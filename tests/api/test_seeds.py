"""What an example draws hangs on its seed, whichever generator it draws by."""

from pathlib import Path

import pytest

from autograder.api.messages import Request
from autograder.api.operations import Reset
from autograder.judge.reference import import_apart
from tests.asking import asks

SOURCE = """
import random

import numpy
import torch


def by_torch():
    return torch.rand(()).item()


def by_numpy():
    return float(numpy.random.rand())


def by_python():
    return random.random()
"""


@pytest.mark.parametrize("how", ["by_torch", "by_numpy", "by_python"])
def test_a_reset_seeds_every_generator(tmp_path: Path, how: str) -> None:
    (tmp_path / "drawing.py").write_text(SOURCE)
    executor = import_apart(tmp_path, "drawing")

    def drawn(seed: int) -> list[object]:
        first = executor.perform(Request([Reset(seed), asks(how)])).value
        return [first, executor.perform(Request([asks(how)])).value]

    one, other, again = drawn(1), drawn(2), drawn(1)
    assert one == again
    assert one != other
    assert one[0] != one[1]
