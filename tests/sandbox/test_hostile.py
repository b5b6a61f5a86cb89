"""Hostile submissions, small files with goal and verdict, graded in one batch with honest ones.

A file in tests/hostile/<what it is about>/ is handed in as the component it names; a folder there
is handed in as it is. The text at its top says what it wants and the most it may get:

    Goal: one sentence.
    Component: the one that is judged (layer_norm if it says nothing).
    At most: the points that its honest part earns.
    Status: what the component's status must be, if only some will do.

Where nothing but the function matters, its last line stands for `sources.MODULE`.
"""

from __future__ import annotations

import ast
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests import sources
from tests.conftest import ROOT, make_project, set_limits
from tests.grading.processes import offspring, says

# A hundred submissions, most of which use a limit up.
pytestmark = pytest.mark.slow
HOSTILE = ROOT / "tests" / "hostile"
SOLUTIONS = ROOT / "reference" / "transformer_block"
COMPONENTS = ("layer_norm", "attention", "multi_head_attention")
# What tests/hostile/functions goes around.
NAMED = """\
functions = [
    "torch.nn.functional.layer_norm", "torch.layer_norm", "torch.native_layer_norm",
    "torch.nn.LayerNorm",
]
modules = ["numpy"]
"""
# The real ones are generous; what is shown here does not hang on how long a hang may last. But what
# traces a layer for a compiler must come to what is forbidden: that takes up to 0.2 s when quiet.
LIMITS = {
    "call_cpu_s": 1.2,
    "call_wall_s": 2.0,
    "component_cpu_s": 3,
    "component_wall_s": 8.0,
    "memory_mb": 400,
    "output_kb": 256,
    "deaths": 2,
}
# The last line of a file whose other half is as anybody writes it.
REST = b"# And LayerNorm as it should be.\n"
# Whatever a hostile submission leaves anywhere has this in its name.
MARK = "gradeformer-hostile"
CONTROLS = 6


@dataclass(frozen=True)
class Hostile:
    """One submission and its verdict."""

    name: str
    path: Path
    goal: str
    component: str
    at_most: float
    statuses: tuple[str, ...]

    def hand_in(self, folder: Path) -> None:
        if self.path.is_dir():
            shutil.copytree(self.path, folder)
        else:
            folder.mkdir()
            shutil.copy(self.path, folder / f"{self.component}.py")
        for path in folder.glob("*.py"):
            source = path.read_bytes()
            if source.endswith(REST):
                path.write_bytes(source.removesuffix(REST) + sources.MODULE.encode())


def read(path: Path) -> Hostile:
    source = path
    if path.is_dir():
        source = next(p for p in sorted(path.glob("*.py")) if "Goal:" in p.read_text("latin-1"))
    text = source.read_bytes().decode("utf-8", errors="replace")
    header = re.search(r'"""(.*?)"""', text, re.DOTALL)
    assert header is not None, f"{source} has no header"
    fields = dict(re.findall(r"^(Goal|Component|At most|Status): *(.+?)\.?$", header[1], re.M))
    statuses = tuple(fields["Status"].split(", ")) if "Status" in fields else ()
    name = f"{path.parent.name}-{path.stem}"
    component = fields.get("Component", "layer_norm")
    return Hostile(name, path, fields["Goal"], component, float(fields["At most"]), statuses)


def everything() -> list[Hostile]:
    # What answers ordinary tests is graded as another assignment.
    folders = [folder for folder in sorted(HOSTILE.iterdir()) if folder.name != "proxies"]
    paths = (path for folder in folders for path in sorted(folder.iterdir()))
    return [read(path) for path in paths if path.name != "__pycache__"]


@dataclass
class Graded:
    """What a batch came to, and what it left behind."""

    results: dict[str, dict[str, Any]]
    left_processes: list[str]
    left_files: list[str]
    left_mounts: set[str]
    left_groups: list[str]
    output: str = field(repr=False)


@contextmanager
def adopting() -> Iterator[list[str]]:
    """Adopt what a command leaves running, and tell in the end what that is."""
    set_subreaper = 36
    before = offspring(os.getpid())
    assert ctypes.CDLL(None).prctl(set_subreaper, 1, 0, 0, 0) == 0
    left: list[str] = []
    yield left
    for pid in set(offspring(os.getpid())).difference(before):
        with suppress(OSError):
            left.append(Path(f"/proc/{pid}/cmdline").read_bytes().decode("latin-1"))
    ctypes.CDLL(None).prctl(set_subreaper, 0, 0, 0, 0)


