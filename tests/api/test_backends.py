"""One suite, two backends: a test cannot tell the imported module from the sandbox."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from autograder.api.component import Component, Session
from autograder.api.messages import Reply, Request
from autograder.api.values import Made
from autograder.judge.reference import import_apart
from autograder.judge.suite import Suite
from autograder.sandbox.host import Sandbox
from tests.conftest import ROOT


class SandboxSession:
    """Requests to a child that holds a whole folder of components."""

    def __init__(self, sandbox: Sandbox, folder: Path, name: str) -> None:
        files = {path.name: path.read_bytes() for path in folder.glob("*.py")}
        self.child = sandbox.fork(name, files)
        self.loaded = self.child.perform(Request())

    def perform(self, request: Request) -> Reply:
        return self.loaded if self.loaded.error else self.child.perform(request)


def outcomes(suite: Suite, session_for: Callable[[str], Session]) -> dict[str, str]:
    """Run both suites on one folder and return what every criterion came to."""
    found: dict[str, str] = {}
    for component, criteria in suite.criteria.items():
        session = session_for(component)
        for criterion in criteria:
            failure = suite.run(criterion, session).failure
            found[criterion.id] = "passed" if failure is None else str(failure)
    return found


@pytest.mark.parametrize(
    "folder",
    [
        "reference/transformer_block",
        "assignments/transformer_block",
        "tests/classes/transformer_block/s11",
    ],
)
def test_both_backends_come_to_the_same(sandbox: Sandbox, suite: Suite, folder: str) -> None:
    path = ROOT / folder
    here = outcomes(suite, lambda name: import_apart(path, name))
    opened: list[SandboxSession] = []

    def far(name: str) -> SandboxSession:
        opened.append(SandboxSession(sandbox, path, name))
        return opened[-1]

    there = outcomes(suite, far)
    for session in opened:
        session.child.close()
    assert here == there
    if folder.startswith("reference"):
        assert set(here.values()) == {"passed"}
    else:
        assert set(here.values()) != {"passed"}


def test_mutation_seeds_and_tying_cross_the_wire(sandbox: Sandbox) -> None:
    source = (
        "import torch\nfrom torch import nn\n"
        "def layer_norm(x):\n    x += 1\n    return x * 2\n"
        "class LayerNorm(nn.Module):\n"
        "    def __init__(self, embedding):\n"
        "        super().__init__()\n        self.embedding = embedding\n"
        "    def forward(self, x):\n"
        "        return x @ self.embedding.weight.T + torch.rand(())\n"
    )
    child = sandbox.fork("layer_norm", {"layer_norm.py": source.encode()})
    component = Component(child, lambda answer: None)
    x = torch.arange(3.0)
    answer = component.asking(cotangent=torch.ones(3), keep_inputs=True).call("layer_norm", x)
    assert x.tolist() == [0, 1, 2]
    assert answer.inputs_after[0].tolist() == [1, 2, 3]
    assert answer.gradients[0].tolist() == [2, 2, 2]
    head = component.build("LayerNorm", Made("embedding", (torch.eye(3),)))
    first, again = head.asking(seed=3)(x).output, head.asking(seed=3)(x).output
    assert torch.equal(first, again)
    assert not torch.equal(first, head.asking(seed=4)(x).output)
    head.write_given(2 * torch.eye(3))
    assert head.state().entries["embedding.weight"].tolist() == (2 * torch.eye(3)).tolist()
    changed = head.load({"embedding.weight": 3 * torch.eye(3)}).state()
    assert changed.given is not None
    assert changed.given.tolist() == (3 * torch.eye(3)).tolist()
    child.close()
