"""What several tests share: the project, small projects made for a test, running sandboxes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import torch

from autograder.assignment import Assignment, load_assignment
from autograder.sandbox.handle import Budget
from autograder.sandbox.host import Sandbox
from autograder.sandbox.tiers import NotIsolated, open_sandbox

# The tensors are small, and the machine is shared with the processes that the tests start.
torch.set_num_threads(1)

ROOT = Path(__file__).resolve().parents[1]
BUDGET = Budget(call_cpu_s=1.0, call_wall_s=8.0, cpu_s=3, memory=1 << 30, file_size=1 << 20)


@pytest.fixture(scope="session")
def assignment() -> Assignment:
    return load_assignment(ROOT, "transformer_block")


@pytest.fixture(scope="session", params=["tier1", "tier2"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox of each tier that this machine can hold; a tier it cannot is skipped loudly."""
    secrets = [ROOT, ROOT / "README.md", ROOT / "reference" / "transformer_block" / "attention.py"]
    try:
        found, _ = open_sandbox(request.param, BUDGET, ("layer_norm", "rms_norm"), secrets)
    except NotIsolated as reason:
        pytest.skip(f"{request.param} CANNOT BE TESTED HERE: {reason}")
    yield found
    found.close()


@pytest.fixture
def small_project(tmp_path: Path) -> Path:
    """A project with one assignment, `norm`, that has layer_norm alone."""
    return make_small_project(tmp_path / "project")


def make_small_project(project: Path) -> Path:
    public = project / "assignments" / "norm"
    secret = project / "reference" / "norm"
    for folder, source in ((public, "assignments"), (secret, "reference")):
        (folder / "tests").mkdir(parents=True)
        origin = ROOT / source / "transformer_block"
        shutil.copy(origin / "layer_norm.py", folder)
        shutil.copy(origin / "tests" / "test_layer_norm.py", folder / "tests")
    shutil.copy(ROOT / "assignments" / "transformer_block" / "README.md", public)
    text = (ROOT / "assignments" / "transformer_block" / "assignment.toml").read_text()
    text = text.replace('"transformer_block"', '"norm"')
    second = text.index("[[components]]", text.index("[[components]]") + 1)
    (public / "assignment.toml").write_text(text[:second])
    return project


@pytest.fixture
def autograder() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command as a user would."""

    def run(*args: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "autograder", *map(str, args)]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=540)

    return run


@pytest.fixture
def write_class(tmp_path: Path) -> Callable[[Mapping[str, Mapping[str, str]]], Path]:
    """Write a batch: a folder of files for every student id."""

    def write(students: Mapping[str, Mapping[str, str]]) -> Path:
        for student, files in students.items():
            folder = tmp_path / "batch" / student
            folder.mkdir(parents=True)
            for name, text in files.items():
                (folder / name).write_text(text)
        return tmp_path / "batch"

    return write
