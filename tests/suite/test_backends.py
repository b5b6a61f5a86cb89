"""One suite, two backends: a test cannot tell the imported module from the sandbox."""

from pathlib import Path

import pytest
import torch

from autograder.assignment import Assignment
from autograder.exchange.messages import Reply, Request
from autograder.sandbox.host import Sandbox
from autograder.suite.component import Component
from autograder.suite.judging import JudgePlugin, SuiteFault, run_session
from autograder.suite.reference import ReferenceSession
from tests.conftest import ROOT


class SandboxSession:
    """Requests to a child that holds a whole folder of components."""

    def __init__(self, sandbox: Sandbox, folder: Path, name: str) -> None:
        files = {path.name: path.read_bytes() for path in folder.glob("*.py")}
        self.child = sandbox.fork(name, files)
        self.loaded = self.child.perform(Request())

    def perform(self, request: Request) -> Reply:
        return self.loaded if self.loaded.error else self.child.perform(request)


def outcomes(assignment: Assignment, session_for) -> dict[str, str]:
    """Run both suites on one folder and return what every criterion came to."""
    found: dict[str, str] = {}

    def serve(suite: JudgePlugin) -> None:
        for component, criteria in suite.criteria.items():
            session = session_for(component)
            for criterion in criteria:
                failure = suite.run(criterion, session)
                found[criterion.id] = "passed" if failure is None else str(failure)

    hidden = assignment.secret / "tests"
    plugin = JudgePlugin(assignment.secret, hidden, assignment.totals, assignment.seed, serve)
    run_session(plugin, [assignment.public / "tests", hidden])
    return found


@pytest.mark.parametrize(
    "folder",
    ["reference/transformer_block", "assignments/transformer_block", "tests/classes/demo/s11"],
)
def test_both_backends_come_to_the_same(
    sandbox: Sandbox, assignment: Assignment, folder: str
) -> None:
    path = ROOT / folder
    here = outcomes(assignment, lambda name: ReferenceLike(path, name))
    opened: list[SandboxSession] = []

    def far(name: str) -> SandboxSession:
        opened.append(SandboxSession(sandbox, path, name))
        return opened[-1]

    there = outcomes(assignment, far)
    for session in opened:
        session.child.close()
    assert here == there
    if folder.startswith("reference"):
        assert set(here.values()) == {"passed"}
    else:
        assert set(here.values()) != {"passed"}


class ReferenceLike:
    """Requests to the modules of a folder in this process, apart from all others."""

    def __init__(self, folder: Path, name: str) -> None:
        session = ReferenceSession(folder, name)
        self.executor = session._executor

    def perform(self, request: Request) -> Reply:
        return self.executor.perform(request)


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
    answer = component.call("layer_norm", x, cotangent=torch.ones(3), keep_inputs=True)
    assert x.tolist() == [0, 1, 2]
    assert answer.inputs_after[0].tolist() == [1, 2, 3]
    assert answer.gradients[0].tolist() == [2, 2, 2]
    head = component.build("LayerNorm", Make.embedding(torch.eye(3)))
    first, again = head(x, seed=3).output, head(x, seed=3).output
    assert torch.equal(first, again)
    assert not torch.equal(first, head(x, seed=4).output)
    head.write_given(2 * torch.eye(3))
    assert head.state().entries["embedding.weight"].tolist() == (2 * torch.eye(3)).tolist()
    changed = head.load({"embedding.weight": 3 * torch.eye(3)}).state()
    assert changed.given is not None
    assert changed.given.tolist() == (3 * torch.eye(3)).tolist()
    child.close()


class Make:
    @staticmethod
    def embedding(weight: torch.Tensor) -> object:
        from autograder.exchange.messages import EmbeddingArgument

        return EmbeddingArgument(weight)


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("test_layer_norm.py", "points=1, ", "points=2, ", "add up to"),
        ("test_layer_norm.py", '"""bfloat16 in, bfloat16 out"""', "pass", "needs a docstring"),
        ("test_layer_norm.py", "import torch", "import torch, nothing_here", "cannot be collected"),
        ("test_layer_norm.py", "import torch", "import torch, os", "may not import os"),
        ("test_layer_norm.py", "component.call(", "component.session(", "only build and call"),
        ("test_layer_norm.py", "    expect.unchanged(", "    assert print(", "use expect"),
        ("test_layer_norm.py", "def test_float64(", "def test_worked_example(", "two criteria"),
    ],
)
def test_a_broken_suite_refuses_to_grade(
    small_project: Path, file: str, old: str, new: str, said: str
) -> None:
    from autograder.assignment import load_assignment

    path = small_project / "reference" / "norm" / "tests" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    found = load_assignment(small_project, "norm")
    with pytest.raises(SuiteFault, match=said):
        outcomes(found, lambda name: ReferenceLike(found.secret, name))


def test_a_solution_that_loses_points_refuses_to_grade(small_project: Path) -> None:
    from autograder.assignment import load_assignment

    path = small_project / "reference" / "norm" / "layer_norm.py"
    path.write_text(path.read_text().replace("variance + eps", "variance + 2 * eps"))
    found = load_assignment(small_project, "norm")
    with pytest.raises(SuiteFault, match=r"the solution loses layer_norm\.eps_inside_the_root"):
        outcomes(found, lambda name: ReferenceLike(found.secret, name))
