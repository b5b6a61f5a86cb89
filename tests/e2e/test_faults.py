"""Every kind of process killed more than once, and a disk that is full for real."""

import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.grading.processes import (
    FULL,
    STUDENTS,
    alive,
    check_marks,
    check_tidy,
    children,
    descendants,
    fork_servers,
    is_wrong,
    judges,
    kill_some,
    read_all,
    stamps,
    until,
    workers,
)


@pytest.mark.release
@pytest.mark.parametrize("victims", [fork_servers, workers, judges])
def test_a_kill_costs_nobody_anything(command, victims, tmp_path) -> None:
    """The submission that was under way is graded once more, by a new worker."""
    # Side by side for the workers, where the other goes on; the rest is quicker with one.
    run = command("--jobs", "2" if victims is workers else "1")
    assert kill_some(run, victims, seed=len(victims.__name__)) == 2
    status = run.wait()
    if status != 0:
        # A new worker that is killed during its start refuses, and the rerun goes on from there.
        assert (status, victims) == (2, workers), run.said()
        assert "Traceback" not in run.said()
        done = [s for s, result in read_all(run.out).items() if result.status == "graded"]
        before = stamps(run.out)
        rerun = command("--jobs", "1")
        assert rerun.wait() == 0, rerun.said()
        after = stamps(run.out)
        assert all(after[f"{student}.json"] == before[f"{student}.json"] for student in done)
    check_marks(run.out)
    check_tidy(run.out)


@pytest.mark.release
def test_a_killed_child_is_a_crash_of_its_submission_and_no_other(command) -> None:
    """From outside, student code that died and student code that was killed look the same."""
    run = command("--jobs", "1")
    killed = kill_some(run, children, seed=5)
    assert killed == 2
    assert run.wait() == 0, run.said()
    found = read_all(run.out)
    assert set(found) == set(STUDENTS)
    hit = set()
    for student, result in found.items():
        assert result.status == "graded"
        part = result.components["layer_norm"]
        crashed = [c for c in part.criteria if c.outcome == "crashed"]
        if crashed:
            hit.add(student)
            # Of a hidden criterion the message says no more than that it is lost.
            assert all("SIGKILL" in c.message for c in crashed if c.visibility == "public")
            # Every death costs one criterion; the rest are asked of a new child.
            assert part.status in ("graded", "crashed")
        elif not is_wrong(student):
            assert result.score == FULL
    assert len(hit) <= killed
    # To have it graded once more is to remove its result; the others' are kept.
    for student in hit:
        (run.out / "results" / f"{student}.json").unlink()
    before = stamps(run.out)
    again = command("--jobs", "1")
    assert again.wait() == 0, again.said()
    assert {name: stamps(run.out)[name] for name in before} == before
    check_marks(run.out)
    check_tidy(run.out)


@pytest.mark.release
def test_a_batch_that_is_killed_twice_goes_on_where_it_stopped(command) -> None:
    chance = random.Random(11)
    kept: dict[str, int] = {}
    for enough in (1, 6):
        run = command("--jobs", "2")
        until(lambda run=run, n=enough: run.done() >= n or not run.running, "results")
        for _ in range(chance.randrange(12)):
            time.sleep(0.003)
        left = descendants(run.process.pid)
        run.process.kill()
        run.process.wait()
        # The command alone was killed: what it started must end of itself.
        until(lambda left=left: not any(map(alive, left)), "the end of the workers")
        now = stamps(run.out)
        assert {name: now.get(name) for name in kept} == kept
        assert len(now) >= enough
        check_marks(run.out, {name.removesuffix(".json") for name in now})
        kept = now
    # As if the last kill had come in the middle of a write.
    for folder in (run.out, run.out / "results"):
        (folder / f".{run.process.pid}.{'01' * 16}.tmp").write_text('{"schema": 1, "sub')
    run = command("--jobs", "2")
    assert run.wait() == 0, run.said()
    after = stamps(run.out)
    assert {name: after[name] for name in kept} == kept
    check_marks(run.out)
    check_tidy(run.out)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own that holds a few results and no more."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=48k", "none", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"A FULL DISK CANNOT BE TESTED HERE: {error}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_and_damaged_results(command, small_disk) -> None:
    out = small_disk / "out"
    run = command("--jobs", "1", out=out)
    assert run.wait() == 2, run.said()
    assert "cannot be written (No space left on device): make room for it and run" in run.said()
    assert "Traceback" not in run.said()
    done = read_all(out)
    assert 0 < len(done) < len(STUDENTS)
    assert all(path.suffix == ".json" for path in (out / "results").iterdir())
    check_marks(out, set(done))
    kept = stamps(out)
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    student = min(done)
    (out / "results" / f"{student}.json").write_bytes(done[student].model_dump_json().encode()[:99])
    del kept[f"{student}.json"]
    run = command("--jobs", "1", out=out)
    assert run.wait() == 0, run.said()
    assert {name: stamps(out)[name] for name in kept} == kept
    check_marks(out)
    check_tidy(out)
