"""Reach a cluster, or make one: Dask's client for each form of `--cluster`."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from autograder.cluster.naming import Address, Local, Slurm, Wanted
from autograder.errors import UsageError

EXTRA = "pip install 'gradeformer[cluster]'"
_CONNECT_S = 20.0
_CLOSE_S = 20.0
# How long a process of local:N may take to start again.
_RESTART = "60s"
# How long there may be no Dask worker at all.
PATIENCE_S = 120.0


@dataclass(frozen=True)
class Reached:
    """A cluster that was reached.

    Attributes:
        client: Dask's.
        where: the cluster in words.
        slots: how many slots are expected; 0 where only the scheduler knows.
        lasting: whether the cluster is there after this run.
        patience_s: how long there may be no Dask worker at all.
        refill: starts Dask workers in the place of those that are lost for good.
    """

    client: Any
    where: str
    slots: int
    lasting: bool
    patience_s: float
    refill: Callable[[], None] = lambda: None


@contextlib.contextmanager
def _imported() -> Any:
    try:
        yield
    except ImportError as error:
        raise UsageError(
            f"--cluster needs Dask, and the package {error.name} is not installed: {EXTRA}"
        ) from error


def reached(wanted: Wanted, stack: contextlib.ExitStack) -> Reached:
    """Reach a cluster; `stack` leaves it, and ends what was made here.

    Raises:
        UsageError: Dask is not installed, no scheduler answers, or the cluster cannot be made.
    """
    with _imported():
        import distributed  # noqa: F401
    _silence(stack)
    stack.enter_context(warnings.catch_warnings())
    warnings.filterwarnings("ignore", module=r"(distributed|dask_jobqueue)\b.*")
    if isinstance(wanted, Local):
        return _local(wanted, stack)
    if isinstance(wanted, Address):
        return _running(wanted, stack)
    return _slurm(wanted, stack)


def _silence(stack: contextlib.ExitStack) -> None:
    """Have Dask log nothing: what goes wrong is said by us, in a sentence."""
    # Some of its loggers have levels of their own (`distributed.client`).
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    for name in names:
        logger = logging.getLogger(name)
        stack.callback(logger.setLevel, logger.level)
        logger.setLevel(logging.CRITICAL)


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Have whatever is started here never hear Ctrl-C, which a terminal tells all its processes.

    The user tells the command, and the command ends them. Threads and processes inherit it.
    """
    # Whoever starts it later has the signal let through again in its own thread.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _client(stack: contextlib.ExitStack, cluster: Any, **more: Any) -> Any:
    from distributed import Client

    client = Client(cluster, timeout=_CONNECT_S, set_as_default=False, **more)
    stack.callback(_quietly, client.close, timeout=_CLOSE_S)
    return client


def _quietly(close: Any, **more: Any) -> None:
    """Close something that may be gone already."""
    with contextlib.suppress(Exception):
        close(**more)


def _local(wanted: Local, stack: contextlib.ExitStack) -> Reached:
    with _imported():
        import dask
        from distributed import LocalCluster
        from distributed.security import Security

        # Others of this machine can reach its ports, and who can reach a worker can run code.
        security = Security.temporary()
    # Dask would end a process in the middle of its new start, where that takes long.
    stack.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": _RESTART}))
    place = stack.enter_context(
        tempfile.TemporaryDirectory(prefix="gradeformer-dask-", ignore_cleanup_errors=True)
    )
    with _deaf():
        cluster = LocalCluster(
            n_workers=wanted.processes,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=place,
            protocol="tls://",
            security=security,
            silence_logs=logging.CRITICAL,
        )
    stack.callback(_quietly, cluster.close, timeout=_CLOSE_S)
    client = _client(stack, cluster)

    def refill() -> None:
        # One that could not start anew, or not in time, is gone for Dask, too.
        cluster.scale(wanted.processes)

    return Reached(client, "this machine", wanted.processes, False, PATIENCE_S, refill)


def _running(wanted: Address, stack: contextlib.ExitStack) -> Reached:
    try:
        client = _client(stack, wanted.url)
    except (OSError, RuntimeError, TimeoutError, TypeError, ValueError) as error:
        said = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise UsageError(
            f"no Dask scheduler answers at {wanted.url} ({said}): start one with `dask scheduler`, "
            "or see that the address is right and that TLS is configured on both sides alike"
        ) from error
    return Reached(client, wanted.url, 0, True, PATIENCE_S)


def _slurm(wanted: Slurm, stack: contextlib.ExitStack) -> Reached:
    with _imported():
        from dask_jobqueue import SLURMCluster
        from distributed.security import Security

        # The network of a cluster is everybody's.
        security = Security.temporary()
    keys = Path(wanted.shared_directory or Path.home()) / ".gradeformer-tls"
    try:
        keys.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = stack.enter_context(
            tempfile.TemporaryDirectory(dir=keys, prefix="tls-", ignore_cleanup_errors=True)
        )
    except OSError as error:
        raise UsageError(
            f"shared_directory {keys} cannot hold the keys of TLS ({error.strerror}): give a "
            "folder that you can write to and that the nodes see"
        ) from error
    taken = wanted.model_dump(
        exclude={"jobs", "wait_minutes", "shared_directory", "processes"}, exclude_none=True
    )
    try:
        cluster = SLURMCluster(
            **taken,
            processes=wanted.processes or wanted.cores,
            security=security,
            shared_temp_directory=os.fspath(folder),
            scheduler_options={"dashboard": False},
        )
        for name in ("ca_file", "cert", "key"):
            # Or dask-jobqueue looks for its files when their folder is gone.
            if (held := getattr(cluster, f"_job_{name}", None)) is not None:
                stack.callback(_quietly, held.close)
        stack.callback(_quietly, cluster.close, timeout=_CLOSE_S)
        cluster.scale(jobs=wanted.jobs)
        client = _client(stack, cluster)
    except (OSError, TimeoutError, RuntimeError, ValueError) as error:
        raise UsageError(f"Slurm cannot be asked for workers: {error}") from error
    slots = wanted.jobs * wanted.cores
    return Reached(client, "Slurm", slots, False, 60.0 * wanted.wait_minutes)
