"""`autograder check`: what a solution loses is shown with the call and both answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.api.criterion import COUNTS_LATER
from autograder.assignment import load_assignment
from autograder.authoring import stubs
from autograder.authoring.checking import Checked, check, print_checked
from autograder.errors import UsageError
from autograder.grading.workers import Worker
from autograder.reports.terminal import Printer, plain
from tests import sources
from tests.tiny import HEAD, HIDDEN, PUBLIC, write_tiny

WORKED = '''
@pytest.mark.criterion(points=1, source="page 2")
def test_worked(component, expect):
    """the worked example"""
    x = torch.tensor([[1.0, 3.0]])
    expect.close(component.call("layer_norm", x).output, torch.tensor([[-1.0, 1.0]]))
'''


SOLVED = sources.RIGHT.replace(
    "    deviation =", "    ### BEGIN SOLUTION\n    deviation =", 1
).replace("(variance + eps)\n", "(variance + eps)\n    ### END SOLUTION\n", 1)


def write(root: Path, solved: str = SOLVED, **suites: str) -> Path:
    """Write a project whose stub is what its solution gives."""
    write_tiny(root, **suites)
    (root / "reference" / "norm" / "layer_norm.py").write_text(solved)
    stub = stubs.make_stub(solved, "layer_norm.py") if "BEGIN" in solved else sources.STUB
    (root / "assignments" / "norm" / "layer_norm.py").write_text(stub)
    return root


def checked(root: Path, component: str = "") -> Checked:
    return check(load_assignment(root, "norm"), component, "none")


@pytest.fixture
def solution(tmp_path: Path) -> Path:
    return tmp_path / "reference" / "norm" / "layer_norm.py"


@pytest.mark.slow
def test_a_good_suite_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = checked(write(tmp_path), "layer_norm")
    assert found.holds, found
    print_checked(Printer(plain()), found)
    assert "form, which counts once another criterion holds: shape" in capsys.readouterr().out
    assert found.solution["layer_norm"].score == 2
    assert found.stub["layer_norm"].status == "not_attempted"
    assert found.notes == []


@pytest.mark.release
def test_what_the_solution_loses_is_shown_with_the_call_and_the_answer(
    tmp_path: Path,
) -> None:
    doubled = SOLVED.replace("torch.sqrt(variance + eps)", "torch.sqrt(2 * variance + eps)")
    assert doubled != SOLVED
    found = checked(write(tmp_path, doubled, public=WORKED))
    assert not found.holds
    # The hidden criterion compares the solution with itself.
    assert list(found.lost) == ["layer_norm.worked"]
    explained = found.lost["layer_norm.worked"]
    assert explained.now.outcome == "failed"
    assert explained.traced is not None
    assert "layer_norm" in " ".join(explained.traced.call)
    assert "0.7" in " ".join(explained.traced.answer or [])


@pytest.mark.slow
def test_a_test_that_is_broken_is_named_with_its_line(tmp_path: Path) -> None:
    write(tmp_path, hidden=HIDDEN.replace("expect.close(", "expect.close(undefined, "))
    found = checked(tmp_path)
    assert not found.holds
    assert found.lost == {}
    assert "NameError" in found.elsewhere["layer_norm.values"]
    assert "test_layer_norm.py, line" in found.elsewhere["layer_norm.values"]
    # The other criterion is checked all the same; it is form, and counts once this one does.
    (shape,) = found.solution["layer_norm"].criteria
    assert shape.facts == [COUNTS_LATER]


@pytest.mark.slow
def test_solutions_that_return_no_value_are_all_told(tmp_path: Path) -> None:
    """They are the solution's own losses, with the calls that show them."""
    asking = """
@pytest.mark.criterion(points=1, source="page 2")
def test_{0}(component, expect):
    \"\"\"one\"\"\"
    expect.same(component.call("{0}").value, 1)
"""
    odd = "\n\nasync def later():\n    return 1\n\n\ndef steps():\n    yield 1\n"
    public = asking.format("later") + asking.format("steps")
    found = checked(write(tmp_path, SOLVED + odd, public=public, hidden=HIDDEN))
    told = {name: explained.full for name, explained in found.lost.items()}
    assert sorted(told) == ["layer_norm.later", "layer_norm.steps"]
    assert "the result is a coroutine, expected a plain number" in told["layer_norm.later"]
    assert "the result is a generator, expected a plain number" in told["layer_norm.steps"]
    assert found.elsewhere == {}
    assert found.solution["layer_norm"].score == 1


