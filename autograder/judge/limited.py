"""Intake within limits of time and memory: what reads an archive is a program of its own."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from autograder.environment import for_marks
from autograder.judge.intake import MAX_BYTES, Rejected
from autograder.judge.slips import Taken, taken

CPU_S = 20
# Processors may be busy with others; what takes this long is no fault of a submission.
WALL_S = 300
MEMORY = 512 << 20
_KILLED_S = 1
_PACKAGE = Path(__file__).resolve().parents[1]
# Nothing of the folder that it is started in, nor of the environment, is imported.
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from autograder.judge.limited import main; main(*sys.argv[1:])"
)


def take_in_limited(path: Path, components: Collection[str] = ()) -> Taken:
    """Take a submission in as `slips.taken` does; reading an archive ends in any case.

    Raises:
        Rejected: as for `take_in`, or reading it takes too much time or memory.
        OSError: it cannot be read on this machine.
    """
    if path.is_dir() or path.is_symlink():
        return taken(path, components)
    words = [sys.executable, "-I", "-c", _PROGRAM, str(_PACKAGE.parent), str(path)]
    limits = [str(CPU_S), str(MEMORY), *components]
    try:
        done = subprocess.run(
            [*words, *limits], env=for_marks(), capture_output=True, timeout=WALL_S
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(errno.ETIMEDOUT, f"it cannot be read within {WALL_S} s") from None
    line, _, data = done.stdout.partition(b"\n")
    if done.returncode == 0:
        return _unpacked(json.loads(line), data)
    if done.returncode == -signal.SIGXCPU:
        raise Rejected(
            f"{path.name} takes more than {CPU_S} s to read; pack the component files alone"
        )
    said = done.stderr.decode(errors="replace").strip().splitlines()
    raise OSError(errno.EIO, f"it cannot be read: {said[-1] if said else done.returncode}")


def main(name: str, cpu_s: str, memory: str, *components: str) -> None:
    """Read an archive within limits and write to standard output what is taken in."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s), int(cpu_s) + _KILLED_S))
        resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    path = Path(name)
    files: dict[str, bytes] = {}
    about: dict[str, object]
    try:
        files, remarks = taken(path, components)
        listed = [[name, len(data)] for name, data in files.items()]
        about = {"files": listed, "remarks": remarks}
    except Rejected as rejected:
        about = {"rejected": str(rejected)}
    except MemoryError:
        about = {"rejected": f"{path.name} takes too much memory to read; pack it again"}
    except OSError as error:
        about = {"errno": error.errno, "error": error.strerror}
    with os.fdopen(sys.stdout.fileno(), "wb", closefd=False) as out:
        out.write(json.dumps(about).encode() + b"\n")
        out.writelines(files.values())


def _unpacked(about: dict[str, Any], data: bytes) -> Taken:
    if "rejected" in about:
        raise Rejected(str(about["rejected"]))
    listed = about.get("files")
    if not isinstance(listed, list) or len(data) > MAX_BYTES:
        number = about.get("errno")
        raise OSError(number if isinstance(number, int) else errno.EIO, str(about.get("error")))
    found, start = {}, 0
    for name, size in listed:
        found[name] = data[start : start + size]
        start += size
    return Taken(found, about["remarks"])