def groups() -> Iterator[tuple[int, str]]:
    """The control groups of graders, after whose process each is named."""
    for folder, folders, _ in os.walk("/sys/fs/cgroup"):
        for name in folders:
            grader = re.fullmatch(r"gradeformer-(\d+)-\d+", name)
            if grader is not None:
                yield int(grader[1]), os.path.join(folder, name)


def run(command: list[str], timeout_s: float) -> tuple[int, str, str, set[int]]:
    """Run a command; return its exit code, what it printed, and the workers that were seen."""
    environment = {**os.environ, "GRADEFORMER_SECRET": "s3cret-of-the-grader"}
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, env=environment
    )
    seen: set[int] = set()
    end = time.monotonic() + timeout_s
    while True:
        try:
            out, error = process.communicate(timeout=0.5)
        except subprocess.TimeoutExpired:
            seen.update(p for p in offspring(process.pid) if says(p, "autograder.judge.worker"))
            if time.monotonic() > end:
                process.kill()
                raise
        else:
            return process.returncode, out, error, seen


def marked_files() -> Iterator[str]:
    for top in ("/tmp", "/dev/shm", "/var/tmp", "/run", str(Path.home()), str(ROOT)):
        for folder, folders, names in os.walk(top):
            if ".venv" in folders:
                folders.remove(".venv")
            for name in (*folders, *names):
                if MARK in name:
                    yield os.path.join(folder, name)


def control(folder: Path, number: int) -> None:
    folder.mkdir()
    for name in COMPONENTS:
        text = (SOLUTIONS / f"{name}.py").read_text()
        (folder / f"{name}.py").write_text(f"{text}\n# {number}\n")


@pytest.fixture(scope="module")
def tier() -> str:
    """The sandbox that is used; another module may choose others."""
    return "tier1"