@pytest.mark.release
def test_points_that_do_not_add_up_are_a_fault_beside_others(tmp_path: Path) -> None:
    found = checked(write(tmp_path, public=PUBLIC.replace("points=1", "points=3")))
    assert found.faults == [
        "the criteria of layer_norm add up to 4 points, assignment.toml gives it 2"
    ]


@pytest.mark.release
def test_a_stub_that_earns_points_is_a_fault(tmp_path: Path) -> None:
    anything = '''
@pytest.mark.criterion(points=1, source="page 1")
def test_shape(component, expect):
    """a function is there"""
'''
    found = checked(write(tmp_path, public=anything))
    trivial, stub = found.faults
    assert trivial.startswith("layer_norm.shape is passed by work that raises ValueError")
    assert stub.startswith("the stub of layer_norm passes layer_norm.shape")


RAISES = """
@pytest.mark.criterion(points=1, form=True, source="page 2")
def test_refuses(component, expect):
    \"\"\"a negative eps is refused\"\"\"
    expect.raises(component.call("layer_norm", torch.ones(1, 2), -1.0), "RuntimeError")
"""
HELPER = """
def spread(x):
    total = 0.0
    for one, other in zip(x[1:], x[:-1]):
        total = total + abs(one - other) ** 2 / (1 + abs(one) + abs(other))
    return total / max(1, len(x) - 1)
"""


@pytest.mark.release
@pytest.mark.parametrize("old", ["# old\n", sources.STUB.replace("NotImpl", "x or NotImpl"), None])
def test_a_stub_that_drifted_is_only_a_note(tmp_path: Path, old: str | None) -> None:
    """Nor is it where an error is expected, or what the new stub has is given elsewhere, too."""
    refuses = "    if eps < 0:\n        raise RuntimeError\n    deviation ="
    solved = SOLVED.replace("    deviation =", refuses, 1) + HELPER
    root = write(tmp_path, solved, public=RAISES)
    public = root / "assignments" / "norm"
    (public / "README.md").write_text(f"```python{HELPER}```\n")
    stub = public / "layer_norm.py"
    if old is None:
        stub.unlink()
    else:
        stub.write_text(old)
    found = checked(root, "layer_norm")
    assert found.holds, found
    assert found.stub["layer_norm"].status == "not_attempted"
    assert "autograder stubs norm" in found.notes[0]


@pytest.mark.release
def test_a_solution_without_a_region_is_a_fault_beside_others(tmp_path: Path) -> None:
    found = checked(write(tmp_path, sources.RIGHT))
    assert found.faults == [
        "no stub can be made: layer_norm.py: it has no '### BEGIN SOLUTION' region"
    ]
    assert found.solution["layer_norm"].score == 2


@pytest.mark.release
def test_a_stub_finds_the_stubs_that_it_imports(tmp_path: Path) -> None:
    root = write(tmp_path, "from base import shift\n" + SOLVED)
    toml = root / "assignments" / "norm" / "assignment.toml"
    base = '[[components]]\nname = "base"\npoints = 1\n\n[[components]]'
    used = toml.read_text().replace("[[components]]", base) + 'uses = ["base"]\n'
    toml.write_text(used)
    solved = "def shift(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION\n"
    (root / "reference" / "norm" / "base.py").write_text(solved)
    (root / "assignments" / "norm" / "stand_ins").mkdir()
    (root / "assignments" / "norm" / "stand_ins" / "base.py").write_text("shift = abs\n")
    found = checked(root, "layer_norm")
    assert found.holds, found
    assert found.stub["layer_norm"].status == "not_attempted"


