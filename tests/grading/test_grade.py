"""Grading a batch through the command, as an instructor would: every kind of entry, and a rerun."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, make_project, set_limits
from tests.sources import RIGHT, SQUARES, WRONG, by_variance

STUB = (ROOT / "assignments" / "transformer_block" / "layer_norm.py").read_text()
NEVER_RAN = {
    "stub": (STUB, "not_attempted"),
    "unwritten": (
        "def layer_norm(x, eps=1e-5):\n    raise NotImplementedError\n"
        "class LayerNorm:\n    def __init__(self, d, eps=1e-5): raise NotImplementedError\n",
        "not_attempted",
    ),
    "unknown-import": ("import nothing_like_this\n", "import_error"),
    "leaves": ("raise SystemExit(0)\n", "import_error"),
    "syntax": ("def layer_norm(x: pass\n", "import_error"),
    "nul": ("\0\n", "import_error"),
    "deep": ("x = " + "(" * 5000 + ")" * 5000 + "\n", "import_error"),
    "kills": ("import os\nos.kill(os.getpid(), 9)\n", "import_error"),
    "exits": ("import os\nos._exit(0)\n", "crashed"),
    "loops": ("while True: pass\n", "timeout"),
}
UNSTEADY = "calls = []\n" + by_variance(
    SQUARES, "    calls.append(1)\n    if len(calls) == 1: return x\n"
)


@dataclass
class Graded:
    """A batch, its project, and what its first run came to."""

    batch: Path
    out: Path
    root: Path
    done: subprocess.CompletedProcess[str]
    results: Mapping[str, dict[str, Any]]

    def component(self, student: str) -> dict[str, Any]:
        found: dict[str, Any] = self.results[student]["components"]["layer_norm"]
        return found


def run(batch: Path, out: Path, root: Path, scratch: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autograder", "grade", str(batch), "--out", str(out)]
    # One worker: a second would take as long to start as it saves.
    command += ["--assignment", "norm", "--root", str(root), "--jobs", "1"]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def read_all(out: Path) -> dict[str, dict[str, Any]]:
    return {path.stem: json.loads(path.read_text()) for path in (out / "results").glob("*.json")}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    folder = tmp_path_factory.mktemp("grade")
    root = make_project(folder / "project", "norm", ["layer_norm"])
    set_limits(root, "norm", {"call_cpu_s": 0.5})
    batch, out = folder / "batch", folder / "out"
    sources = {"right": RIGHT, "wrong": WRONG, "unsteady": UNSTEADY}
    sources |= {name: source for name, (source, _) in NEVER_RAN.items()}
    for student, source in sources.items():
        (batch / student).mkdir(parents=True)
        (batch / student / "layer_norm.py").write_text(source)
    (batch / "empty").mkdir()
    with zipfile.ZipFile(batch / "leads-out.zip", "w") as archive:
        archive.writestr("../layer_norm.py", RIGHT)
    (batch / "no-zip.zip").write_bytes(b"not a zip")
    (folder / "tmp").mkdir()
    done = run(batch, out, root, folder / "tmp")
    assert done.returncode == 0, done.stdout + done.stderr
    return Graded(batch, out, root, done, read_all(out))


def test_right_work_gets_every_point_and_wrong_work_some(graded: Graded) -> None:
    assert graded.results["right"]["score"] == 14
    assert 0 < graded.results["wrong"]["score"] < 14


@pytest.mark.parametrize("student", NEVER_RAN)
def test_the_status_of_what_never_ran(graded: Graded, student: str) -> None:
    component = graded.component(student)
    assert component["status"] == NEVER_RAN[student][1]
    assert component["score"] == 0
    assert component["message"]
    assert {criterion["passed"] for criterion in component["criteria"]} <= {None, False}


def test_the_empty_folder_scores_nothing(graded: Graded) -> None:
    component = graded.component("empty")
    assert (component["status"], component["score"]) == ("missing", 0)
    assert {c["passed"] for c in component["criteria"]} == {None}


def test_code_that_answers_differently_each_time_is_named(graded: Graded) -> None:
    criteria = graded.component("unsteady")["criteria"]
    assert "answered differently a second time" in criteria[0]["message"]
    assert criteria[0]["unsteady"]
    # The first answer of each of its processes: hidden questions have one of their own.
    lost = [c["visibility"] for c in criteria if c["passed"] is False]
    assert lost == ["public", "hidden"]


@pytest.mark.parametrize("student", ["leads-out", "no-zip"])
def test_what_cannot_be_taken_in_has_a_result_too(graded: Graded, student: str) -> None:
    result = graded.results[student]
    assert (result["status"], result["score"]) == ("rejected", 0)
    assert result["message"] in " ".join(graded.done.stdout.split())


def test_nothing_is_left_behind(graded: Graded) -> None:
    # torch itself leaves a cache folder there.
    assert list((graded.out.parent / "tmp").glob("gradeformer-*")) == []
    names = {path.name for path in graded.out.iterdir()}
    assert names == {".grading", "report", "results", "results.csv"}
    assert [path for path in (graded.out / "results").iterdir() if path.suffix != ".json"] == []
    commands = list(Path("/proc").glob("[0-9]*/cmdline"))
    assert [path for path in commands if _mentions(path, str(graded.root))] == []


def _mentions(path: Path, text: str) -> bool:
    try:
        return text in path.read_bytes().decode(errors="replace")
    except OSError:
        return False


@pytest.mark.slow
def test_one_submission_is_told_what_its_student_may_see(graded: Graded) -> None:
    command = [sys.executable, "-m", "autograder", "grade", str(graded.batch / "wrong"), "--one"]
    command += ["--assignment", "norm", "--root", str(graded.root), "--fail-under", "99"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stderr
    found = graded.component("wrong")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert f"layer_norm: {found['score']:g} of 14" in lines
    lost = [c for c in found["criteria"] if not c["passed"]]
    assert lost
    for criterion in lost:
        points = f"{criterion['score']:g} of {criterion['max_score']:g}"
        assert f"{points}: {criterion['title']}" in lines
        assert criterion["facts"][0] in lines
    assert lines[-1] == f"wrong: {graded.results['wrong']['score']:g} of 14 points"


@pytest.mark.slow
def test_a_rerun_grades_what_changed_or_was_damaged_and_keeps_the_rest(graded: Graded) -> None:
    folder = graded.out / "results"
    (graded.batch / "wrong" / "layer_norm.py").write_text(RIGHT)
    (folder / "right.json").write_text('{"schema": 1, "sub')
    before = {path.stem: path.stat().st_mtime_ns for path in folder.iterdir()}
    done = run(graded.batch, graded.out, graded.root, graded.out.parent / "tmp")
    assert done.returncode == 0, done.stderr
    after = {path.stem: path.stat().st_mtime_ns for path in folder.iterdir()}
    # What was rejected is looked at again.
    again = {"wrong", "right", "leads-out", "no-zip"}
    assert {student for student in before if after[student] != before[student]} == again
    assert done.stdout.count("(unchanged)") == len(before) - len(again)
    assert "unsteady" in done.stdout
    results = read_all(graded.out)
    assert results["wrong"]["score"] == results["right"]["score"] == 14
    was = graded.results["wrong"]["score"]
    assert f"wrong {was:g} -> 14: the submission changed" in done.stdout
    assert "1 mark moved" in done.stdout


@pytest.mark.slow
def test_it_refuses_without_a_sandbox_unless_told(small_project, write_class, tmp_path) -> None:
    batch = write_class({"s01": {"layer_norm.py": RIGHT}})
    environment = {**os.environ, "PATH": "/nonexistent"}
    command = [sys.executable, "-m", "autograder", "grade", str(batch), "--assignment", "norm"]
    command += ["--root", str(small_project), "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [*command, "--sandbox", "tier1"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "bubblewrap is not installed" in done.stderr
    assert "--sandbox none" in " ".join(done.stderr.split())
    assert list((tmp_path / "out" / "results").iterdir()) == []
