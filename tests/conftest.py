"""What several tests share: the project, small projects made for a test, running sandboxes."""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import hypothesis
import pytest
import torch

from autograder.assignment import Assignment, load_assignment
from autograder.authoring import wrong_variants
from autograder.authoring.release import known_numbers, release
from autograder.cli import main
from autograder.judge.collection import collect
from autograder.judge.places import CACHE_VARIABLE
from autograder.judge.suite import Suite
from autograder.project import ROOT_VARIABLE
from autograder.sandbox.host import Sandbox
from autograder.sandbox.profile import Budget
from autograder.sandbox.tiers import NotIsolated, open_sandbox

# What solutions answer is kept for this run alone, and shared by all its processes.
if CACHE_VARIABLE not in os.environ:
    os.environ[CACHE_VARIABLE] = tempfile.mkdtemp(prefix="gradeformer-tests-")
    atexit.register(shutil.rmtree, os.environ[CACHE_VARIABLE], ignore_errors=True)
# Shells let what runs in the background ignore SIGINT, and all that it starts: tests interrupt it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# What this run was told is not for the runs of pytest that tests start.
os.environ.pop("PYTEST_ADDOPTS", None)
# The tensors are small, and the machine is shared with the processes that the tests start.
torch.set_num_threads(1)
# Nor does it say anything of a test that they were slow while it drew.
hypothesis.settings.register_profile(
    "gradeformer-tests", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
# For `make test`: each run draws other examples, and `make test-all` more of them.
hypothesis.settings.register_profile(
    "quick", hypothesis.settings.get_profile("gradeformer-tests"), max_examples=25
)
# For what `make test-all` alone runs at length: what is read from outside.
hypothesis.settings.register_profile(
    "at-length",
    hypothesis.settings.get_profile("gradeformer-tests"),
    max_examples=int(os.environ.get("GRADEFORMER_TEST_EXAMPLES", "1000")),
)
hypothesis.settings.load_profile("gradeformer-tests")

# A project of the user's is none of the tests'.
os.environ.pop(ROOT_VARIABLE, None)
# For the selftests and the made-up classes, which compute most: in the user's own cache they share
# what mistakes answer, and what was graded on this machine need not be graded again.
KEEPING = {name: value for name, value in os.environ.items() if name != CACHE_VARIABLE}

ROOT = Path(__file__).resolve().parents[1]
CLASSES = ROOT / "tests" / "classes"
# The third needs root, and nothing else.
TIERS = ("tier1", "tier2", "tier3")
# Of the environment: tiers that must start here, so that a fault in one is no skip.
NEEDED = "GRADEFORMER_TEST_TIERS"
BUDGET = Budget(call_cpu_s=1.0, call_wall_s=8.0, cpu_s=3, memory=1 << 30, file_size=1 << 20)


# Files whose tests share what is dear to make, a course, an installation or drawn suites: where
# several processes share the tests, one has all of these. Any other file is kept together alone.
_TOGETHER = {
    "released": ("own_run", "release"),
    "suites": (
        "bare_marks",
        "cache",
        "criteria",
        "diagnosis",
        "expect",
        "recognition",
        "stand_ins",
    ),
    "pages": ("statistics", "texts", "writing"),
    "classes": ("demo", "report", "written"),
    "course": ("formgrader", "hostile", "marks", "postgresql", "student_lab"),
    "wheel": ("ci", "ci_files", "ci_gradescope", "courses", "second_assignment", "tour", "wheel"),
}
# Fixtures that grade many submissions.
_DEAR = {"parts", "three_hundred"}
# Files that take longest.
_LONGEST = ("test_selftest", "test_grade", "test_small_course", "test_tiers")
_GROUPS = {f"test_{name}": group for group, names in _TOGETHER.items() for name in names}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each process whole groups of files, where it would be given whole files."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Grouped(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return _GROUPS.get(Path(file).stem, file)

    return Grouped(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow; begin with what takes longest: no process is left with it alone."""
    for item in items:
        if item.path.is_relative_to(ROOT / "tests" / "e2e") or "nbgrader" in item.path.parts:
            item.add_marker(pytest.mark.slow)
        if dear := _DEAR & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.release if "three_hundred" in dear else pytest.mark.slow)
        # What one sandbox holds to is tried on the first; test_tiers has a job on each tier,
        # `make test-e2e` what test_sandbox asks of each by itself, and `make test-all` the rest.
        given = item.callspec.params if hasattr(item, "callspec") else {}
        names = ("backend", "given", "sandbox", "tier")
        own = item.path.stem
        if own != "test_tiers" and any(given.get(name) in TIERS[1:] for name in names):
            item.add_marker(pytest.mark.slow if own == "test_sandbox" else pytest.mark.release)
    items.sort(key=lambda item: (item.path.stem not in _LONGEST, "e2e" not in item.path.parts))


@pytest.fixture(scope="session")
def assignment() -> Assignment:
    return load_assignment(ROOT, "transformer_block")


@pytest.fixture(scope="session")
def suite(assignment: Assignment) -> Suite:
    """Both suites of the assignment, drawn as the judge draws them."""
    return collect(assignment)


@pytest.fixture(scope="session")
def released(assignment: Assignment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The student's folder of the assignment."""
    folder = tmp_path_factory.mktemp("released")
    release(assignment, folder / "release", known_numbers)
    return folder / "release"


@pytest.fixture(scope="session")
def graded_class(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str, str], tuple[Path, str]]:
    """Grade a made-up class with the command, once per tier; return the folder and the output."""

    @functools.cache
    def grade(name: str, tier: str) -> tuple[Path, str]:
        out = tmp_path_factory.mktemp(tier)
        wrong_variants.write_class(load_assignment(ROOT, name), ROOT, CLASSES / name, out / "class")
        command = [sys.executable, "-m", "autograder", "grade", str(out / "class")]
        command += ["--out", str(out), "--assignment", name, "--sandbox", tier]
        done = subprocess.run(
            command, cwd=ROOT, env=KEEPING, capture_output=True, text=True, timeout=900
        )
        if done.returncode == 2 and tier in done.stderr.replace("tier ", "tier"):
            pytest.skip(f"{tier} CANNOT BE TESTED HERE: {done.stderr.strip()}")
        assert done.returncode == 0, done.stdout + done.stderr
        return out, done.stdout

    return grade


@pytest.fixture(scope="session", params=TIERS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox of each tier that this machine can hold; a tier it cannot is skipped loudly."""
    secrets = [ROOT, ROOT / "README.md", ROOT / "reference" / "transformer_block" / "attention.py"]
    try:
        found, _ = open_sandbox(request.param, BUDGET, ("layer_norm", "rms_norm"), secrets)
    except NotIsolated as reason:
        skip(request.param, reason)
    yield found
    found.close()


def skip(tier: str, reason: NotIsolated) -> NoReturn:
    """Skip what a tier is needed for that this machine cannot start; a leak is no such thing."""
    if "does not hold" in str(reason) or tier in os.environ.get(NEEDED, "").split():
        raise reason
    pytest.skip(f"{tier} CANNOT BE TESTED HERE: {reason}")


@pytest.fixture
def small_project(tmp_path: Path) -> Path:
    """A project with one assignment, `norm`, that has layer_norm alone."""
    return make_project(tmp_path / "project", "norm", ["layer_norm"])


def lines_of_code(folder: Path) -> set[str]:
    """Return the lines of all Python below a folder; of edits, those that go and come."""
    python, edits = (
        [line for path in folder.rglob(kind) for line in path.read_text("utf-8").splitlines()]
        for kind in ("*.py", "*.diff")
    )
    changed = [line[1:] for line in edits if line.startswith(("+", "-"))]
    return {line.strip() for line in (*python, *changed)}


def make_project(
    project: Path, name: str, components: Sequence[str], checkout: Path = ROOT
) -> Path:
    """Make a project with one assignment that has some of the components of a checkout's."""
    folders = [project / source / name for source in ("assignments", "reference")]
    for folder, source in zip(folders, ("assignments", "reference"), strict=True):
        (folder / "tests").mkdir(parents=True)
        origin = checkout / source / "transformer_block"
        for component in components:
            shutil.copy(origin / f"{component}.py", folder)
            shutil.copy(origin / "tests" / f"test_{component}.py", folder / "tests")
    public, origin = folders[0], checkout / "assignments" / "transformer_block"
    shutil.copy(origin / "README.md", public)
    if components != ["layer_norm"]:
        shutil.copy(origin / "tests" / "walkthrough.json", public / "tests")
        shutil.copytree(origin / "stand_ins", public / "stand_ins")
        grader = checkout / "reference" / "transformer_block" / "stand_ins"
        shutil.copytree(grader, folders[1] / "stand_ins")
    head, *parts = (origin / "assignment.toml").read_text().split("[[components]]")
    kept = [part for part in parts if re.search(r'name = "(\w+)"', part)[1] in components]
    text = "[[components]]".join([head.replace('"transformer_block"', f'"{name}"'), *kept])
    (public / "assignment.toml").write_text(text)
    return project


def set_limits(project: Path, name: str, limits: Mapping[str, float]) -> None:
    """Change limits in the assignment.toml of a project."""
    path = project / "assignments" / name / "assignment.toml"
    text = path.read_text()
    for key, value in limits.items():
        text, count = re.subn(rf"^{key} = \S+", f"{key} = {value}", text, flags=re.M)
        assert count == 1, key
    path.write_text(text)


@pytest.fixture
def autograder(
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command as a user would, but in this process: to start one costs a second.

    What only a process of its own has is tried in tests/grading/test_grade.py.
    """

    def run(*args: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        command = ["autograder", *map(str, args)]
        out, err, code = io.StringIO(), io.StringIO(), 0
        with monkeypatch.context() as patch:
            patch.chdir(cwd)
            patch.setattr(sys, "argv", command)
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    main()
                except SystemExit as ended:
                    code = ended.code if isinstance(ended.code, int) else 0
        return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def reachable(tmp_path: Path) -> Iterator[Path]:
    """A folder that every account reaches: pytest's own are closed."""
    above = [folder for folder in tmp_path.parents if folder.stat().st_mode & 0o011 != 0o011]
    modes = {folder: folder.stat().st_mode & 0o7777 for folder in above}
    for folder, before in modes.items():
        folder.chmod(before | 0o011)
    tmp_path.chmod(0o755)
    yield tmp_path
    for folder, before in modes.items():
        folder.chmod(before)


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


@pytest.fixture
def command(small_project: Path, write_class, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Start the command on the class; whatever is left of it ends with the test."""
    # Here, because few tests need it.
    from tests.grading.processes import STUDENTS, Command

    batch = write_class(STUDENTS)
    started: list[Command] = []

    def start(*more: str, out: Path = tmp_path / "out") -> Command:
        started.append(Command(batch, out, small_project, *more))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()
