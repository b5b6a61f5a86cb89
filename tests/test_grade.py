"""Grading whole batches through the command, as an instructor would."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
import zipfile
from pathlib import Path

import pytest

from autograder.assignment import Assignment
from tests.conftest import ROOT

DEMO = ROOT / "tests" / "classes" / "demo"
EXPECTED = tomllib.loads((DEMO.parent / "demo.toml").read_text())
RIGHT = (ROOT / "reference" / "transformer_block" / "layer_norm.py").read_text()
WRONG = RIGHT.replace(".square().mean(dim=-1, keepdim=True)", ".abs().mean(dim=-1, keepdim=True)")


@pytest.fixture(scope="module", params=["tier1", "tier2"])
def demo(request, tmp_path_factory) -> dict[str, dict]:
    """The demo class, graded on each tier."""
    out = tmp_path_factory.mktemp(request.param)
    command = [sys.executable, "-m", "autograder", "grade", str(DEMO), "--out", str(out)]
    command += ["--assignment", "transformer_block", "--sandbox", request.param]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=540)
    if done.returncode == 2 and request.param in done.stderr.replace("tier ", "tier"):
        pytest.skip(f"{request.param} CANNOT BE TESTED HERE: {done.stderr.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"sandbox tier {request.param[-1]}" in done.stdout
    rows = (out / "results.csv").read_text().splitlines()
    assert len(rows) == len(EXPECTED) + 1
    return {path.stem: json.loads(path.read_text()) for path in (out / "results").glob("*.json")}


def test_every_submission_has_a_result(demo) -> None:
    assert set(demo) == set(EXPECTED)
    assert {result["status"] for result in demo.values()} == {"graded"}


def test_the_marks_are_those_that_the_class_was_written_for(demo) -> None:
    wrong = []
    for student, expected in EXPECTED.items():
        result = demo[student]
        if "total" in expected and result["score"] != expected["total"]:
            wrong.append((student, "total", result["score"]))
        for name, component in result["components"].items():
            status = expected["status"].get(name, "graded")
            full = component["score"] == component["max_score"]
            lost = [c["id"] for c in component["criteria"] if not c["passed"]]
            if name in expected["full"] and not (full and component["status"] == "graded"):
                wrong.append((student, name, "should be full", lost, component["message"]))
            if name in expected["loses"] and (full or not component["score"]):
                wrong.append((student, name, "should lose some", component["score"]))
            if name in expected["zero"] and component["score"] != 0:
                wrong.append((student, name, "should be zero", component["score"]))
            if name in [*expected["full"], *expected["loses"], *expected["zero"]] and (
                component["status"] != status
            ):
                wrong.append((student, name, f"should be {status}", component["status"]))
    assert wrong == []


def test_a_result_file_is_as_the_contract_has_it(demo, assignment: Assignment) -> None:
    for student, result in demo.items():
        assert result["schema"] == 1
        assert result["submission"] == student
        assert result["assignment"] == "transformer_block"
        assert result["max_score"] == 100
        assert list(result["components"]) == list(assignment.totals)
        assert result["score"] == sum(c["score"] for c in result["components"].values())
        assert set(result["graded"]) == {"submission_hash", "suite_hash", "seed", "versions"}
        for name, component in result["components"].items():
            assert component["score"] == sum(c["score"] for c in component["criteria"])
            assert component["max_score"] == sum(c["max_score"] for c in component["criteria"])
            assert len(component["criteria"]) >= 8
            for criterion in component["criteria"]:
                assert criterion["id"].startswith(f"{name}.")
                assert criterion["title"]
                assert criterion["source"]
                assert criterion["passed"] is (
                    None if criterion["outcome"] == "not_run" else criterion["outcome"] == "passed"
                )
                assert criterion["passed"] or criterion["score"] == 0


def test_a_forbidden_operation_names_file_and_line(demo) -> None:
    component = demo["s18"]["components"]["layer_norm"]
    assert component["status"] == "forbidden"
    assert component["message"].startswith("torch's layer_norm was called (layer_norm.py, line ")


def test_a_hang_costs_its_component_alone(demo) -> None:
    statuses = {name: c["status"] for name, c in demo["s17"]["components"].items()}
    assert statuses.pop("attention") == "timeout"
    assert set(statuses.values()) == {"graded"}


def test_reading_the_reference_earns_nothing(demo) -> None:
    assert demo["s19"]["components"]["attention"]["score"] < 18


def test_hidden_messages_show_no_values(demo) -> None:
    for result in demo.values():
        for component in result["components"].values():
            for criterion in component["criteria"]:
                if criterion["visibility"] == "hidden" and component["status"] == "graded":
                    assert "expected [" not in criterion["message"]
                    assert "returned [" not in criterion["message"]


def run(batch: Path, out: Path, root: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autograder", "grade", str(batch), "--out", str(out)]
    command += ["--assignment", "norm", "--root", str(root), *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def read(out: Path, student: str) -> dict:
    return json.loads((out / "results" / f"{student}.json").read_text())


def test_an_unchanged_submission_is_not_graded_again(small_project, write_class, tmp_path) -> None:
    batch = write_class({"s01": {"layer_norm.py": RIGHT}, "s02": {"layer_norm.py": WRONG}})
    out = tmp_path / "out"
    assert run(batch, out, small_project).returncode == 0
    before = (out / "results" / "s01.json").stat().st_mtime_ns
    (batch / "s02" / "layer_norm.py").write_text(RIGHT)
    done = run(batch, out, small_project)
    assert "s01 14 (unchanged)" in done.stdout
    assert (out / "results" / "s01.json").stat().st_mtime_ns == before
    assert read(out, "s02")["score"] == 14
    done = run(batch, out, small_project, "--no-resume")
    assert "(unchanged)" not in done.stdout
    assert (out / "results" / "s01.json").stat().st_mtime_ns != before
    # A change of the suite makes every result old.
    test = small_project / "assignments" / "norm" / "tests" / "test_layer_norm.py"
    test.write_text(test.read_text() + "\n# changed\n")
    assert "(unchanged)" not in run(batch, out, small_project).stdout


def test_a_damaged_result_is_graded_again(small_project, write_class, tmp_path) -> None:
    batch = write_class({"s01": {"layer_norm.py": RIGHT}})
    out = tmp_path / "out"
    assert run(batch, out, small_project).returncode == 0
    (out / "results" / "s01.json").write_text('{"schema": 1, "sub')
    assert run(batch, out, small_project).returncode == 0
    assert read(out, "s01")["score"] == 14


def test_a_killed_run_goes_on_where_it_stopped(small_project, write_class, tmp_path) -> None:
    hanging = "while True:\n    pass\n"
    students = {f"s{n:02}": {"layer_norm.py": RIGHT} for n in range(1, 6)}
    batch = write_class({**students, "s99": {"layer_norm.py": hanging}})
    out = tmp_path / "out"
    command = [sys.executable, "-m", "autograder", "grade", str(batch), "--out", str(out)]
    command += ["--assignment", "norm", "--root", str(small_project), "--jobs", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("3/6"):
            break
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    done = {path.name: path.stat().st_mtime_ns for path in (out / "results").glob("*.json")}
    assert len(done) >= 3
    assert run(batch, out, small_project).returncode == 0
    after = {path.name: path.stat().st_mtime_ns for path in (out / "results").glob("*.json")}
    assert len(after) == 6
    assert {name: after[name] for name in done} == done
    assert read(out, "s99")["components"]["layer_norm"]["status"] == "timeout"
    assert not [path for path in (out / "results").iterdir() if path.suffix != ".json"]


def test_the_empty_folder_scores_nothing(small_project, tmp_path) -> None:
    (tmp_path / "batch" / "s01").mkdir(parents=True)
    assert run(tmp_path / "batch", tmp_path / "out", small_project).returncode == 0
    component = read(tmp_path / "out", "s01")["components"]["layer_norm"]
    assert (component["status"], component["score"]) == ("missing", 0)
    assert {c["passed"] for c in component["criteria"]} == {None}


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


def test_the_statuses_of_what_never_ran(small_project, write_class, tmp_path) -> None:
    students = {name: {"layer_norm.py": source} for name, (source, _) in NEVER_RAN.items()}
    batch = write_class({**students, "control": {"layer_norm.py": RIGHT}})
    assert run(batch, tmp_path / "out", small_project).returncode == 0
    found = {name: read(tmp_path / "out", name)["components"]["layer_norm"] for name in NEVER_RAN}
    assert {name: component["status"] for name, component in found.items()} == {
        name: status for name, (_, status) in NEVER_RAN.items()
    }
    for component in found.values():
        assert component["score"] == 0
        assert component["message"]
        assert {criterion["passed"] for criterion in component["criteria"]} <= {None, False}
    assert read(tmp_path / "out", "control")["score"] == 14


def test_code_that_answers_differently_each_time_is_named(
    small_project, write_class, tmp_path
) -> None:
    once = "calls.append(1)\n    if len(calls) == 1: return x\n    return deviation"
    source = "calls = []\n" + RIGHT.replace("return deviation", once)
    batch = write_class({"s01": {"layer_norm.py": source}})
    assert run(batch, tmp_path / "out", small_project).returncode == 0
    criteria = read(tmp_path / "out", "s01")["components"]["layer_norm"]["criteria"]
    assert "answered differently a second time" in criteria[0]["message"]
    assert [c["passed"] for c in criteria].count(False) == 1


def test_rejected_and_unreadable_entries_have_results_too(
    small_project, write_class, tmp_path
) -> None:
    batch = write_class({"s01": {"layer_norm.py": RIGHT}})
    with zipfile.ZipFile(batch / "s02.zip", "w") as archive:
        archive.writestr("../layer_norm.py", RIGHT)
    (batch / "s03.zip").write_bytes(b"not a zip")
    done = run(batch, tmp_path / "out", small_project)
    assert done.returncode == 0
    for student in ("s02", "s03"):
        result = read(tmp_path / "out", student)
        assert (result["status"], result["score"]) == ("rejected", 0)
        assert result["message"] in " ".join(done.stdout.split())


def test_a_fault_of_the_grader_is_an_error_and_a_rerun_repairs_it(
    small_project, write_class, tmp_path
) -> None:
    batch = write_class({"s01": {"layer_norm.py": RIGHT}, "s02": {"layer_norm.py": RIGHT}})
    test = small_project / "reference" / "norm" / "tests" / "test_layer_norm.py"
    whole = test.read_text()
    # The first run of the criterion is the solution's; the judge dies in those that follow.
    test.write_text(
        whole.replace(
            '    """the input is left as it was"""\n',
            '    """the input is left as it was"""\n'
            "    runs.append(1)\n    if len(runs) > 1:\n        raise MemoryError\n",
        )
        + "\nruns = []\n"
    )
    done = run(batch, tmp_path / "out", small_project)
    assert done.returncode == 1, done.stdout + done.stderr
    result = read(tmp_path / "out", "s01")
    assert (result["status"], result["score"]) == ("error", None)
    assert "s01,error,,14," in (tmp_path / "out" / "results.csv").read_text()
    test.write_text(whole)
    assert run(batch, tmp_path / "out", small_project).returncode == 0
    assert read(tmp_path / "out", "s01")["score"] == 14


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
    assert run(batch, tmp_path / "out", small_project, "--sandbox", "none").returncode == 0
    assert read(tmp_path / "out", "s01")["sandbox"] == "none: student code is not isolated"


def test_nothing_is_left_behind(small_project, write_class, tmp_path, monkeypatch) -> None:
    batch = write_class({"s01": {"layer_norm.py": "while True: pass\n"}})
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    assert run(batch, tmp_path / "out", small_project).returncode == 0
    # torch itself leaves a cache folder there.
    assert list((tmp_path / "tmp").glob("gradeformer-*")) == []
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if _mentions(p, str(tmp_path))]
        if not left:
            break
    assert not left


def _mentions(path: Path, text: str) -> bool:
    try:
        return text in path.read_bytes().decode(errors="replace")
    except OSError:
        return False
