"""Which cluster `--cluster` names, and how to reach it or make it. Dask is imported when called."""

from __future__ import annotations

import contextlib
import logging
import re
import signal
import tomllib
import warnings
from multiprocessing import resource_tracker
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

from pydantic import Field, ValidationError

from autograder.errors import UsageError
from autograder.settings import Strict, first_fault

_FORMS = (
    "give local:N with N from 1 to 512, tcp://HOST:PORT or tls://HOST:PORT as the Dask "
    "scheduler prints it when it starts, or a .toml file for Slurm"
)
# An IPv6 address stands in brackets.
_ADDRESS = r"((?:tcp|tls)://(?:\[[0-9A-Fa-f:.]+\]|[^][\s/?#@:]+):([0-9]{1,5}))/?"
# How long there may be no Dask worker at all.
PATIENCE_S = 120.0
# For the schedulers that are made here; docs/scale.md has the same for others.
_SETTINGS = {
    # A submission that has lost more Dask workers than that is not graded again.
    "distributed.scheduler.allowed-failures": 1,
    # Submissions wait in the scheduler: what waits at a worker that is lost is blamed, too.
    "distributed.scheduler.worker-saturation": 1.0,
    # Else each connection remembers its last 1,000 messages, submissions and all.
    "distributed.admin.low-level-log-length": 10,
    # How long a process of local:N may take to start again.
    "distributed.deploy.lost-worker-timeout": "60s",
}


class Local(NamedTuple):
    """So many Dask workers on this machine, with one thread each."""

    processes: int


class Address(NamedTuple):
    """A scheduler that runs already."""

    url: str


class Slurm(Strict):
    """The table `[slurm]` of a file; what is not described here is as dask-jobqueue has it.

    Attributes:
        jobs: how many jobs are asked for; each may come when it likes.
        cores, memory: of one job, which grades as many submissions at a time as it has cores.
        processes: Dask workers that share a job's cores; by default one per core, so that a lost
            one costs a single submission a second try.
        shared_directory: a folder that this machine and the nodes see, for the keys of TLS; by
            default one in the home folder.
        wait_minutes: how long to wait for the first job to begin.
    """

    jobs: Annotated[int, Field(ge=1, le=10_000)]
    cores: Annotated[int, Field(ge=1, le=1024)]
    memory: Annotated[str, Field(min_length=1)]
    processes: Annotated[int | None, Field(ge=1, le=1024)] = None
    queue: str | None = None
    account: str | None = None
    walltime: str | None = None
    interface: str | None = None
    local_directory: str | None = None
    log_directory: str | None = None
    python: str | None = None
    death_timeout: Annotated[int | None, Field(ge=1)] = None
    job_extra_directives: tuple[str, ...] = ()
    job_script_prologue: tuple[str, ...] = ()
    shared_directory: str | None = None
    wait_minutes: Annotated[float, Field(gt=0)] = 60.0


class _File(Strict):
    slurm: Slurm


Wanted = Local | Address | Slurm


def wanted(text: str) -> Wanted:
    """Return which cluster `--cluster` names.

    Raises:
        UsageError: it names none, or its file is malformed.
    """
    if text.endswith(".toml"):
        return _from_file(Path(text))
    local = re.fullmatch(r"local:([0-9]{1,3})", text)
    if local is not None and 1 <= int(local[1]) <= 512:
        return Local(int(local[1]))
    address = re.fullmatch(_ADDRESS, text)
    if address is not None and 1 <= int(address[2]) <= 65535:
        return Address(address[1])
    raise UsageError(f"--cluster {text!r} names no cluster: {_FORMS}")


def _from_file(path: Path) -> Slurm:
    try:
        return _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).slurm
    except ValidationError as error:
        keys = ", ".join(Slurm.model_fields)
        said = f"{path}: {first_fault(error)}; a file for Slurm has one table, [slurm], with {keys}"
        raise UsageError(said) from error
    except (OSError, ValueError) as error:
        raise UsageError(f"--cluster {path} cannot be read as TOML ({error}): {_FORMS}") from error


