"""Which cluster is meant: processes on this machine, a scheduler that runs, or a file for Slurm."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, ValidationError

from autograder.errors import UsageError
from autograder.settings import Strict, first_fault

_FORMS = "give local:N, tcp://HOST:PORT, tls://HOST:PORT, or a .toml file for Slurm"
_MOST_LOCAL = 512


@dataclass(frozen=True)
class Local:
    """So many Dask workers on this machine, with one thread each."""

    processes: int


@dataclass(frozen=True)
class Address:
    """A scheduler that runs already."""

    url: str


class Slurm(Strict):
    """The table `[slurm]` of a file: what dask-jobqueue asks Slurm for.

    Attributes:
        jobs: how many jobs are asked for; each may come when it likes.
        cores: of one job; there are so many slots in it.
        processes: how many Dask workers share a job's cores; by default one a core, so that one
            that is lost costs a single submission a second try.
        memory: of one job, as Dask writes it: "16 GB".
        queue, account, walltime, job_extra_directives, job_script_prologue, interface,
            local_directory, log_directory, python, death_timeout: as dask-jobqueue has them.
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
    if "://" in text:
        return _address(text)
    if text.endswith(".toml"):
        return _from_file(Path(text))
    if text.partition(":")[0] == "local":
        return _local(text)
    raise UsageError(f"--cluster {text!r} names no cluster: {_FORMS}")


def _local(text: str) -> Local:
    found = re.fullmatch(r"local:([0-9]{1,6})", text, flags=re.ASCII)
    if found is None or not 1 <= int(found[1]) <= _MOST_LOCAL:
        raise UsageError(
            f"--cluster {text!r}: N of local:N is a number from 1 to {_MOST_LOCAL}, of processes "
            "on this machine"
        )
    return Local(int(found[1]))


def _address(text: str) -> Address:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    whole = parts.hostname and port and not parts.path.strip("/") and not parts.query
    if parts.scheme not in ("tcp", "tls") or not whole or "@" in text:
        raise UsageError(
            f"--cluster {text!r} is no address of a Dask scheduler: give tcp://HOST:PORT or "
            "tls://HOST:PORT, as the scheduler prints it when it starts"
        )
    return Address(f"{parts.scheme}://{parts.netloc}")


def _from_file(path: Path) -> Slurm:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--cluster {path} cannot be read ({error.strerror}): {_FORMS}") from error
    except ValueError as error:
        raise UsageError(f"--cluster {path} is not valid TOML: {error}") from error
    try:
        return _File.model_validate(data).slurm
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "extra_forbidden":
            place = ".".join(map(str, first["loc"]))
            table = Slurm if first["loc"][0] == "slurm" else _File
            known = ", ".join(table.model_fields)
            raise UsageError(f"{path}: {place} is no key here; there is: {known}") from error
        raise UsageError(f"{path}: {first_fault(error)}") from error
