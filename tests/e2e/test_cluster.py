"""A class on a Dask cluster: the marks of one machine, and faults that cost nobody anything."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.cli.accepting import accept
from autograder.judge import intake
from autograder.results import SubmissionResult
from tests import sources
from tests.e2e.clusters import (
    COMMAND,
    HASTY,
    WAITING,
    Cluster,
    Run,
    cluster,
    gone,
    hears_interrupt,
    hosts,
    judges,
    pretended,
)
from tests.e2e.waiting import until
from tests.grading.processes import descendants, says, stamps
from tests.packing import make_folder, make_tar, make_zip
from tests.tiny import write_tiny

pytest.importorskip("distributed", reason="DASK IS NOT INSTALLED: run `make test-e2e`")

from tests.e2e.gated import EARLY_COUNT, GATE, KILLER, PATCH, TRIES

FULL = 2
RIGHT, WRONG = ({"layer_norm.py": text.encode()} for text in (sources.RIGHT, sources.WRONG))
EARLY = {f"s{n:02}": WRONG if n % 4 == 0 else RIGHT for n in range(1, 9)}
# Held back until the gate is open, so that a run is in the middle as long as a test wants.
HONEST = {**EARLY, "z1": RIGHT, "z2": WRONG}
PATIENCE_S = 1200.0


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where these runs keep things, and put temporary files."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("GRADEFORMER_CACHE", str(folder))
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_tiny(tmp_path / "project")


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    for student, files in HONEST.items():
        make_folder(tmp_path / "batch" / student, files)
    return tmp_path / "batch"


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that opens the gate as soon as it is there."""
    monkeypatch.setenv(GATE, str(tmp_path / "gate"))
    monkeypatch.setenv(TRIES, str(tmp_path / "tries"))
    monkeypatch.setenv(EARLY_COUNT, str(len(EARLY)))
    return tmp_path / "gate"


@pytest.fixture
def grade(
    cache: Path, gate: Path, project: Path, batch: Path, tmp_path: Path
) -> Iterator[Callable[..., Run]]:
    """Start the command on the class; whatever is left of it ends with the test."""
    started: list[Run] = []

    def start(*more: str, out: str = "out", code: str = PATCH + COMMAND, first: str = "") -> Run:
        words: list[str | Path] = [*([first] if first else []), "grade", batch]
        words += ["--assignment", "norm", "--root", project, "--out", tmp_path / out, *more]
        started.append(Run(words, tmp_path / f"said-{len(started)}.txt", code))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


@pytest.fixture
def dask(cache: Path, tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path / "dask") as found:
        yield found


def results(out: Path) -> dict[str, SubmissionResult]:
    """Every result; each must be whole."""
    found = {}
    for path in (out / "results").iterdir():
        assert path.suffix == ".json", path
        found[path.stem] = SubmissionResult.model_validate_json(path.read_bytes())
    return found


def told(out: Path) -> dict[str, object]:
    """What results say, but for how long it took."""
    found = {}
    for name, result in results(out).items():
        said = json.loads(result.model_dump_json(exclude={"duration_s"}))
        for component in said["components"].values():
            del component["usage"]
        found[name] = said
    return found


def check_marks(out: Path, names: set[str] | None = None) -> None:
    found = results(out)
    assert set(found) == (set(HONEST) if names is None else names)
    for name, result in found.items():
        assert result.status == "graded", result.message
        assert (result.score == FULL) == (HONEST[name] is RIGHT)


