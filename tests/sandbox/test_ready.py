"""A fork server that starts, that does not, and that has settled."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
import torch

from autograder.api.messages import Request
from autograder.sandbox.handle import SandboxFault
from autograder.sandbox.host import Sandbox
from autograder.sandbox.tiers import NotIsolated, open_sandbox
from tests.asking import asks
from tests.conftest import BUDGET, TIERS, skip


@pytest.fixture(scope="module", params=TIERS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox of each tier, and none that other tests share: it is settled here."""
    try:
        found, _ = open_sandbox(request.param, BUDGET, (), [])
    except NotIsolated as reason:
        skip(request.param, reason)
    yield found
    found.close()


def answer(sandbox: Sandbox, source: str = "def f(x):\n    return x + 1\n") -> object:
    child = sandbox.fork("f", {"f.py": source.encode()})
    try:
        assert child.perform(Request()).error is None
        reply = child.perform(Request([asks("f", torch.zeros(1))]))
        assert reply.error is None, reply.error
        return reply.value
    finally:
        child.close()


def test_after_it_has_settled_children_answer_as_before(sandbox: Sandbox) -> None:
    assert answer(sandbox) == torch.ones(1)
    sandbox.settle()
    sandbox.settle()
    assert answer(sandbox) == torch.ones(1)


_LOADED = """
import sys
import torch

def f(x):
    return x + ("torch._dyn" + "amo.eval_frame" in sys.modules)
"""


def test_what_few_use_is_loaded_before_a_child_that_may_use_it(sandbox: Sandbox) -> None:
    """Else the first call of such work would take a second longer than that of other work."""
    assert answer(sandbox, _LOADED) == torch.zeros(1)
    uses = "\ndef g(x):\n    return torch.func.grad(torch.sum)(x)\n"
    assert answer(sandbox, _LOADED + uses) == torch.ones(1)


def test_no_child_loads_what_every_child_uses(sandbox: Sandbox) -> None:
    """numpy loads its generators when they are first asked, as every example asks them."""
    there = "import sys\nTHERE = 'numpy.rand' + 'om' in sys.modules\n"
    assert answer(sandbox, f"{there}\ndef f(x):\n    return x + THERE\n") == torch.ones(1)


def test_nothing_is_begun_meanwhile_where_it_does_not_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[bool] = []
    monkeypatch.setattr("autograder.sandbox.host.command", lambda *_: ["/bin/false"])
    with pytest.raises(SandboxFault):
        Sandbox(0, BUDGET, (), (), lambda: begun.append(True))
    assert not begun


GPU_BUILD = """
import torch
from autograder.sandbox import warm
# What only torch for a GPU has.
torch._C._cuda_init = lambda: None
warm.warm_up({"torch": ["torch"]})
torch.manual_seed(0)
print(torch.cuda.is_available())
try:
    torch.zeros(1, device="cuda")
except RuntimeError as error:
    print(error)
"""


def test_who_asks_torch_for_a_gpu_hears_that_there_is_none() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GPU_BUILD],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == ["False", "No CUDA GPUs are available"], done.stderr
