"""Dask clusters for tests: a scheduler and workers as programs, and the command that uses them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.e2e.waiting import until
from tests.grading.processes import alive, descendants, offspring, says

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 1200.0
# As the console script does it.
COMMAND = "from autograder.cli import main; main()"
# Told that there is no Dask worker after a second, and not after minutes.
HASTY = (
    "from autograder.platforms.cluster import schedulers; schedulers.PATIENCE_S = 1.0; " + COMMAND
)
# Also where tests run in the background, in which shells let SIGINT be ignored.
_HEARING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
# First of all, until there is a Dask worker of the scheduler that the first argument names.
WAITING = "import sys; from distributed import Client; c = Client(sys.argv.pop(1)); "
WAITING += "c.wait_for_workers(n_workers=(1)); c.close(); "


class Run:
    """`autograder grade --cluster`, running in a group of processes of its own."""

    def __init__(self, words: list[str | Path], said: Path, code: str = COMMAND) -> None:
        self._said = said
        with said.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _HEARING + code, *map(str, words)],
                cwd=ROOT,
                stdout=file,
                stderr=subprocess.STDOUT,
                # Of its own, to be interrupted as a whole, as a terminal does.
                process_group=0,
            )

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def said(self) -> str:
        return self._said.read_text()

    def done(self) -> int:
        """How many submissions it has reported."""
        return sum("/" in line.split(" ")[0] for line in self.said().splitlines())

    def has_done(self, count: int) -> None:
        """Wait until it has reported so many."""
        until(
            lambda: (self.done() >= count or not self.running) or None, PATIENCE_S, "some results"
        )
        assert self.running, self.said()

    def wait(self) -> int:
        return self.process.wait(timeout=PATIENCE_S)


def gone(pids: list[int]) -> None:
    """Wait until none of these processes is there any more."""
    until(lambda: True if not any(map(alive, pids)) else None, PATIENCE_S, "the end of processes")


def judges(pid: int) -> list[int]:
    """The judges that a process has started, or that its processes have."""
    return [one for one in descendants(pid) if says(one, "autograder.judge.worker")]


def hosts(pid: int) -> list[int]:
    """The processes of Dask workers: what judges were started by."""
    found = [one for one in [pid, *descendants(pid)] if not says(one, "autograder.judge.worker")]
    return [one for one in found if set(offspring(one)) & set(judges(one))]


def hears_interrupt(pid: int) -> bool:
    """Whether SIGINT reaches any thread of a process."""
    masks = Path(f"/proc/{pid}/task").glob("*/status")
    return any(not _blocked(one.read_text()) >> (signal.SIGINT - 1) & 1 for one in masks)


def _blocked(status: str) -> int:
    return next(int(line.split()[1], 16) for line in status.splitlines() if "SigBlk" in line)


# What docs/scale.md has a scheduler of one's own started with.
SETTINGS = {
    "DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "10",
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION": "1.0",
}


class Cluster:
    """A scheduler on this machine, and whatever workers a test starts for it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        words = ["--port", "0", "--host", "127.0.0.1", "--no-dashboard"]
        self._start("dask_scheduler", *words, **SETTINGS)
        self.address: str = until(lambda: _address(file), PATIENCE_S, "a scheduler")

    def worker(self, nanny: bool = False, **more: str) -> subprocess.Popen[bytes]:
        """Start a Dask worker with one thread; `more` goes into its environment."""
        words = ["--nthreads", "1", "--no-dashboard", *([] if nanny else ["--no-nanny"])]
        return self._start("dask_worker", *words, **more)

    def _start(self, program: str, *words: str, **more: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{program}", *words]
        command += ["--scheduler-file", str(self._folder / "scheduler.json")]
        if program == "dask_worker":
            command += ["--local-directory", str(self._folder)]
        log = (self._folder / f"log-{len(self.processes)}.txt").open("wb")
        # Not run where the checkout lies: what is installed from there would be found first.
        path = os.pathsep.join(filter(None, (more.get("PYTHONPATH"), os.fspath(ROOT))))
        env = {**os.environ, **more, "PYTHONPATH": path}
        with log:
            started = subprocess.Popen(command, cwd=self._folder, stdout=log, stderr=log, env=env)
        self.processes.append(started)
        return started

    def close(self) -> None:
        left = [pid for one in self.processes for pid in descendants(one.pid)]
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        gone(left)


def _address(file: Path) -> str | None:
    with contextlib.suppress(OSError, ValueError, KeyError):
        return str(json.loads(file.read_text())["address"])
    return None


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A scheduler that is gone afterwards, with all its workers and all that these started."""
    folder.mkdir()
    found = Cluster(folder)
    try:
        yield found
    finally:
        found.close()


def pretended(folder: Path, versions: Mapping[str, str]) -> str:
    """Make a folder that pretends that packages have other versions; return a PYTHONPATH."""
    for name, version in versions.items():
        about = folder / f"{name}-{version}.dist-info"
        about.mkdir(parents=True)
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        (about / "METADATA").write_text(text)
    return str(folder)