SHIFTED = """
@pytest.mark.criterion(points=1, source="page 1")
def test_shifted(component, expect):
    \"\"\"a shifted input gives the same\"\"\"
    x = component.call("shift", torch.tensor([[1.0, 3.0]])).output
    expect.close(component.call("layer_norm", x).output, torch.tensor([[-1.0, 1.0]]))
"""
BASE = """
@pytest.mark.criterion(points=1, source="page 1")
def test_shift(component, expect):
    \"\"\"shift adds 1\"\"\"
    expect.close(component.call("shift", torch.tensor([1.0, 5.0])).output, [2.0, 6.0])
"""


@pytest.mark.release
def test_a_stub_that_another_stub_stops_is_not_attempted(tmp_path: Path) -> None:
    root = write(tmp_path, "from base import shift\n" + SOLVED, public=SHIFTED)
    public, secret = root / "assignments" / "norm", root / "reference" / "norm"
    toml = public / "assignment.toml"
    base = '[[components]]\nname = "base"\npoints = 1\n\n[[components]]'
    toml.write_text(toml.read_text().replace("[[components]]", base) + 'uses = ["base"]\n')
    solved = "def shift(x):\n    ### BEGIN SOLUTION\n    return x + 1\n    ### END SOLUTION\n"
    (secret / "base.py").write_text(solved)
    (public / "base.py").write_text(stubs.make_stub(solved, "base.py"))
    (public / "tests" / "test_base.py").write_text(HEAD + BASE)
    (secret / "stand_ins").mkdir()
    (secret / "stand_ins" / "base.py").write_text("def shift(x):\n    return x + 1\n")
    found = checked(root)
    assert {name: stub.status for name, stub in found.stub.items()} == {
        "base": "not_attempted",
        "layer_norm": "not_attempted",
    }
    assert found.holds, found


def test_an_unknown_component_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no component 'layernorm'; it has: layer_norm"):
        checked(write(tmp_path), "layernorm")


def test_a_missing_solution_is_refused(tmp_path: Path, solution: Path) -> None:
    write(tmp_path)
    solution.unlink()
    with pytest.raises(UsageError, match="there is no solution"):
        checked(tmp_path)


@pytest.mark.release
def test_only_the_component_that_is_named_is_collected(
    autograder, tmp_path: Path, project: Path
) -> None:
    """A broken suite of another component does not stand in the way."""
    broken = project / "reference" / "norm" / "tests" / "test_attention.py"
    broken.write_text("raise RuntimeError('not yet')\n")
    done = autograder("check", "norm", "layer_norm", "--root", project, "--sandbox", "none")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "layer_norm: the solution earns" in done.stdout
    done = autograder("check", "norm", "--root", project, "--sandbox", "none")
    assert done.returncode == 2
    assert "not yet" in done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    from tests.conftest import make_project

    return make_project(tmp_path / "project", "norm", ["layer_norm", "attention"])


@pytest.mark.release
def test_a_change_is_checked_by_itself(tmp_path: Path, solution: Path) -> None:
    write(tmp_path)
    command = [sys.executable, "-m", "autograder", "check", "norm", "layer_norm", "--watch"]
    with subprocess.Popen(
        [*command, "--sandbox", "none", "--root", str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        try:
            assert any("norm layer_norm holds" in line for line in watching.stdout)
            assert any("waiting for a change" in line for line in watching.stdout)
            # Not before it watches, and as often as it takes to be seen.
            solution.write_text("def layer_norm(x:\n")
            said = next(line for line in watching.stdout if line.startswith("autograder: "))
            assert "cannot be imported" in said
            solution.write_text(SOLVED)
            assert any("norm layer_norm holds" in line for line in watching.stdout)
        finally:
            watching.kill()


@pytest.mark.slow
def test_a_worker_that_stands_by_reads_what_is_saved_later(tmp_path: Path, solution: Path) -> None:
    assignment = load_assignment(write(tmp_path, public=WORKED), "norm")
    worker = Worker(assignment, "none", "", standby=True)
    solution.write_text(SOLVED.replace("torch.sqrt(variance + eps)", "torch.sqrt(2 * variance)"))
    assert list(check(assignment, "", "none", worker=worker).lost) == ["layer_norm.worked"]