@pytest.mark.release
def test_a_class_is_marked_as_on_one_machine(
    grade: Callable[..., Run], batch: Path, cache: Path, tmp_path: Path
) -> None:
    """Every form of a submission, honest or not; every word of a result."""
    secret = tmp_path / "project" / "reference" / "norm" / "layer_norm.py"
    make_zip(batch / "zipped.zip", {f"my work/{n}": data for n, data in RIGHT.items()})
    make_tar(batch / "tarred.tar.gz", {**WRONG, "data.bin": bytes(1_000_000)})
    (batch / "broken.zip").write_bytes((batch / "zipped.zip").read_bytes()[:-30])
    (batch / "linked").symlink_to(secret.parent)
    (batch / "linking").mkdir()
    (batch / "linking" / "layer_norm.py").symlink_to(secret)
    make_folder(batch / "empty", {"notes.txt": b"sorry"})
    make_folder(batch / "many", {f"m{n}.py": b"" for n in range(intake.MAX_FILES + 1)})
    make_folder(batch / "large", {**RIGHT, "big.py": bytes(intake.MAX_FILE_BYTES + 1)})
    make_zip(batch / "out.zip", {"../layer_norm.py": b"x = 1"})
    make_folder(batch / "hangs", {"layer_norm.py": b"while True:\n    pass\n"})
    make_folder(batch / "na\u00efve \x1b[2J", RIGHT)
    make_folder(batch / "odd", {"layer_norm.py": RIGHT["layer_norm.py"] + b"\nimport ctypes\n"})
    os.mkfifo(batch / "pipe.zip")
    here = grade("--jobs", "2", out="here", code=COMMAND)
    assert here.wait() == 0, here.said()
    run = grade("--cluster", "local:2", code=COMMAND)
    until(lambda: judges(run.process.pid) or not run.running or None, PATIENCE_S, "a judge")
    inside = descendants(run.process.pid)
    for host in [run.process.pid, *hosts(run.process.pid)]:
        maps = Path(f"/proc/{host}/maps").read_text()
        assert "libtorch" not in maps, "the command or a Dask worker has imported torch"
    projects = [path.parents[1] for path in (tmp_path / "temporary").rglob("reference/norm")]
    assert projects
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o700 for path in projects)
    assert run.wait() == 0, run.said()
    gone(inside)
    assert "Traceback" not in run.said()
    assert told(tmp_path / "out") == told(tmp_path / "here")
    statuses = {result.status for result in results(tmp_path / "out").values()}
    assert statuses == {"graded", "rejected"}
    table = (tmp_path / "here" / "results.csv").read_bytes()
    assert (tmp_path / "out" / "results.csv").read_bytes() == table
    left = {path.name for path in (tmp_path / "temporary").iterdir()}
    # An empty folder of Dask's, with nothing of the assignment or the class, and one of torch's,
    # which one machine leaves, too.
    assert all(name.startswith(("dask-scratch-space", "torchinductor_")) for name in left), left
    assert not any((tmp_path / "temporary" / "dask-scratch-space").rglob("*.py"))
    # What has not changed is not graded again, but for what was accepted.
    assert results(tmp_path / "out")["odd"].score == 0
    accept(tmp_path / "out", "odd")
    before = stamps(tmp_path / "out")
    again = grade("--cluster", "local:1", code=COMMAND)
    assert again.wait() == 0, again.said()
    unchanged = sum("(unchanged)" in line for line in again.said().splitlines())
    found = results(tmp_path / "out")
    assert found.pop("odd").score == FULL
    graded = [result for result in found.values() if result.status == "graded"]
    assert unchanged == len(graded)
    after = stamps(tmp_path / "out")
    assert all(after[f"{r.submission}.json"] == before[f"{r.submission}.json"] for r in graded)


@pytest.mark.release
def test_a_killed_dask_worker_costs_nobody_anything(
    grade: Callable[..., Run], gate: Path, tmp_path: Path
) -> None:
    run = grade("--cluster", "local:2")
    run.has_done(len(EARLY))
    victim = hosts(run.process.pid)[0]
    left = judges(victim)
    assert left
    os.kill(victim, signal.SIGKILL)
    # With it end the judges that it started.
    gone(left)
    gate.touch()
    assert run.wait() == 0, run.said()
    assert "Traceback" not in run.said()
    check_marks(tmp_path / "out")
    # What was done is not done again, and what was begun there is begun once more.
    tries = (tmp_path / "tries").read_text().split()
    assert {tries.count(name) for name in EARLY} == {1}
    assert sorted(tries.count(name) for name in ("z1", "z2")) == [1, 2]


@pytest.mark.release
def test_a_submission_that_kills_its_dask_worker_is_not_run_a_third_time(
    grade: Callable[..., Run], gate: Path, batch: Path, tmp_path: Path
) -> None:
    """Nor does it cost those anything that wait for it."""
    killers = {f"{KILLER}{n}" for n in range(3)}
    for name in killers:
        make_folder(batch / name, RIGHT)
    gate.touch()
    run = grade("--cluster", "local:1")
    assert run.wait() == 1, run.said()
    assert "Traceback" not in run.said()
    tries = (tmp_path / "tries").read_text().split()
    found = results(tmp_path / "out")
    assert set(found) == {*HONEST, *killers}
    # One that stood behind another at the very beginning is blamed for that one's first end.
    assert sum(tries.count(name) for name in killers) > len(killers)
    for name in killers:
        assert tries.count(name) in (1, 2)
        assert (found[name].status, found[name].score) == ("error", None)
        assert "was lost 2 times" in found[name].message
        (tmp_path / "out" / "results" / f"{name}.json").unlink()
    check_marks(tmp_path / "out")


@pytest.mark.release
def test_a_killed_command_goes_on_where_it_stopped(
    grade: Callable[..., Run], gate: Path, dask: Cluster, tmp_path: Path
) -> None:
    """On a cluster that lasts: what the first run left there ends, and is in nobody's way."""
    workers = [dask.worker(), dask.worker()]
    run = grade("--cluster", dask.address)
    run.has_done(len(EARLY))
    left = [pid for worker in workers for pid in judges(worker.pid)]
    assert left
    run.process.kill()
    run.process.wait()
    kept = stamps(tmp_path / "out")
    assert set(kept) == {f"{name}.json" for name in EARLY}
    check_marks(tmp_path / "out", set(EARLY))
    gone(left)
    gate.touch()
    assert [worker.poll() for worker in workers] == [None, None]
    again = grade("--cluster", dask.address)
    assert again.wait() == 0, again.said()
    after = stamps(tmp_path / "out")
    assert {name: after[name] for name in kept} == kept
    check_marks(tmp_path / "out")


@pytest.mark.release
def test_a_run_that_ends_leaves_no_judge_on_a_cluster_that_lasts(
    grade: Callable[..., Run], gate: Path, dask: Cluster, tmp_path: Path
) -> None:
    gate.touch()
    worker = dask.worker()
    run = grade("--cluster", dask.address)
    assert run.wait() == 0, run.said()
    check_marks(tmp_path / "out")
    assert worker.poll() is None
    gone(judges(worker.pid))


@pytest.mark.release
def test_an_interrupt_keeps_what_is_done(
    grade: Callable[..., Run], gate: Path, tmp_path: Path
) -> None:
    run = grade("--cluster", "local:2")
    run.has_done(len(EARLY))
    left = descendants(run.process.pid)
    # A terminal tells all processes; student code finds the signal as it does on one machine.
    assert not any(hears_interrupt(one) for one in hosts(run.process.pid))
    assert all(hears_interrupt(one) for one in judges(run.process.pid))
    os.killpg(run.process.pid, signal.SIGINT)
    assert run.wait() == 130, run.said()
    assert "stopped: what is done is kept" in run.said()
    assert "Traceback" not in run.said(), run.said()
    gone(left)
    kept = stamps(tmp_path / "out")
    check_marks(tmp_path / "out", set(EARLY))
    gate.touch()
    again = grade("--cluster", "local:1")
    assert again.wait() == 0, again.said()
    after = stamps(tmp_path / "out")
    assert {name: after[name] for name in kept} == kept
    check_marks(tmp_path / "out")


@pytest.mark.release
def test_a_dask_worker_with_another_version_is_refused_before_anything_is_graded(
    grade: Callable[..., Run], dask: Cluster, tmp_path: Path
) -> None:
    dask.worker()
    dask.worker(PYTHONPATH=pretended(tmp_path / "other", {"hypothesis": "0.0.1"}))
    code = WAITING.replace("n_workers=(1)", "n_workers=2") + COMMAND
    run = grade("--cluster", dask.address, code=code, first=dask.address)
    assert run.wait() == 2, run.said()
    assert "has hypothesis 0.0.1, and this machine has" in run.said()
    assert "the Dask worker tcp://" in run.said()
    assert "pip install hypothesis==" in run.said()
    assert "Traceback" not in run.said()
    assert results(tmp_path / "out") == {}


@pytest.mark.release
def test_a_dask_worker_with_another_version_that_joins_later_is_refused(
    grade: Callable[..., Run], gate: Path, dask: Cluster, tmp_path: Path
) -> None:
    first = dask.worker()
    run = grade("--cluster", dask.address)
    run.has_done(len(EARLY))
    first.kill()
    dask.worker(PYTHONPATH=pretended(tmp_path / "other", {"gradeformer": "9.9"}))
    gate.touch()
    assert run.wait() == 2, run.said()
    assert "has gradeformer 9.9, and this machine has" in run.said()
    kept = stamps(tmp_path / "out")
    assert len(kept) == len(EARLY)
    check_marks(tmp_path / "out", set(EARLY))


@pytest.mark.release
def test_other_code_of_the_same_version_is_refused(
    grade: Callable[..., Run], dask: Cluster, tmp_path: Path
) -> None:
    dask.worker()
    code = "from autograder.assignment import Assignment as A; whole = A.suite_hash; "
    code += "A.suite_hash = lambda self: 'x' + whole(self); from autograder.cli import main; main()"
    run = grade("--cluster", dask.address, code=code)
    assert run.wait() == 2, run.said()
    assert "has another gradeformer" in run.said()
    assert "install the same build" in run.said()
    assert results(tmp_path / "out") == {}


@pytest.mark.release
def test_no_dask_worker_is_one_sentence(
    grade: Callable[..., Run], dask: Cluster, tmp_path: Path
) -> None:
    run = grade("--cluster", dask.address, code=HASTY)
    assert run.wait() == 2, run.said()
    assert f"there is no Dask worker of {dask.address}" in run.said()
    assert "Traceback" not in run.said()
    assert results(tmp_path / "out") == {}


@pytest.mark.release
@pytest.mark.parametrize("lost", ["worker", "scheduler"])
def test_a_cluster_that_goes_away_is_one_sentence(
    lost: str, grade: Callable[..., Run], dask: Cluster, tmp_path: Path
) -> None:
    worker = dask.worker()
    hasty = lost == "worker"
    code = WAITING + PATCH + HASTY if hasty else PATCH + COMMAND
    run = grade("--cluster", dask.address, code=code, first=hasty * dask.address)
    run.has_done(len(EARLY))
    (worker if hasty else dask.processes[0]).kill()
    assert run.wait() == 2, run.said()
    assert "Traceback" not in run.said()
    assert ("there is no Dask worker" if hasty else "does no more work") in run.said()
    assert "is done is kept" in " ".join(run.said().split())
    kept = stamps(tmp_path / "out")
    assert len(kept) == len(EARLY)
    check_marks(tmp_path / "out", set(EARLY))


@pytest.mark.release
def test_no_scheduler_is_one_sentence(grade: Callable[..., Run]) -> None:
    run = grade("--cluster", "tcp://127.0.0.1:9")
    assert run.wait() == 2, run.said()
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in run.said()
    assert "Traceback" not in run.said()


SBATCH = """\
#!{python}
import shutil, subprocess, sys, tempfile
copy = tempfile.mktemp(dir="{folder}", prefix="job-")
shutil.copy(sys.argv[1], copy)
with open(copy + ".log", "wb") as log:
    job = subprocess.Popen(["sh", copy], stdout=log, stderr=log, process_group=0)
print("Submitted batch job", job.pid)
"""


@pytest.mark.release
def test_slurm_is_asked_for_jobs_and_these_grade(
    grade: Callable[..., Run], gate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With programs of Slurm's names that begin a job at once, on this machine."""
    gate.touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "jobs").mkdir()
    shared = tmp_path / "shared"
    shared.mkdir()
    for name, text in (
        ("sbatch", SBATCH.format(python=sys.executable, folder=tmp_path / "jobs")),
        ("scancel", '#!/bin/sh\nexec kill -9 -- "-$1"\n'),
    ):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    (tmp_path / "slurm.toml").write_text(
        f'[slurm]\njobs = 1\ncores = 2\nmemory = "2 GB"\nqueue = "short"\naccount = "cs1"\n'
        f'walltime = "01:00:00"\nshared_directory = "{shared}"\n'
    )
    run = grade("--cluster", str(tmp_path / "slurm.toml"))
    assert run.wait() == 0, run.said()
    assert "Traceback" not in run.said()
    check_marks(tmp_path / "out")
    (script,) = [path.read_text() for path in (tmp_path / "jobs").glob("job-????????")]
    for words in (
        "-p short",
        "-A cs1",
        "-t 01:00:00",
        "--cpus-per-task=2",
        "--nthreads 1",
        "tls://",
    ):
        assert words in script
    # The keys of TLS are gone with the run, and were nobody else's to read.
    assert list((shared / ".gradeformer-tls").iterdir()) == []
    assert stat.S_IMODE((shared / ".gradeformer-tls").stat().st_mode) == 0o700
    left = [int(p.name) for p in Path("/proc").glob("[0-9]*") if says(int(p.name), str(shared))]
    gone(left)