@pytest.fixture(scope="module")
def graded(tier: str, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """All but those that go around rules, in one batch, honest controls in between.

    They run though most of them are out of the ordinary: what they meet is the sandbox.
    """
    return grade(tmp_path_factory.mktemp("hostile"), others(), "note", tier)


@pytest.fixture(scope="module")
def ruled(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Those that go around rules, as they are graded usually."""
    return grade(tmp_path_factory.mktemp("ruled"), about("rules"), "hold", "tier1")


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Those that go around forbidden functions and modules, which no kernel watches."""
    return grade(tmp_path_factory.mktemp("named"), about("functions"), "hold", "tier1", NAMED)


def about(kind: str) -> list[Hostile]:
    return [submission for submission in everything() if submission.path.parent.name == kind]


def others() -> list[Hostile]:
    return [
        submission
        for submission in everything()
        if submission.path.parent.name not in ("rules", "functions")
    ]


def grade(
    folder: Path, submissions: list[Hostile], review: str, tier: str, rules: str = ""
) -> Graded:
    root = make_project(folder / "project", "hostile", COMPONENTS)
    set_limits(root, "hostile", LIMITS)
    settings = root / "assignments" / "hostile" / "assignment.toml"
    text = settings.read_text()
    if rules:
        # In the place of the assignment's, of which torch's kernels refuse most.
        text = re.sub(r"\[rules\]\n.*?\n\n", f"[rules]\n{rules}\n", text, count=1, flags=re.DOTALL)
        text = re.sub(r"^rules = \{.*?\}\n", "", text, flags=re.DOTALL | re.MULTILINE)
    settings.write_text(text.replace("[rules]\n", f'[rules]\nreview = "{review}"\n'))
    batch = folder / "batch"
    batch.mkdir()
    step = max(1, len(submissions) // CONTROLS)
    for number, submission in enumerate(submissions):
        submission.hand_in(batch / f"{number:03}-{submission.name}")
        if number % step == 0:
            control(batch / f"{number:03}-zz-control", number)
    mounts = set(Path("/proc/self/mounts").read_text().splitlines())
    # Other graders may be at work here, or have been killed: numbers of processes come again.
    groups_before = set(groups())
    command = [sys.executable, "-m", "autograder", "grade", str(batch), "--assignment", "hostile"]
    command += ["--out", str(folder / "out"), "--root", str(root), "--sandbox", tier]
    # Every component may use its limit up, and no more; two workers do them side by side.
    each = LIMITS["component_wall_s"] + LIMITS["deaths"] * LIMITS["call_wall_s"]
    with adopting() as left:
        code, out, error, seen = run(command, each * len(list(batch.iterdir())))
    if code == 2 and "tier" in error:
        pytest.skip(f"{tier} CANNOT BE TESTED HERE: {error.strip()}")
    assert code == 0, out + error
    assert seen
    results = {
        path.stem: json.loads(path.read_text()) for path in (folder / "out" / "results").iterdir()
    }
    assert len(results) == len(list(batch.iterdir()))
    return Graded(
        results,
        left,
        list(marked_files()),
        set(Path("/proc/self/mounts").read_text().splitlines()) - mounts,
        sorted(path for grader, path in set(groups()) - groups_before if grader in seen),
        out + error,
    )


def test_there_are_many_and_each_says_what_it_wants() -> None:
    submissions = everything()
    assert len(submissions) >= 80
    assert len({submission.goal for submission in submissions}) == len(submissions)
    for submission in submissions:
        if submission.path.suffix == ".py" and "encoding" not in submission.name:
            ast.parse(submission.path.read_bytes())


def test_every_submission_has_a_mark(graded: Graded) -> None:
    assert {result["status"] for result in graded.results.values()} == {"graded"}


def test_none_gets_more_than_its_honest_part(graded: Graded) -> None:
    assert more_than_honest(graded, others()) == []


def test_who_goes_around_rules_earns_nothing(ruled: Graded) -> None:
    assert more_than_honest(ruled, about("rules")) == []


def test_who_goes_around_functions_and_modules_earns_what_is_said(named: Graded) -> None:
    assert more_than_honest(named, about("functions")) == []


def more_than_honest(
    graded: Graded, submissions: list[Hostile]
) -> list[tuple[str, object, object]]:
    wrong: list[tuple[str, object, object]] = []
    for number, submission in enumerate(submissions):
        result = graded.results[f"{number:03}-{submission.name}"]
        component = result["components"][submission.component]
        if component["score"] > submission.at_most:
            wrong.append((submission.name, component["score"], submission.at_most))
        if submission.statuses and component["status"] not in submission.statuses:
            wrong.append((submission.name, component["status"], submission.statuses))
        for name, other in result["components"].items():
            assert 0 <= other["score"] <= other["max_score"], (submission.name, name)
    return wrong


def test_honest_submissions_keep_every_point(graded: Graded, ruled: Graded, named: Graded) -> None:
    found = [(name, r) for batch in (graded, ruled, named) for name, r in batch.results.items()]
    controls = [(name, result) for name, result in found if name.endswith("control")]
    assert len(controls) >= 3 * CONTROLS
    for name, result in controls:
        lost = [
            (criterion["id"], criterion["message"])
            for component in result["components"].values()
            for criterion in component["criteria"]
            if not criterion["passed"]
        ]
        assert result["score"] == result["max_score"], (name, lost)
        assert result["review"] == []


def test_no_component_dies_more_often_than_it_may(graded: Graded) -> None:
    for name, result in graded.results.items():
        for component in result["components"].values():
            outcomes = [criterion["outcome"] for criterion in component["criteria"]]
            deaths = outcomes.count("timeout") + outcomes.count("crashed")
            assert deaths <= LIMITS["deaths"], name


def test_nothing_is_left_behind(graded: Graded) -> None:
    assert graded.left_processes == []
    assert graded.left_files == []
    assert graded.left_mounts == set()
    assert graded.left_groups == []


def test_hidden_criteria_show_nothing_of_the_students_text(graded: Graded) -> None:
    (result,) = (r for name, r in graded.results.items() if "raise_the_inputs" in name)
    shown = {"public": "", "hidden": ""}
    for criterion in result["components"]["layer_norm"]["criteria"]:
        shown[criterion["visibility"]] += criterion["message"]
    assert "LEAKED-INPUT" in shown["public"]
    assert "LEAKED-INPUT" not in shown["hidden"]
    assert "LEAKED-INPUT" not in result["components"]["layer_norm"]["message"]


def test_no_secret_is_in_a_message(graded: Graded) -> None:
    everything_said = json.dumps(list(graded.results.values())) + graded.output
    assert "s3cret-of-the-grader" not in everything_said
    solution = (SOLUTIONS / "layer_norm.py").read_text().partition("### BEGIN SOLUTION")[2]
    for line in solution.partition("### END SOLUTION")[0].splitlines():
        if len(line.strip()) > 30:
            assert line.strip() not in everything_said
    # No control character reaches a terminal or a page.
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]", graded.output)
    assert not re.search(r"\\u00[01][0-8b-f]", everything_said)