class Reached(NamedTuple):
    """A cluster that was reached."""

    client: Any  # Dask's
    where: str  # the cluster in words
    slots: int  # how many submissions are graded side by side; 0 if only the scheduler knows
    patience_s: float  # how long there may be no Dask worker at all


def reached(wanted: Wanted, stack: contextlib.ExitStack) -> Reached:
    """Reach a cluster; `stack` leaves it, and ends what was made here.

    Raises:
        UsageError: Dask is not installed, no scheduler answers, or the cluster cannot be made.
    """
    where, slots, patience_s = "this machine", 0, PATIENCE_S
    try:
        import dask
        from distributed import Client

        # What goes wrong is said by us, in a sentence. Some of Dask's loggers write for themselves.
        for name in filter(re.compile("distributed").match, list(logging.root.manager.loggerDict)):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        stack.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", module=r"(distributed|dask_jobqueue)\b.*")
        stack.enter_context(dask.config.set(_SETTINGS))
        if isinstance(wanted, Address):
            cluster, where = wanted.url, wanted.url
        elif isinstance(wanted, Local):
            cluster, slots = _local(wanted.processes, stack), wanted.processes
        else:
            cluster, slots = _slurm(wanted, stack), wanted.jobs * wanted.cores
            where, patience_s = "Slurm", 60.0 * wanted.wait_minutes
        client = stack.enter_context(Client(cluster, timeout=20.0, set_as_default=False))
    except ImportError as error:
        raise UsageError(
            f"--cluster needs Dask, and the package {error.name} is not installed: "
            "pip install 'gradeformer[cluster]'"
        ) from error
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        said = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise UsageError(
            f"no Dask scheduler answers at {where} ({said}): start one with `dask scheduler`, or "
            "see that the address is right and that TLS is configured on both sides"
        ) from error
    return Reached(client, where, slots, patience_s)


def _local(count: int, stack: contextlib.ExitStack) -> Any:
    from distributed import LocalCluster
    from distributed.security import Security

    # Others of this machine can reach its ports, and who can reach a worker can run code.
    words = {"protocol": "tls://", "security": Security.temporary(), "dashboard_address": None}
    # A terminal tells all processes of Ctrl-C. The command alone hears it, and ends the others,
    # which inherit the mask; a judge hears it again, as on one machine. Started later, the tracker
    # would let the signal through here.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        cluster = LocalCluster(n_workers=count, threads_per_worker=1, silence_logs=50, **words)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    # A process that could not start again, or not in time, is replaced.
    cluster.adapt(minimum=count, maximum=count)
    return stack.enter_context(cluster)


def _slurm(wanted: Slurm, stack: contextlib.ExitStack) -> Any:
    from dask_jobqueue import SLURMCluster
    from distributed.security import Security

    keys = Path(wanted.shared_directory or Path.home()) / ".gradeformer-tls"
    ours = {"jobs", "wait_minutes", "shared_directory", "processes"}
    try:
        keys.mkdir(mode=0o700, parents=True, exist_ok=True)
        cluster = SLURMCluster(
            **wanted.model_dump(exclude=ours, exclude_none=True),
            processes=wanted.processes or wanted.cores,
            # The network of a cluster is everybody's.
            security=Security.temporary(),
            shared_temp_directory=stack.enter_context(TemporaryDirectory(dir=keys, prefix="tls-")),
            scheduler_options={"dashboard": False},
        )
        for name in ("ca_file", "cert", "key"):
            # Or dask-jobqueue looks for its files when their folder is gone.
            if (held := getattr(cluster, f"_job_{name}", None)) is not None:
                stack.callback(held.close)
        stack.enter_context(cluster).scale(jobs=wanted.jobs)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise UsageError(
            f"Slurm cannot be asked for workers ({error}): see that `sbatch` works here, and that "
            f"{keys}, for the keys of TLS, can be written to (shared_directory)"
        ) from error
    return cluster
