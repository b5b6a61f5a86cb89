"""Which versions must be the same on every machine that grades a class, and what to say if not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.sandbox.packages import OURS, version_of, versions

PYTHON = "python"


def recorded(packages: Sequence[str]) -> dict[str, str]:
    """Return the versions here that a mark may depend on, and this package's own."""
    return {**versions(tuple(packages)), OURS: version_of(OURS)}


def difference(worker: str, there: Mapping[str, str | None], here: Mapping[str, str]) -> str | None:
    """Say in a sentence what a Dask worker has otherwise than this machine; None for nothing.

    Args:
        worker: its address.
        there: its versions; None for what is not installed there.
        here: this machine's.
    """
    for name, version in here.items():
        found = there.get(name)
        if found == version or (found is None and version == "unknown"):
            continue
        what = f"has no {name}" if found is None else f"has {name} {found}"
        repair = (
            f"start the worker with Python {version}"
            if name == PYTHON
            else f"pip install {name}=={version} there"
        )
        return (
            f"the Dask worker {worker} {what}, and this machine has {version}: a mark may depend "
            f"on it, so {repair}, or grade from a machine that has the same"
        )
    return None


def other_code(worker: str, version: str) -> str:
    """Say that a Dask worker runs other code of the same version."""
    return (
        f"the Dask worker {worker} has another {OURS} {version} than this machine (what decides "
        f"marks has another hash): install the same build of {OURS} there"
    )


def other_scheduler(there: str | None, here: str) -> str:
    """Say that the scheduler, which reads tasks before it hands them on, has another version."""
    has = f"has {OURS} {there}" if there else f"has no {OURS}"
    return (
        f"the Dask scheduler {has}, and this machine has {here}: pip install {OURS}=={here} there"
    )
