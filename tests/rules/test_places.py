"""Where a result is wrong is found fast, and in every shape."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from autograder.api.patterns import worst_place


@pytest.mark.parametrize(
    ("error", "place"),
    [
        (torch.tensor(2.0), ()),
        (torch.tensor([0.0, 3.0, 1.0]), (1,)),
        (torch.tensor([[0.0, 1.0, 2.0], [5.0, 3.0, 4.0]]), (1, 0)),
        (torch.tensor([[0.0, 1.0, 2.0], [5.0, 3.0, 4.0]]).T, (0, 1)),
        (torch.tensor([[0.0, float("inf")], [1.0, 2.0]]), (0, 1)),
    ],
)
def test_the_worst_place(error: torch.Tensor, place: tuple[int, ...]) -> None:
    assert worst_place(error.numpy()) == place


@pytest.mark.slow
def test_the_first_wrong_value_imports_nothing_more() -> None:
    """It would do so anew for every wrong submission, which each has a process of its own."""
    program = """
import sys, torch
from autograder.api.answer import CheckFailed
from autograder.api.expect import Expect
import autograder.judge.component
before = set(sys.modules)
for value in (torch.ones(2, 3), torch.full((2, 3), float("nan")), torch.zeros(3)):
    try:
        Expect(set()).close(value, torch.zeros(2, 3))
    except CheckFailed:
        pass
    else:
        sys.exit("it passed")
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr
