"""Processes killed from outside, while the real command runs: nothing is lost, a rerun repairs."""

import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.grading.processes import (
    alive,
    check_marks,
    check_tidy,
    descendants,
    fork_servers,
    kill_some,
    read_all,
    stamps,
    until,
    workers,
)

pytestmark = pytest.mark.slow


def test_a_killed_sandbox_costs_nobody_anything(command) -> None:
    """The submission that was under way is graded once more, by a new worker."""
    run = command("--jobs", "1")
    assert kill_some(run, fork_servers, seed=7, times=1) == 1
    assert run.wait() == 0, run.said()
    check_marks(run.out)
    check_tidy(run.out)


def test_a_killed_batch_goes_on_where_it_stopped(command) -> None:
    run = command("--jobs", "1")
    until(lambda: run.done() >= 3 or not run.running, "results")
    left = descendants(run.process.pid)
    run.process.kill()
    run.process.wait()
    # The command alone was killed: what it started must end of itself.
    until(lambda: not any(map(alive, left)), "the end of the workers")
    kept = stamps(run.out)
    assert len(kept) >= 3
    check_marks(run.out, {name.removesuffix(".json") for name in kept})
    # As if the kill had come in the middle of a write.
    for folder in (run.out, run.out / "results"):
        (folder / f".{run.process.pid}.{'01' * 16}.tmp").write_text('{"schema": 1, "sub')
    again = command("--jobs", "1")
    assert again.wait() == 0, again.said()
    after = stamps(again.out)
    assert {name: after[name] for name in kept} == kept
    check_marks(again.out)
    check_tidy(again.out)


def test_a_worker_killed_before_it_is_ready_is_one_sentence(command) -> None:
    run = command("--jobs", "1")
    until(lambda: bool(workers(run)) or not run.running, "a worker")
    os.kill(workers(run)[0], signal.SIGKILL)
    assert run.wait() == 2
    assert "autograder: the grader cannot start: a worker ended with status -9" in run.said()
    assert "Traceback" not in run.said()
    assert read_all(run.out) == {}


@pytest.mark.skipif(sys.platform != "linux", reason="STUDENT CODE CANNOT BE RUN HERE: not Linux")
def test_what_a_killed_run_leaves_among_temporary_files_the_next_removes(
    command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir(0o711)
    monkeypatch.setenv("TMPDIR", str(temporary))
    run = command("--jobs", "1", "--sandbox", "none")
    until(lambda: run.done() >= 1 or not run.running, "results")
    # All at once, so that nobody can clear away anything.
    for pid in (run.process.pid, *descendants(run.process.pid)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    run.process.wait()
    assert list(temporary.glob("gradeformer-*"))
    again = command("--jobs", "1", "--sandbox", "none")
    assert again.wait() == 0, again.said()
    assert not list(temporary.glob("gradeformer-*"))
