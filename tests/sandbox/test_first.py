"""What a child can compute: all that its library computes at home, on each tier and on none."""

from collections.abc import Iterator

import pytest

from autograder.api.messages import Request
from autograder.sandbox.host import Sandbox
from autograder.sandbox.tiers import NotIsolated, open_sandbox
from tests.asking import asks
from tests.conftest import BUDGET, TIERS, skip

SOURCE = """
import numpy
import torch
from torch import nn
from torch.nn import functional

SQUARE = torch.eye(3)


def convert():
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        SQUARE.to(dtype).float()
    SQUARE.half().float()


def multiply():
    for dtype in (torch.float16, torch.bfloat16):
        nn.Linear(3, 3).to(dtype)(SQUARE.to(dtype)) @ SQUARE.to(dtype)


def soften():
    for dtype in (torch.float16, torch.bfloat16):
        SQUARE.to(dtype).softmax(-1)


def convolve():
    for dtype in (torch.float32, torch.bfloat16):
        x = SQUARE.to(dtype)
        functional.conv1d(x, x.unsqueeze(-1))


def look_up():
    for mode in ("sum", "mean", "max"):
        nn.EmbeddingBag(5, 4, mode=mode)(torch.tensor([[1, 2]])).sum().backward()


def recur():
    nn.LSTM(3, 4)(torch.ones(2, 1, 3))[0].sum().backward()


def decompose():
    torch.linalg.svd(torch.linalg.solve(SQUARE, SQUARE))
    torch.fft.fft(SQUARE)
    numpy.linalg.svd(numpy.eye(3) @ numpy.eye(3))
    numpy.fft.fft(numpy.eye(3))


def mix():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        nn.Linear(3, 3)(SQUARE)


def with_scipy():
    from scipy import fft, linalg, optimize, spatial, special

    linalg.solve(numpy.eye(3), numpy.eye(3))
    fft.fft(special.expit(numpy.eye(3)), workers=2)
    optimize.minimize(lambda x: (x**2).sum(), numpy.ones(3))
    spatial.distance.cdist(numpy.eye(3), numpy.eye(3))


def capability():
    return torch.backends.cpu.get_cpu_capability()
"""
KINDS = [line[4:-3] for line in SOURCE.splitlines() if line.startswith("def ")]


@pytest.fixture(scope="module", params=["none", *TIERS])
def tier(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox of each tier for a course that adds scipy, and one that isolates nothing."""
    pytest.importorskip("scipy")
    try:
        found, _ = open_sandbox(request.param, BUDGET, (), [], ["scipy"])
    except NotIsolated as reason:
        skip(request.param, reason)
    yield found
    found.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_child_computes_what_is_computed_at_home(tier: Sandbox, kind: str) -> None:
    child = tier.fork("work", {"work.py": SOURCE.encode()})
    try:
        assert child.perform(Request([asks(kind)])).error is None
    finally:
        child.close()


def test_a_child_knows_the_processor_as_this_process_does(tier: Sandbox) -> None:
    here: dict[str, object] = {}
    exec(SOURCE, here)
    child = tier.fork("work", {"work.py": SOURCE.encode()})
    try:
        found = child.perform(Request([asks("capability")])).value
    finally:
        child.close()
    assert found == here["capability"]()  # type: ignore[operator]
